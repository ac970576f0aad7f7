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

    def atomic(self, address, size, function):
        """Replaces the value by function(value); returns the old one."""
        old = self.load(address, size)
        self.store(address, size, function(old))
        return old


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

    def note(self, address, size, thread, is_write, is_atomic=False):
        access = (thread, thread.block.epoch, len(thread.block.syncs), is_atomic)
        for place in range(address, address + size):
            earlier = [self.writers.get(place)] + (list(self.readers.get(place, {}).values()) if is_write else [])
            for other in earlier:
                if other and races(other, access):
                    raise PtxError(f"race: threads {other[0].index} and {thread.index} access shared memory at "
                                   f"{place:#x} with no barrier between")
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


def races(earlier, later):
    """Whether no barrier that both threads take part in is between two accesses."""
    other, epoch, syncs, was_atomic = earlier
    thread, now, _, is_atomic = later
    if other is thread or epoch != now or (was_atomic and is_atomic):
        return False
    both = 1 << other.index | 1 << thread.index
    return not any(members & both == both for members in thread.block.syncs[syncs:])
