/* SPDX-License-Identifier: MIT */
/* Shared memory: where it lies, and what a block finds in it. */
#ifndef MPNUM_TESTS_SIMT_SHARED_HPP
#define MPNUM_TESTS_SIMT_SHARED_HPP

#include "faults.hpp"
#include "fiber.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace simt {

struct memory {
  char *address;
  std::size_t size;
  std::string name;
};

/* The program, or the library, that this is compiled into: its file, and of this thread
 * the storage that it declares as thread_local. */
struct object {
  std::string file;
  char *thread_local_block;
};
inline thread_local char any_thread_local = 0; /* in no function: it is not shared */
inline object own_object() {
  volatile char *const first_use = &any_thread_local; /* a library has a block then */
  *first_use = 0;
  object found = {"/proc/self/exe", nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info *one, std::size_t, void *result) {
        const ElfW(Addr) own = reinterpret_cast<ElfW(Addr)>(&own_object);
        for (unsigned i = 0; i < one->dlpi_phnum; ++i) {
          const ElfW(Addr) start = one->dlpi_addr + one->dlpi_phdr[i].p_vaddr;
          if (one->dlpi_phdr[i].p_type != PT_LOAD || own < start ||
              own - start >= one->dlpi_phdr[i].p_memsz)
            continue;
          object *const made = static_cast<object *>(result);
          if (*one->dlpi_name) made->file = one->dlpi_name;
          made->thread_local_block = static_cast<char *>(one->dlpi_tls_data);
          return 1;
        }
        return 0;
      },
      &found);
  return found;
}

/* _ZZ begins the symbol of a variable in a function. A sanitizer's runtime may have such
 * ones of its own, in a namespace such as __asan, and those are not ours to overwrite. */
inline bool is_in_a_function_of_ours(const char *symbol) {
  if (std::strncmp(symbol, "_ZZ", 3) != 0) return false;
  const char *scope = symbol + 3 + std::strspn(symbol + 3, "NKL");
  return std::strncmp(scope + std::strspn(scope, "0123456789"), "__", 2) != 0;
}

/* The static __shared__ variables of all kernels, by the program's symbol table. */
inline std::vector<memory> find_static_shared() {
  const object own = own_object();
  const int file = open(own.file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) std::abort();
  const std::size_t size = static_cast<std::size_t>(status.st_size);
  void *image = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (image == MAP_FAILED) std::abort();
  const auto at = [image](std::size_t offset) -> const void * {
    return static_cast<const char *>(image) + offset;
  };

  const auto *header = static_cast<const ElfW(Ehdr) *>(image);
  const auto *sections = static_cast<const ElfW(Shdr) *>(at(header->e_shoff));
  std::vector<memory> found;
  bool has_symbols = false;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    has_symbols = true;
    const auto *symbols = static_cast<const ElfW(Sym) *>(at(sections[i].sh_offset));
    const auto *names =
        static_cast<const char *>(at(sections[sections[i].sh_link].sh_offset));
    for (std::size_t k = 0; k < sections[i].sh_size / sizeof *symbols; ++k) {
      const char *name = names + symbols[k].st_name;
      if ((symbols[k].st_info & 0xf) == STT_TLS && is_in_a_function_of_ours(name))
        found.push_back(
            {own.thread_local_block + symbols[k].st_value, symbols[k].st_size, name});
    }
  }
  munmap(image, size);
  if (!has_symbols) {
    std::fprintf(stderr,
                 "simt: the program is stripped: shared memory cannot be found\n");
    std::abort();
  }
  return found;
}

inline const std::vector<memory> &static_shared() {
  static const std::vector<memory> found = find_static_shared();
  return found;
}

/* Without cudaFuncSetAttribute a launch can ask for this much, with it for what an H100
 * has. */
constexpr std::size_t shared_limit = 48 << 10, shared_most = 227 << 10;
/* What is written behind the bytes that were asked for is found here. */
constexpr std::size_t shared_guard = 1 << 10;

inline std::vector<memory> &dynamic_shared() {
  static std::vector<memory> registered;
  return registered;
}

struct register_dynamic_shared {
  register_dynamic_shared(void *address, std::size_t size, const char *name) {
    dynamic_shared().push_back({static_cast<char *>(address), size, name});
  }
};

/* Defines what the device code declares as `extern __shared__ type name[]`. */
#define SIMT_DYNAMIC_SHARED(type, name)                             \
 alignas(16) thread_local type                                      \
     name[(simt::shared_most + simt::shared_guard) / sizeof(type)]; \
 static const simt::register_dynamic_shared simt_register_##name(name, sizeof name, #name)

/* Only with AddressSanitizer: whether a read or write of the bytes ends the program. */
inline void forbid(const char *address, std::size_t size) {
#if SIMT_HAS_ASAN
  ASAN_POISON_MEMORY_REGION(address, size);
#else
  (void)address, (void)size;
#endif
}
inline void allow(const char *address, std::size_t size) {
#if SIMT_HAS_ASAN
  ASAN_UNPOISON_MEMORY_REGION(address, size);
#else
  (void)address, (void)size;
#endif
}

/* As a block finds it. */
inline void fill_shared(std::size_t dynamic_bytes, unsigned char poison) {
  for (const memory &variable : static_shared())
    std::memset(variable.address, poison, variable.size);
  for (const memory &array : dynamic_shared()) {
    allow(array.address, array.size);
    std::memset(array.address, poison, dynamic_bytes + shared_guard);
    forbid(array.address + dynamic_bytes, array.size - dynamic_bytes);
  }
}

/* After a block: nothing was written behind the dynamic bytes. */
inline void check_shared(std::size_t dynamic_bytes, unsigned char poison) {
  for (const memory &array : dynamic_shared()) {
    allow(array.address, array.size);
    for (std::size_t i = dynamic_bytes; i < dynamic_bytes + shared_guard; ++i) {
      if (static_cast<unsigned char>(array.address[i]) == poison) continue;
      report(rule::dynamic_shared_is_in_bounds,
             "byte %zu of %s was written, but the launch asked for %zu bytes", i,
             array.name.c_str(), dynamic_bytes);
      break;
    }
  }
}

} // namespace simt

#endif
