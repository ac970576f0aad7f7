# SPDX-License-Identifier: MIT
"""Launchers whose kernels run in the interpreter: nvcc compiles a source for the host and to PTX, and what the host's
part calls of CUDA's runtime is a stand-in that hands each launch to a machine. Parameters are laid out by nvcc.

    program = Program(source, folder, "90")
    out = program.machine.allocate(bytes(4))
    program.call("launch", [out.address])

The source has `extern "C" int launch(void **at)`, which returns a cudaError_t.
"""

import ctypes

import toolchain
from ptx import calls
from ptx.machine import Machine
from tree import check

# One multiprocessor, and no more shared memory than any GPU has, unless a program sets shared_most. cudaMemcpy is to the
# device. Nothing calls stubs of kernels.
RUNTIME = """\
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
typedef struct { unsigned x, y, z; } size3;
typedef int launched(const char *kernel, const unsigned *sizes, void **arguments, size_t shared_bytes);
typedef int written(void *to, const void *from, size_t bytes, int byte);
static struct { const void *stub; const char *name; } kernels[256];
static int count;
int shared_most = 48 << 10;
static launched *launch;
static written *write_there;
void listen(launched *to_launch, written *to_write) {
  launch = to_launch;
  write_there = to_write;
}
void **__cudaRegisterFatBinary(void *binary) { (void)binary; return 0; }
void __cudaRegisterFatBinaryEnd(void **binary) { (void)binary; }
void __cudaUnregisterFatBinary(void **binary) { (void)binary; }
char __cudaInitModule(void **binary) { (void)binary; return 0; }
void __cudaRegisterFunction(void **binary, const void *stub, char *function, const char *name) {
  (void)binary, (void)function;
  if (count == 256) abort();
  kernels[count].stub = stub;
  kernels[count++].name = name;
}
void __cudaRegisterVar(void) {}
int __cudaPopCallConfiguration(void) { abort(); }
int __cudaGetKernel(void) { abort(); }
int __cudaLaunchKernel(void) { abort(); }
int cudaLaunchKernel(const void *stub, size3 grid, size3 block, void **arguments, size_t shared_bytes, void *stream) {
  const unsigned sizes[6] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  int i = 0;
  (void)stream;
  while (i < count && kernels[i].stub != stub) ++i;
  return i < count ? launch(kernels[i].name, sizes, arguments, shared_bytes) : 98;
}
int cudaMemsetAsync(void *to, int byte, size_t bytes, void *stream) {
  (void)stream;
  return write_there(to, 0, bytes, byte);
}
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
  (void)kind;
  return write_there(to, from, bytes, 0);
}
int cudaGetDevice(int *device) { return *device = 0; }
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == 16 ? 1 : shared_most;
  return 0;
}
int cudaFuncSetAttribute(const void *stub, int attribute, int value) {
  (void)stub, (void)attribute, (void)value;
  return 0;
}
"""
FAILED = 719  # cudaErrorLaunchFailure
LAUNCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_void_p),
                          ctypes.c_size_t)
WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


class Program:
    """The functions of a source, and the machine on which their kernels run."""

    def __init__(self, source, folder, arch):
        name = f"launches_{arch}"
        cuda, runtime, library = folder / f"{name}.cu", folder / "runtime.c", folder / f"{name}.so"
        cuda.write_text(source)
        runtime.write_text(RUNTIME)
        target = f"-gencode=arch=compute_{arch},code=compute_{arch}"
        check(calls.nvcc(), "-shared", "-std=c++17", target, "-w", "--cudart", "none",
              "-Xcompiler", "-fPIC,-fno-builtin", "--keep", "--keep-dir", folder, "-I", toolchain.INCLUDE_OF_NVCC, cuda,
              runtime, "-o", library)
        self.text = (folder / f"{name}.ptx").read_text()
        self.machine = Machine(self.text)
        self.library = ctypes.CDLL(str(library))
        self.callbacks = LAUNCH(self.launch), WRITE(self.write)  # which have to live as long
        self.library.listen(*self.callbacks)
        self.error, self.order, self.launched = None, "forward", set()

    def launch(self, name, sizes, arguments, shared_bytes):
        name = name.decode()
        try:
            parameters = self.machine.compiled(name).function.parameters
            given = [ctypes.string_at(arguments[place], one.size) for place, one in enumerate(parameters)]
            self.machine.launch(name, tuple(sizes[:3]), tuple(sizes[3:6]), given, shared_bytes, self.order)
            self.launched.add(name)
        except Exception as error:  # no exception may cross the C code
            self.error = error
            return FAILED
        return 0

    def write(self, to, source, size, byte):
        content = ctypes.string_at(source, size) if source else bytes([byte]) * size
        for place, one in enumerate(content):
            self.machine.memory.store(to + place, 1, one)
        return 0

    def call(self, function, addresses, order="forward"):
        """Calls a function of the source with addresses of the machine; the order is that of threads."""
        self.error, self.order = None, order
        result = getattr(self.library, function)((ctypes.c_void_p * len(addresses))(*addresses))
        if self.error:
            raise self.error
        return result
