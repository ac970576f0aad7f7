# SPDX-License-Identifier: MIT
"""Launches of kernels: blocks one after the other, the threads of a block in turns.

    machine = Machine(text)
    out = machine.allocate(4 * 256)
    machine.launch("kernel", grid=2, block=128, arguments=[out.address, 256])
    bytes(out.data)
"""

import re
from collections import Counter

from ptx.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_MASK, Buffer, GlobalSpace, SharedSpace, Space
from ptx.parser import parse
from ptx.syntax import PtxError
from ptx.translate import Translation
from ptx.warp import barrier_result, perform

MAX_THREADS = 1024
ORDERS = {"forward": lambda threads: threads, "reverse": lambda threads: threads[::-1]}
NOWHERE = 1 << 48


class Compiled:
    """A function as Python: run(thread, parameters...)."""

    def __init__(self, function, machine):
        self.function = function
        translation = Translation(function, machine.module, machine.addresses_for(function), machine.is_profiled)
        self.starts = set(translation.block_starts())
        self.issued = Counter()  # of instructions where blocks begin: how often warps execute them
        self.instructions, self.is_generator = translation.instructions, translation.is_generator
        self.filename = f"<PTX {function.name}>"
        names = {**translation.helpers, "memory": machine.memory, "machine": machine}
        exec(compile("\n".join(translation.lines), self.filename, "exec"), names)
        self.run = names["run"]


class Machine:
    """A module that is loaded, with global memory."""

    def __init__(self, text, is_profiled=False):
        self.module = parse(text)
        self.is_profiled = is_profiled  # whether issued() knows
        self.memory = GlobalSpace()
        self.executed = 0  # instructions
        self.functions = {}
        self.addresses = {}
        for variable in self.module.variables.values():
            if variable.space in ("global", "const"):
                data = variable.data + bytes(variable.size - len(variable.data))
                buffer = Buffer(variable.name, variable.size, data, variable.space == "global", variable.alignment)
                self.addresses[variable.name] = self.memory.add(buffer).address

    def allocate(self, content):
        """Global memory: that many bytes, undefined, or a copy of the bytes given."""
        if isinstance(content, int):
            return self.memory.add(Buffer(f"allocation {len(self.memory.buffers) + 1}", content))
        return self.memory.add(Buffer(f"allocation {len(self.memory.buffers) + 1}", len(content), content))

    def release(self, buffer):
        """Makes later uses of an allocation errors."""
        self.memory.remove(buffer)

    def issued(self, name):
        """{line of PTX: how often warps executed it} of a function. A warp does what the lane does that comes there most often."""
        compiled, times = self.functions[name], 0
        found = {}
        for place, one in enumerate(compiled.function.instructions):
            times = compiled.issued[place] if place in compiled.starts else times
            found[one.line] = times
        return found

    def addresses_for(self, function):
        """Fixed addresses that the code may use: global variables, and the parameters of a kernel."""
        found = dict(self.addresses)
        offset = 1 << 32
        for parameter in function.parameters:
            offset += -offset % parameter.alignment
            found[parameter.name] = offset
            offset += parameter.size
        return found

    def compiled(self, name):
        if name not in self.functions:
            if name not in self.module.functions:
                raise PtxError(f"no function {name}")
            self.functions[name] = Compiled(self.module.function(name), self)
        return self.functions[name]

    def parameters(self, function, arguments):
        if len(arguments) != len(function.parameters):
            raise PtxError(f"{function.name} has {len(function.parameters)} parameters, not {len(arguments)}")
        data = b""
        for parameter, argument in zip(function.parameters, arguments):
            data += bytes(-len(data) % parameter.alignment)
            value = argument if isinstance(argument, bytes) else argument.to_bytes(parameter.size, "little")
            if len(value) != parameter.size:
                raise PtxError(f"{parameter.name} has {parameter.size} bytes, not {len(value)}")
            data += value
        space = Space("parameter", 32)
        space.add(Buffer(f"parameters of {function.name}", len(data), data, False))
        return space

    def launch(self, name, grid, block, arguments, dynamic_shared=0, order="forward"):
        """grid and block: numbers, or (x, y, z); arguments: ints or bytes; order: who runs first within a block."""
        compiled = self.compiled(name)
        grid, block = shape_of(grid), shape_of(block)
        if not 0 < block[0] * block[1] * block[2] <= MAX_THREADS:
            raise PtxError(f"a block has 1 to {MAX_THREADS} threads")
        parameters = self.parameters(compiled.function, arguments)
        places = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
        try:
            for place in places:
                if len(places) > 1:
                    self.memory.begin_block()
                Block(self, compiled, grid, block, place, parameters, dynamic_shared).run(ORDERS[order])
                self.memory.end_block()
        finally:
            self.memory.end_launch()


def shape_of(size):
    return (size, 1, 1) if isinstance(size, int) else (*size, 1, 1)[:3]


class Warp:
    def __init__(self, number):
        self.number, self.threads = number, []


class Thread:
    def __init__(self, index, tid, block, warp, params):
        self.index, self.tid, self.block, self.warp, self.params = index, tid, block, warp, params
        self.lane = index % 32
        self.visits = Counter()  # of instructions where blocks begin
        self.asked = self.answer = self.running = None
        self.is_done = False
        self.own_local = None
        self.copies, self.groups = [], 0  # that it has not waited for, (group, to, source, data, size); commits

    @property
    def local(self):
        if self.own_local is None:
            self.own_local = Space("local", 24)
            self.own_addresses = {}
            for function in self.block.machine.module.functions.values():
                for variable in function.variables.values():
                    if variable.space == "local":
                        buffer = Buffer(variable.name, variable.size, alignment=variable.alignment)
                        self.own_addresses[variable.name] = self.own_local.add(buffer).address
        return self.own_local

    @property
    def local_addresses(self):
        return self.local and self.own_addresses

    def resolve(self, address):
        """A generic address to (space, address in it, further arguments)."""
        window, inside = address & ~WINDOW_MASK, address & WINDOW_MASK
        if window == SHARED_WINDOW:
            return self.block.shared, inside, (self,)
        if window == LOCAL_WINDOW:
            return self.local, inside, ()
        if window == PARAM_WINDOW:
            return self.params, inside, ()
        return self.block.machine.memory, address, ()

    def inside(self, address, window):
        """An address in a space. NULL, which compilers convert before they ask whether it is, becomes one where nothing lies."""
        if address == 0:
            return NOWHERE
        if address & ~WINDOW_MASK != window:
            raise PtxError(f"cvta.to of an address of another space: {address:#x}")
        return address & WINDOW_MASK

    def begin_copy(self, to, source, size, read):
        """cp.async: what is there is lost at once, what comes is there when the thread has waited for it; the source is read at
        any time between."""
        if read > size:
            raise PtxError(f"a copy of {size} bytes that reads {read}")
        memory = self.block.machine.memory
        memory.check_copy(source, size, read)
        data = [memory.load(source + i, 1) for i in range(read)]
        self.block.shared.begin_copy(to, size, self)
        self.copies.append((self.groups, to, source, data, size))

    def commit_copies(self):
        self.groups += 1

    def wait_for_copies(self, left):
        """For all groups that are committed but the last few."""
        memory, shared = self.block.machine.memory, self.block.shared
        done = [one for one in self.copies if one[0] < self.groups - left]
        self.copies = [one for one in self.copies if one[0] >= self.groups - left]
        for _, to, source, data, size in done:
            if [memory.load(source + i, 1) for i in range(len(data))] != data:
                raise PtxError(f"the source of a copy, {source:#x}, changes before it is waited for")
            for i, byte in enumerate([*data, *[0] * (size - len(data))]):
                shared.store(to + i, 1, byte, self)

    def leave(self):
        if self.copies:
            raise PtxError(f"thread {self.tid} returns before {len(self.copies)} of its copies are done")

    def fail(self, what):
        raise PtxError(what)


class Block:
    def __init__(self, machine, compiled, grid, shape, place, params, dynamic_shared):
        self.machine, self.compiled, self.grid, self.shape, self.place = machine, compiled, grid, shape, place
        self.dynamic_size = dynamic_shared
        self.epoch, self.syncs = 0, []  # barriers of all threads that were, and since then those of some, as bit sets
        self.arrived = {}  # barrier: threads that came and did not wait
        self.shared, self.shared_addresses = SharedSpace(), {}
        self.add_shared()
        count = shape[0] * shape[1] * shape[2]
        self.warps = [Warp(number) for number in range((count + 31) // 32)]
        self.threads = []
        for index in range(count):
            tid = (index % shape[0], index // shape[0] % shape[1], index // (shape[0] * shape[1]))
            thread = Thread(index, tid, self, self.warps[index // 32], params)
            self.threads.append(thread)
            thread.warp.threads.append(thread)

    def add_shared(self):
        module, dynamic = self.machine.module, None
        for variable in [*module.variables.values(), *self.compiled.function.variables.values()]:
            if variable.space != "shared":
                continue
            if variable.is_external:
                dynamic = dynamic or self.shared.add(Buffer("dynamic shared memory", self.dynamic_size))
                buffer = dynamic
            else:
                buffer = self.shared.add(Buffer(variable.name, variable.size, alignment=variable.alignment))
            self.shared_addresses[variable.name] = buffer.address

    def run(self, order):
        self.run_threads(order)
        for warp in self.warps:
            most = Counter()
            for thread in warp.threads:
                most |= thread.visits
            self.compiled.issued += most

    def run_threads(self, order):
        if not self.compiled.is_generator:
            for thread in order(self.threads):
                self.attempt(thread, self.compiled.run, thread)
                thread.leave()
            return
        for thread in self.threads:
            thread.running = self.compiled.run(thread)
        ready = order(self.threads)
        while ready:
            for thread in ready:
                self.step(thread)
            ready = order(self.answered())
        waiting = [thread for thread in self.threads if not thread.is_done]
        if waiting:
            places = sorted({f"line {thread.asked.line}: {thread.asked.name}" for thread in waiting})
            raise PtxError(f"deadlock: {len(waiting)} of {len(self.threads)} threads wait at {'; '.join(places)}")

    def step(self, thread):
        """Runs a thread up to its next request for which it waits."""
        try:
            thread.asked = self.attempt(thread, thread.running.send, thread.answer)
            while not thread.asked.waits:
                self.arrived.setdefault(thread.asked.number, []).append(thread)
                thread.asked = self.attempt(thread, thread.running.send, None)
        except StopIteration:
            thread.asked, thread.is_done = None, True
            thread.leave()
            return
        asked = thread.asked
        if asked.mask is not None and not asked.mask >> thread.lane & 1:
            raise PtxError(f"line {asked.line}: {asked.name}: lane {thread.lane} is not in its mask {asked.mask:#x}")

    def attempt(self, thread, function, *arguments):
        """Calls code of a thread; an error is told with the instruction where it came up."""
        self.machine.memory.thread = thread
        try:
            return function(*arguments)
        except (PtxError, NameError, TypeError, AttributeError, ValueError, OverflowError, IndexError) as error:
            place = self.place_of(error)
            if not place:
                raise
            what = f"{error}"
            register = re.search(r"\br_(\w+)", what)
            if isinstance(error, NameError) and register:
                what = f"the register {register[1]} is read before it is written"
            raise PtxError(f"{self.compiled.function.name}, block {self.place}, thread {thread.tid}, line "
                           f"{place.line}: {place.text}: {what}") from error

    def place_of(self, error):
        """The innermost instruction of PTX in an error's trace."""
        found, trace = None, error.__traceback__
        by_file = {compiled.filename: compiled for compiled in self.machine.functions.values()}
        while trace:
            compiled = by_file.get(trace.tb_frame.f_code.co_filename)
            if compiled:
                found = compiled.instructions.get(trace.tb_lineno, found)
            trace = trace.tb_next
        return found

    def answered(self):
        """The threads whose requests can be answered now."""
        ready = []
        for warp in self.warps:
            ready += self.answer_warp(warp)
        return ready + self.answer_barriers()

    def answer_warp(self, warp):
        ready, groups = [], {}
        alive = {thread.lane: thread for thread in warp.threads if not thread.is_done}
        for lane, thread in alive.items():
            if thread.asked.mask is not None:
                groups.setdefault((thread.asked.name, thread.asked.mask), []).append(lane)
        for (name, mask), lanes in groups.items():
            if set(lanes) != {lane for lane in alive if mask >> lane & 1}:
                continue  # some of its lanes do something else first
            if name == "bar.warp.sync":
                self.syncs.append(sum(1 << alive[lane].index for lane in lanes))
            for lane, answer in perform({lane: alive[lane].asked for lane in lanes}).items():
                alive[lane].answer = answer
                ready.append(alive[lane])
        return ready

    def answer_barriers(self):
        ready, waiting = [], {}
        alive = [thread for thread in self.threads if not thread.is_done]
        for thread in alive:
            if thread.asked.number is not None:
                waiting.setdefault(thread.asked.number, []).append(thread)
        for number, threads in waiting.items():
            arrived = self.arrived.get(number, [])
            count = threads[0].asked.count or len(alive)
            if any((thread.asked.count or len(alive)) != count for thread in threads):
                raise PtxError(f"line {threads[0].asked.line}: barrier {number} has several thread counts")
            if len(threads) + len(arrived) < count:
                continue
            self.check_alignment(threads)
            requests = [thread.asked for thread in threads]
            for thread in threads:
                thread.answer = barrier_result(thread.asked, requests)
            ready += threads
            self.arrived[number] = []
            self.synchronised(threads + arrived, alive)
        return ready

    def synchronised(self, threads, alive):
        if len(threads) >= len(alive):
            self.epoch, self.syncs = self.epoch + 1, []
        else:
            self.syncs.append(sum(1 << index for index in {thread.index for thread in threads}))

    def check_alignment(self, threads):
        """Of an aligned barrier all threads of a warp execute the same instruction."""
        places = {}
        for thread in threads:
            if thread.asked.is_aligned and places.setdefault(thread.warp, thread.asked.place) != thread.asked.place:
                raise PtxError(f"line {thread.asked.line}: the threads of a warp are at different barriers")
