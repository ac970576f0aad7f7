/* SPDX-License-Identifier: MIT */
/* Fibers: functions that hand control back half-way and go on later, each on its own
 * stack.
 *
 * On x86-64 a switch is a few instructions; elsewhere, or with SIMT_UCONTEXT defined, it
 * is swapcontext, which enters the kernel. AddressSanitizer is told of every switch. */
#ifndef MPNUM_TESTS_SIMT_FIBER_HPP
#define MPNUM_TESTS_SIMT_FIBER_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>
#if !defined(__x86_64__) || defined(SIMT_UCONTEXT)
# include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
# define SIMT_HAS_ASAN 1
#elif defined(__has_feature)
# if __has_feature(address_sanitizer)
#  define SIMT_HAS_ASAN 1
# endif
#endif
#ifndef SIMT_HAS_ASAN
# define SIMT_HAS_ASAN 0
#endif
#if SIMT_HAS_ASAN
# include <sanitizer/asan_interface.h>
# include <sanitizer/common_interface_defs.h>
#endif

namespace simt {

/* A place where execution can stop and go on: registers, and the stack they point to. */
struct context {
#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)
  void *stack_pointer = nullptr;
#else
  ucontext_t registers = {};
#endif
  const void *stack = nullptr; /* its lowest byte */
  std::size_t stack_size = 0;
  void *fake_stack = nullptr; /* AddressSanitizer's, while this context is stopped */
};

#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)

/* Stores the stack pointer at *from and goes on where to was stored. The ABI's
 * callee-saved registers lie on the stack. */
extern "C" void simt_swap_stacks(void **from, void *to);
asm(R"(
  .pushsection .text.simt_swap_stacks, "axG", @progbits, simt_swap_stacks, comdat
  .weak simt_swap_stacks
  .type simt_swap_stacks, @function
simt_swap_stacks:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
  .size simt_swap_stacks, . - simt_swap_stacks
  .popsection
)");

inline void swap(context &from, context &to) {
  simt_swap_stacks(&from.stack_pointer, to.stack_pointer);
}

/* As simt_swap_stacks leaves it: six registers, the address to go on at, and there the
 * stack is as a call leaves it, 8 bytes below a multiple of 16. */
inline void prepare(context &stopped, void (*function)(), char *stack, std::size_t size) {
  void **top = reinterpret_cast<void **>(stack + size);
  top[-2] = reinterpret_cast<void *>(function);
  stopped.stack_pointer = top - 8;
}

#else

inline void swap(context &from, context &to) {
  swapcontext(&from.registers, &to.registers);
}

inline void prepare(context &stopped, void (*function)(), char *stack, std::size_t size) {
  getcontext(&stopped.registers);
  stopped.registers.uc_stack.ss_sp = stack;
  stopped.registers.uc_stack.ss_size = size;
  makecontext(&stopped.registers, function, 0);
}

#endif

/* Called in the context that runs, and once more by each new context when it starts. */
inline void before_switch(context &from, const context &to) {
#if SIMT_HAS_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_size);
#else
  (void)from, (void)to;
#endif
}
inline void after_switch(context &now, context &before) {
#if SIMT_HAS_ASAN
  __sanitizer_finish_switch_fiber(now.fake_stack, &before.stack, &before.stack_size);
#else
  (void)now, (void)before;
#endif
}

/* Runs the same function again and again: each time it returns, resume() does too, and
 * the next resume() calls it anew. */
class fiber {
public:
  /* Sanitizers take more of a stack, and write their reports on it. */
  static constexpr std::size_t stack_size = SIMT_HAS_ASAN ? 1 << 18 : 1 << 16;
  static constexpr std::size_t guard_size = 1 << 12;

  /* number: fibers that lie at different places of their page share the cache better. */
  fiber(void (*function)(void *), void *argument, unsigned number)
      : function_(function), argument_(argument) {
    void *pages = mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages, guard_size, PROT_NONE) != 0) std::abort();
    pages_ = static_cast<char *>(pages);
    inside_.stack = pages_ + guard_size;
    inside_.stack_size = stack_size;
    prepare(inside_, start, pages_ + guard_size, stack_size - number % 16 * 256);
  }
  ~fiber() { munmap(pages_, guard_size + stack_size); }
  fiber(const fiber &) = delete;
  fiber &operator=(const fiber &) = delete;

  void resume() {
    running = this;
    before_switch(outside_, inside_);
    swap(outside_, inside_);
    after_switch(outside_, inside_);
  }

  /* To be called inside: comes back at the next resume(). */
  void suspend() {
    before_switch(inside_, outside_);
    swap(inside_, outside_);
    after_switch(inside_, outside_);
  }

private:
  static void start() {
    fiber &self = *running;
    after_switch(self.inside_, self.outside_);
    for (;;) {
      self.function_(self.argument_);
      self.suspend();
    }
  }

  static inline fiber *running = nullptr; /* tells start() whose stack it is on */
  void (*function_)(void *);
  void *argument_;
  char *pages_;
  context inside_, outside_;
};

} // namespace simt

#endif
