# SPDX-License-Identifier: MIT
"""State spaces. Each variable or allocation is a buffer far from all others, so that every access past an end is seen.
Access to bytes outside a buffer, misaligned access, and reading bytes that nothing has written are errors; so are two
threads' accesses to shared memory, one of them a write, with no barrier between.
"""

from ptx.syntax import PtxError

# Generic addresses: the window of a space plus the address in it. Global and constant addresses are generic as is.
SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW = 1 << 60, 2 << 60, 3 << 60
WINDOW_MASK = (1 << 60) - 1


class Buffer:
    def __init__(self, name, size, data=None, is_writable=True, alignment=256):
        self.name, self.size, self.is_writable, self.alignment = name, size, is_writable, alignment
        self.data = bytearray(size)
        self.undefined = bytearray(b"\1" * size)  # 1 for each byte that nothing has written
        if data is not None:
            self.data[:len(data)] = data
            self.undefined[:len(data)] = bytes(len(data))
        self.address = None


class Space:
    """Buffers at multiples of 2^shift, from the first multiple on: 0 is no address."""

    def __init__(self, name, shift):
        self.name, self.shift, self.mask = name, shift, (1 << shift) - 1
        self.buffers, self.count = {}, 0

    def add(self, buffer):
        self.count += 1
        place = self.count
        if buffer.size > self.mask:
            raise PtxError(f"{buffer.name} is too large for an interpreter")
        buffer.address = place << self.shift
        self.buffers[place] = buffer
        return buffer

    def remove(self, buffer):
        del self.buffers[buffer.address >> self.shift]

    def find(self, address, size, what):
        """Buffer and offset of an access, which is in bounds and aligned."""
        buffer = self.buffers.get(address >> self.shift)
        offset = address & self.mask
        if buffer is None or offset + size > buffer.size:
            where = f"offset {offset} of {buffer.name}, which has {buffer.size}" if buffer else f"address {address:#x}"
            raise PtxError(f"out of bounds: {what} of {size} bytes of {self.name} memory at {where}")
        if offset % size or size > buffer.alignment:
            raise PtxError(f"misaligned: {what} of {size} bytes of {self.name} memory at offset {offset} of "
                           f"{buffer.name}")
        return buffer, offset

    def load(self, address, size):
        buffer, offset = self.find(address, size, "load")
        if 1 in buffer.undefined[offset:offset + size]:
            raise PtxError(f"uninitialised: {size} bytes of {self.name} memory at offset {offset} of {buffer.name}")
        return int.from_bytes(buffer.data[offset:offset + size], "little")

    def store(self, address, size, value):
        buffer, offset = self.find(address, size, "store")
        if not buffer.is_writable:
            raise PtxError(f"store to {buffer.name}, which is constant")
        buffer.data[offset:offset + size] = value.to_bytes(size, "little")
        buffer.undefined[offset:offset + size] = bytes(size)

    def check(self, address, size):
        """Whether a vector of size bytes may be accessed at an address."""
        self.find(address, size, "vector access")

    def check_prefetch(self, address, size):
        """Whether that many bytes, a multiple of 16, are there."""
        if size == 0 or (address | size) % 16:
            raise PtxError(f"a prefetch of {size} bytes at {address:#x}, which are no multiples of 16")
        self.find(address, 1, "prefetch")
        self.find(address + size - 1, 1, "prefetch")

    def check_copy(self, address, size, read):
        """Whether an asynchronous copy of size bytes, a power of two, may read some of them."""
        if address % size:
            raise PtxError(f"misaligned: a copy of {size} bytes at {address:#x}")
        for place in (address, address + read - 1):
            if read:
                self.find(place, 1, "copy")

    def atomic(self, address, size, function):
        """Replaces the value by function(value); returns the old one."""
        old = self.load(address, size)
        self.store(address, size, function(old))
        return old

    def reduce(self, address, size, function):
        """An atomic whose result nobody reads."""
        self.atomic(address, size, function)


class GlobalSpace(Space):
    """Global memory. A thread reads what another one of its block has stored behind a barrier of both, to which a shuffle is none.
    Where a launch has several blocks, one after the other, each shows the others what it does as late as a GPU
    may: its stores, and atomics whose results nobody reads, are its own until one of its threads passes a fence, and after its
    end until that of the launch. Atomics with a result are done at once."""

    def __init__(self):
        super().__init__("global", 32)
        self.is_weak, self.stored, self.reductions, self.left = False, {}, [], []
        self.thread, self.writers = None, {}  # who runs; {byte address: access} of its block

    def begin_block(self):
        self.is_weak = True

    def end_block(self):
        self.left.append((self.stored, self.reductions))
        self.is_weak, self.stored, self.reductions = False, {}, []
        self.thread, self.writers = None, {}

    def end_launch(self):
        self.end_block()
        left, self.left = self.left, []
        for self.stored, self.reductions in left:
            self.publish()

    def publish(self):
        """A fence: what the block did before is there for all."""
        stored, reductions = self.stored, self.reductions
        self.stored, self.reductions = {}, []
        for place, value in stored.items():
            super().store(place, 1, value)
        for one in reductions:
            self.perform(*one)

    def perform(self, address, size, function):
        old = super().load(address, size)
        super().store(address, size, function(old))
        return old

    def settle(self, address, size):
        """What the block did to a place comes before what it does there next."""
        for place in self.stored.keys() & set(range(address, address + size)):
            super().store(place, 1, self.stored.pop(place))
        is_near = [one[0] < address + size and address < one[0] + one[1] for one in self.reductions]
        near = [one for one, is_one in zip(self.reductions, is_near) if is_one]
        self.reductions = [one for one, is_one in zip(self.reductions, is_near) if not is_one]
        for one in near:
            self.perform(*one)

    def load(self, address, size):
        if address in self.writers:
            check_race(self.writers[address], access_of(self.thread), "global", address)
        if self.stored or self.reductions:
            self.find(address, size, "load")
            self.settle(address, size)
        return super().load(address, size)

    def store(self, address, size, value):
        if self.thread:
            self.writers.update(dict.fromkeys(range(address, address + size), access_of(self.thread)))
        if not self.is_weak:
            super().store(address, size, value)
            return
        buffer, _ = self.find(address, size, "store")
        if not buffer.is_writable:
            raise PtxError(f"store to {buffer.name}, which is constant")
        if self.reductions:
            self.settle(address, size)
        self.stored.update(zip(range(address, address + size), value.to_bytes(size, "little")))

    def atomic(self, address, size, function):
        self.find(address, size, "atomic")
        self.settle(address, size)
        return self.perform(address, size, function)

    def reduce(self, address, size, function):
        if not self.is_weak:
            self.perform(address, size, function)
            return
        self.find(address, size, "atomic")
        self.settle(address, size)
        self.reductions.append((address, size, function))


class SharedSpace(Space):
    """The shared memory of a block, which knows who touched each byte since when."""

    def __init__(self, shift=24):
        super().__init__("shared", shift)
        self.writers, self.readers = {}, {}  # byte address: access; and {thread: access}

    def load(self, address, size, thread=None):
        value = super().load(address, size)
        if thread:
            self.note(address, size, thread, False)
        return value

    def store(self, address, size, value, thread=None):
        super().store(address, size, value)
        if thread:
            self.note(address, size, thread, True)

    def begin_copy(self, address, size, thread):
        """What an asynchronous copy writes is undefined until its thread has waited for it."""
        buffer, offset = self.find(address, size, "copy")
        buffer.undefined[offset:offset + size] = b"\1" * size
        self.note(address, size, thread, True)

    def note(self, address, size, thread, is_write, is_atomic=False):
        access = access_of(thread, is_atomic)
        for place in range(address, address + size):
            earlier = [self.writers.get(place)] + (list(self.readers.get(place, {}).values()) if is_write else [])
            for other in earlier:
                if other:
                    check_race(other, access, "shared", place)
            if is_write:
                self.writers[place] = access
                self.readers.pop(place, None)
            else:
                self.readers.setdefault(place, {})[thread.index] = access

    def atomic(self, address, size, function, thread=None):
        old = super().atomic(address, size, function)
        if thread:
            self.note(address, size, thread, True, True)
        return old

    def reduce(self, address, size, function, thread=None):
        self.atomic(address, size, function, thread)


def access_of(thread, is_atomic=False):
    return thread, thread.block.epoch, len(thread.block.syncs), is_atomic


def check_race(earlier, later, space, place):
    if races(earlier, later):
        raise PtxError(f"race: threads {earlier[0].index} and {later[0].index} access {space} memory at {place:#x} with no barrier "
                       "between")


def races(earlier, later):
    """Whether no barrier that both threads take part in is between two accesses."""
    other, epoch, syncs, was_atomic = earlier
    thread, now, _, is_atomic = later
    if other is thread or epoch != now or (was_atomic and is_atomic):
        return False
    both = 1 << other.index | 1 << thread.index
    return not any(members & both == both for members in thread.block.syncs[syncs:])
