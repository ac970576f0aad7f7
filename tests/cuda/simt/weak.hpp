/* SPDX-License-Identifier: MIT */
/* Global memory as weak as CUDA lets it be, for programs built with SIMT_WEAK_MEMORY.
 *
 * A block sees what it stored itself, and of other blocks what was there when the grid
 * began. Others see its stores, and its atomics whose results nobody reads, when the grid
 * ends. An atomic whose result is read is of all blocks at once, and what blocks meet by:
 * a fence before the first one of a block shows what the block did until then, a fence
 * after it lets it see what others have shown. All threads of a block share a view, so
 * that a fence is of all of them; a store of what is there already is none. Of managed
 * memory alone.
 *
 * Pages are closed to stores when a grid begins, so that only those with a store are
 * copied and compared. */
#ifndef MPNUM_TESTS_SIMT_WEAK_HPP
#define MPNUM_TESTS_SIMT_WEAK_HPP

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <vector>

namespace simt {

class weak_memory {
  static constexpr std::size_t page_bytes = 4096;
  /* A page with a store: when the grid began, of all blocks, and of the block that runs
   * but for its stores. */
  struct page {
    char *memory;
    char first[page_bytes], common[page_bytes], seen[page_bytes];
  };
  struct stored {
    page *of;
    std::size_t at;
    char byte;
  };
  struct word_place {
    char *memory, *seen, *common;
  };
  /* An atomic that others do not see yet. */
  struct reduction {
    word_place at;
    std::uint64_t value;
    void (*apply)(char *word, std::uint64_t value);
  };

  char *memory = nullptr;
  std::size_t size = 0; /* 0: the grid is one block, or memory is strong */
  std::vector<page *> by_number;
  std::vector<std::unique_ptr<page>> pages;
  std::vector<stored> stores; /* of blocks that have ended */
  std::vector<reduction> own, reductions;
  bool has_met = false; /* the block that runs, by an atomic */

  void open_page(char *address) {
    const std::size_t number = static_cast<std::size_t>(address - memory) / page_bytes;
    if (by_number[number]) return;
    pages.push_back(std::make_unique<page>());
    page &made = *(by_number[number] = pages.back().get());
    made.memory = memory + number * page_bytes;
    if (mprotect(made.memory, page_bytes, PROT_READ | PROT_WRITE) != 0) std::abort();
    for (char *copy : {made.first, made.common, made.seen})
      std::memcpy(copy, made.memory, page_bytes);
  }
  static void on_store(int, siginfo_t *, void *);

  template <class Use> void each_store(Use use) {
    for (const std::unique_ptr<page> &one : pages) {
      if (std::memcmp(one->memory, one->seen, page_bytes) == 0) continue;
      for (std::size_t i = 0; i < page_bytes; ++i)
        if (one->memory[i] != one->seen[i]) use(one.get(), i, one->memory[i]);
    }
  }

public:
  bool has(const void *address) const {
    return size != 0 && address >= memory && address < memory + size;
  }

  void begin_grid(char *managed, std::size_t used) {
    if (!managed) return;
    memory = managed;
    size = used;
    by_number.assign(size / page_bytes + 1, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_store;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    mprotect(memory, size, PROT_READ);
  }
  void begin_block() {
    has_met = false;
    for (const std::unique_ptr<page> &one : pages) {
      std::memcpy(one->memory, one->first, page_bytes);
      std::memcpy(one->seen, one->first, page_bytes);
    }
  }
  void fence() {
    if (size == 0) return;
    if (!has_met) {
      each_store([](page *of, std::size_t at, char byte) {
        of->common[at] = of->seen[at] = byte;
      });
      for (const reduction &one : own)
        one.apply(one.at.common, one.value);
      own.clear();
      return;
    }
    std::vector<stored> kept;
    each_store([&kept](page *of, std::size_t at, char byte) {
      kept.push_back({of, at, byte});
    });
    for (const std::unique_ptr<page> &one : pages) {
      std::memcpy(one->memory, one->common, page_bytes);
      std::memcpy(one->seen, one->common, page_bytes);
    }
    for (const reduction &one : own)
      show(one);
    for (const stored &one : kept)
      one.of->memory[one.at] = one.byte;
  }
  void end_block() {
    each_store([this](page *of, std::size_t at, char byte) {
      stores.push_back({of, at, byte});
    });
    reductions.insert(reductions.end(), own.begin(), own.end());
    own.clear();
  }
  void end_grid() {
    if (size == 0) return;
    for (const stored &one : stores)
      one.of->common[one.at] = one.byte;
    for (const reduction &one : reductions)
      one.apply(one.at.common, one.value);
    for (const std::unique_ptr<page> &one : pages)
      std::memcpy(one->memory, one->common, page_bytes);
    stores.clear();
    reductions.clear();
    pages.clear();
    mprotect(memory, size, PROT_READ | PROT_WRITE);
    size = 0;
  }

  /* The word of all blocks by an atomic, and what was there; the block sees what it made.
   */
  template <class T> T update(T *address, T value, T (*operation)(T, T)) {
    const word_place at = place(address);
    has_met = true;
    const bool is_own = std::memcmp(at.memory, at.seen, sizeof(T)) != 0;
    T old;
    std::memcpy(&old, is_own ? at.memory : at.common, sizeof old);
    const T made = operation(old, value);
    for (char *copy : {at.memory, at.seen, at.common})
      std::memcpy(copy, &made, sizeof made);
    return old;
  }
  /* The same where nobody reads what was there: others see it later. */
  template <class T, T (*operation)(T, T)> void reduce(T *address, T value) {
    reduction one = {place(address), 0, apply<T, operation>};
    std::memcpy(&one.value, &value, sizeof value);
    own.push_back(one);
    show(one);
  }

private:
  void show(const reduction &one) { /* to the block itself */
    one.apply(one.at.memory, one.value);
    one.apply(one.at.seen, one.value);
  }
  word_place place(void *address) {
    char *const at = static_cast<char *>(address);
    open_page(at);
    const std::size_t offset = static_cast<std::size_t>(at - memory);
    page &of = *by_number[offset / page_bytes];
    return {at, of.seen + offset % page_bytes, of.common + offset % page_bytes};
  }
  template <class T, T (*operation)(T, T)>
  static void apply(char *word, std::uint64_t value) {
    T was, added;
    std::memcpy(&was, word, sizeof was);
    std::memcpy(&added, &value, sizeof added);
    was = operation(was, added);
    std::memcpy(word, &was, sizeof was);
  }
};
inline weak_memory weak;

/* Another address: the default action follows when the instruction is tried again. */
inline void weak_memory::on_store(int, siginfo_t *found, void *) {
  char *const at = static_cast<char *>(found->si_addr);
  if (weak.has(at) &&
      !weak.by_number[static_cast<std::size_t>(at - weak.memory) / page_bytes])
    return weak.open_page(at);
  std::signal(SIGSEGV, SIG_DFL);
}

} // namespace simt

#endif
