/* SPDX-License-Identifier: MIT */
/* Version, configuration, function qualifiers, feature macros: what depends on the
 * compiler and the target is decided here.
 *
 * A user may define to 1, before the first include:
 *   MPNUM_NO_STDINT       the exact-width integer types are in scope already and
 *                         <stdint.h> is not to be included; there are no array functions
 *   MPNUM_NO_SIMD         array functions are scalar loops; no intrinsics are included
 *   MPNUM_NO_DISPATCH     array functions use the vector instructions that the compiler
 *                         was told to use, and do not look at the CPU
 *   MPNUM_CUDA_HOST_SIMD  vector instructions on the host in CUDA sources, too, where
 *                         their headers would add half a second to every compilation
 *   MPNUM_PROGRAMMATIC_LAUNCH  the next kernel of a stream may begin early and wait (GPUs
 *                         of compute capability 9.0 and later)
 *   MPNUM_NO_MUST_CHECK   a status that is not looked at gives no warning */
#ifndef MPNUM_CORE_DETAIL_CONFIG_H
#define MPNUM_CORE_DETAIL_CONFIG_H

/* One error, not one for each inline. MSVC calls itself C++98 unless asked, and has all
 * that is needed. */
#if defined(_MSC_VER)
#elif defined(__cplusplus)
# if __cplusplus < 201103L
#  error mpnum needs C99 or C++11
# endif
#elif !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L
# error mpnum needs C99 or C++11
# define inline __inline
#endif

#define MPNUM_VERSION_MAJOR 0
#define MPNUM_VERSION_MINOR 3
#define MPNUM_VERSION_PATCH 0
#define MPNUM_VERSION \
 (MPNUM_VERSION_MAJOR * 10000 + MPNUM_VERSION_MINOR * 100 + MPNUM_VERSION_PATCH)

#ifndef MPNUM_NO_STDINT
# define MPNUM_NO_STDINT 0
#endif
#ifndef MPNUM_NO_SIMD
# define MPNUM_NO_SIMD 0
#endif
#ifndef MPNUM_NO_DISPATCH
# define MPNUM_NO_DISPATCH 0
#endif
#ifndef MPNUM_CUDA_HOST_SIMD
# define MPNUM_CUDA_HOST_SIMD 0
#endif
#ifndef MPNUM_PROGRAMMATIC_LAUNCH
# define MPNUM_PROGRAMMATIC_LAUNCH 0
#endif
#ifndef MPNUM_NO_MUST_CHECK
# define MPNUM_NO_MUST_CHECK 0
#endif

/* Compiler. Every feature macro is 0 or 1 and is tested with #if. MPNUM_ASSUME_MSVC_, of
 * tests, has gcc and clang compile what is for MSVC. */
#ifndef MPNUM_ASSUME_MSVC_
# define MPNUM_ASSUME_MSVC_ 0
#endif
#if (defined(__GNUC__) || defined(__clang__)) && !MPNUM_ASSUME_MSVC_
# define MPNUM_HAS_GNU_ 1
#else
# define MPNUM_HAS_GNU_ 0
#endif

#if (defined(_MSC_VER) && !MPNUM_HAS_GNU_) || MPNUM_ASSUME_MSVC_
# define MPNUM_HAS_MSVC_ 1
#else
# define MPNUM_HAS_MSVC_ 0
#endif

/* NVRTC compiles without any system header. */
#if defined(__CUDACC_RTC__)
# define MPNUM_HAS_NVRTC_ 1
#else
# define MPNUM_HAS_NVRTC_ 0
#endif

/* nvcc and NVRTC define __CUDACC__; clang in CUDA mode defines __CUDA__, without any
 * header too. */
#if defined(__CUDACC__) || defined(__CUDA__) || MPNUM_HAS_NVRTC_
# define MPNUM_HAS_CUDA_ 1
#else
# define MPNUM_HAS_CUDA_ 0
#endif

/* 1 while the device half of a CUDA source is compiled. */
#if MPNUM_HAS_CUDA_ && defined(__CUDA_ARCH__)
# define MPNUM_ON_DEVICE_ 1
#else
# define MPNUM_ON_DEVICE_ 0
#endif

/* 100 times the major number of the compute capability and 10 times the minor one, as in
 * __CUDA_ARCH__; 0 on a host. */
#if MPNUM_ON_DEVICE_
# define MPNUM_DEVICE_ARCH_ __CUDA_ARCH__
#else
# define MPNUM_DEVICE_ARCH_ 0
#endif

/* 1 for the a and f targets (100a, 120f, ...), which alone have the instructions for
 * block-scaled formats. Plain sm_100 and sm_120 do without; CUDA 12.9 is the first to
 * tell them apart by these macros. */
#if MPNUM_DEVICE_ARCH_ >= 1000 && \
    (defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__))
# define MPNUM_DEVICE_HAS_BLOCK_FORMATS_ 1
#else
# define MPNUM_DEVICE_HAS_BLOCK_FORMATS_ 0
#endif

/* fp8: from sm_89 on, there from CUDA 12.1 on. */
#if MPNUM_DEVICE_ARCH_ >= 900
# define MPNUM_DEVICE_HAS_FP8_ 1
#elif MPNUM_DEVICE_ARCH_ >= 890 && defined(__CUDACC_VER_MAJOR__)
# define MPNUM_DEVICE_HAS_FP8_ (__CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201)
#else
# define MPNUM_DEVICE_HAS_FP8_ 0
#endif

/* f16 and bf16 that saturate: from sm_80 on, from CUDA 12.1 on. */
#if MPNUM_DEVICE_ARCH_ >= 800 && defined(__CUDACC_VER_MAJOR__)
# define MPNUM_DEVICE_HAS_SATURATING_PAIRS_ \
  (__CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201)
#else
# define MPNUM_DEVICE_HAS_SATURATING_PAIRS_ 0
#endif

/* Pairs of few bits times powers of two to bf16, and of f16 and bf16 to few bits: those
 * targets, from CUDA 13.2 on. */
#if MPNUM_DEVICE_HAS_BLOCK_FORMATS_ && defined(__CUDACC_VER_MAJOR__)
# define MPNUM_DEVICE_HAS_SCALED_PAIRS_ \
  (__CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1302)
#else
# define MPNUM_DEVICE_HAS_SCALED_PAIRS_ 0
#endif

/* Which conversions are an instruction of the target, see hardware.h; the others are
 * integer arithmetic. The bits are the same. */
#define MPNUM_HAS_HW_F16_      MPNUM_ON_DEVICE_
#define MPNUM_HAS_HW_F16X2_    (MPNUM_DEVICE_ARCH_ >= 800)
#define MPNUM_HAS_HW_BF16_     (MPNUM_DEVICE_ARCH_ >= 800)
#define MPNUM_HAS_HW_SAT_X2_   MPNUM_DEVICE_HAS_SATURATING_PAIRS_
#define MPNUM_HAS_HW_BF16_F64_ (MPNUM_DEVICE_ARCH_ >= 900)
#define MPNUM_HAS_HW_TF32_RNA_ (MPNUM_DEVICE_ARCH_ >= 800)
#define MPNUM_HAS_HW_TF32_     (MPNUM_DEVICE_ARCH_ >= 900)
#define MPNUM_HAS_HW_FP8_      MPNUM_DEVICE_HAS_FP8_
#define MPNUM_HAS_HW_FP6_      MPNUM_DEVICE_HAS_BLOCK_FORMATS_
#define MPNUM_HAS_HW_FP4_      MPNUM_DEVICE_HAS_BLOCK_FORMATS_
#define MPNUM_HAS_HW_E8M0_     MPNUM_DEVICE_HAS_BLOCK_FORMATS_
#define MPNUM_HAS_HW_SCALED_   MPNUM_DEVICE_HAS_SCALED_PAIRS_
#define MPNUM_HAS_HW_NARROW_   MPNUM_DEVICE_HAS_SCALED_PAIRS_
/* And two products of floats by one, which sm_120 takes apart. */
#define MPNUM_HAS_HW_F32X2_ (MPNUM_DEVICE_ARCH_ >= 1000 && MPNUM_DEVICE_ARCH_ < 1200)

#if defined(__cplusplus)
# define MPNUM_HAS_CXX_ 1
#else
# define MPNUM_HAS_CXX_ 0
#endif

/* With relaxed constexpr and a bit cast that the compiler can evaluate, every conversion
 * is a constant expression in C++. gcc has the cast from 11 on, clang tells. */
#if MPNUM_HAS_CXX_ && MPNUM_HAS_GNU_ && !MPNUM_HAS_CUDA_
# if __cplusplus >= 201402L
#  if defined(__clang__)
#   if __has_builtin(__builtin_bit_cast)
#    define MPNUM_HAS_CONSTEXPR 1
#   endif
#  elif defined(__GNUC__)
#   if __GNUC__ >= 11
#    define MPNUM_HAS_CONSTEXPR 1
#   endif
#  endif
# endif
#endif
#ifndef MPNUM_HAS_CONSTEXPR
# define MPNUM_HAS_CONSTEXPR 0
#endif

/* 0 where there is no <stddef.h>, and then no function of arrays. */
#if MPNUM_NO_STDINT || MPNUM_HAS_NVRTC_
# define MPNUM_HAS_ARRAYS_ 0
#else
# define MPNUM_HAS_ARRAYS_ 1
#endif

/* Vector code, on the host: GNU vectors and intrinsics, whose headers want an operating
 * system's. For MSVC vectors are classes, from Visual Studio 2019 on, so that C has none.
 */
#if MPNUM_HAS_GNU_ && MPNUM_HAS_ARRAYS_ && __STDC_HOSTED__ && !MPNUM_NO_SIMD && \
    (!MPNUM_HAS_CUDA_ || MPNUM_CUDA_HOST_SIMD)
# if defined(__x86_64__)
#  define MPNUM_HAS_X86_SIMD_ 1
# elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)
#  define MPNUM_HAS_NEON_ 1
# endif
#elif MPNUM_HAS_MSVC_ && MPNUM_HAS_CXX_ && MPNUM_HAS_ARRAYS_ && !MPNUM_NO_SIMD && \
    !MPNUM_HAS_CUDA_
# if MPNUM_ASSUME_MSVC_ || (defined(_M_X64) && !defined(_M_ARM64EC) && _MSC_VER >= 1920)
#  define MPNUM_HAS_X86_SIMD_ 1
# endif
#endif
#ifndef MPNUM_HAS_X86_SIMD_
# define MPNUM_HAS_X86_SIMD_ 0
#endif
#ifndef MPNUM_HAS_NEON_
# define MPNUM_HAS_NEON_ 0
#endif

/* GNU's forced inlining, so that constants fold. Where nothing is optimised nothing
 * folds, and it would only make code large and its compilation slow. */
#if MPNUM_HAS_MSVC_
# define MPNUM_FORCED_ static __forceinline
#elif !MPNUM_HAS_GNU_
#elif defined(__OPTIMIZE__)
# define MPNUM_FORCED_ static inline __attribute__((__always_inline__))
#else
# define MPNUM_FORCED_ static inline
#endif

/* Whether the compiler knows a value, where it tells: for a way that is worth its code
 * only folded. */
#if MPNUM_HAS_GNU_
# define MPNUM_IS_KNOWN_(value) __builtin_constant_p(value)
#else
# define MPNUM_IS_KNOWN_(value) 1
#endif

/* What only GNU's compilers are told: which instructions a function may use, where MSVC
 * takes all; that a condition seldom holds; that a vector of SSE2 and AVX2, or of
 * AVX-512, is another one than it was, which -ffast-math does not see through. */
#if MPNUM_HAS_GNU_
# define MPNUM_TARGET_(instructions) __attribute__((__target__(instructions)))
# define MPNUM_SELDOM_(condition)    __builtin_expect(condition, 0)
# define MPNUM_PREFETCH_(pointer)    __builtin_prefetch(pointer)
# define MPNUM_HIDE_(vector)         __asm__("" : "+x"(vector))
# define MPNUM_HIDE_WIDE_(vector)    __asm__("" : "+v"(vector))
#else
# define MPNUM_TARGET_(instructions)
# define MPNUM_SELDOM_(condition) (condition)
# define MPNUM_PREFETCH_(pointer) _mm_prefetch((const char *)(pointer), _MM_HINT_T0)
# define MPNUM_HIDE_(vector)      ((void)0)
# define MPNUM_HIDE_WIDE_(vector) ((void)0)
#endif

/* Declares memory that loops go through, from a line of the cache on: a vector of 64
 * bytes that lies on two lines costs twice. */
#if MPNUM_HAS_GNU_
# define MPNUM_ALIGNED_ __attribute__((__aligned__(64)))
#elif MPNUM_HAS_MSVC_
# define MPNUM_ALIGNED_ __declspec(align(64))
#else
# define MPNUM_ALIGNED_
#endif

/* Around the text of each header: casts and zeros are C's, and no warning in C++, also
 * for programs that name the folder by -I. */
#if !MPNUM_HAS_GNU_ || !MPNUM_HAS_CXX_
# define MPNUM_C_BEGIN_
# define MPNUM_C_END_
#else
# if defined(__clang__)
#  define MPNUM_C_CASTS_ _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"")
# else
#  define MPNUM_C_CASTS_                                  \
   _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"") \
       _Pragma("GCC diagnostic ignored \"-Wuseless-cast\"")
# endif
# define MPNUM_C_ZEROS_ \
  _Pragma("GCC diagnostic ignored \"-Wzero-as-null-pointer-constant\"")
# define MPNUM_C_BEGIN_ _Pragma("GCC diagnostic push") MPNUM_C_CASTS_ MPNUM_C_ZEROS_
# define MPNUM_C_END_   _Pragma("GCC diagnostic pop")
#endif

/* Of an enum with values that have no name: C++ converts no others, unless it says so.
 * Not unsigned, lest a comparison with an int warn. */
#if defined(__cplusplus)
# define MPNUM_ANY_INT_ : int
#else
# define MPNUM_ANY_INT_
#endif

/* How functions that devices may call are declared, a block for each compiler.
 *   MPNUM_INLINE  conversions and queries: inlined always, so that a format or a rounding
 *                 mode known to the caller folds away
 *   MPNUM_FUNC    longer ones: the same without the force
 *   MPNUM_REAL_   as INLINE, MPNUM_MATH_ as FUNC, of floats: no constant expressions
 *   MPNUM_RARE_   seldom called, never inlined */
#if MPNUM_HAS_CUDA_ && defined(__clang__)
# define MPNUM_INLINE static inline __attribute__((host, device, __always_inline__))
# define MPNUM_FUNC   static inline __attribute__((host, device))
# define MPNUM_REAL_  MPNUM_INLINE
# define MPNUM_MATH_  MPNUM_FUNC
# define MPNUM_RARE_  static __attribute__((host, device, __noinline__, __unused__))
#elif MPNUM_HAS_CUDA_
# define MPNUM_INLINE static __host__ __device__ __forceinline__
# define MPNUM_FUNC   static __host__ __device__ inline
# define MPNUM_REAL_  MPNUM_INLINE
# define MPNUM_MATH_  MPNUM_FUNC
# define MPNUM_RARE_  static __host__ __device__ __noinline__ __attribute__((__unused__))
#elif MPNUM_HAS_CONSTEXPR /* GNU's */
# define MPNUM_INLINE constexpr MPNUM_FORCED_
# define MPNUM_FUNC   static constexpr inline
# define MPNUM_REAL_  MPNUM_FORCED_
# define MPNUM_MATH_  static inline
# define MPNUM_RARE_  static __attribute__((__noinline__, __unused__))
#elif MPNUM_HAS_GNU_
# define MPNUM_INLINE MPNUM_FORCED_
# define MPNUM_FUNC   static inline
# define MPNUM_REAL_  MPNUM_INLINE
# define MPNUM_MATH_  MPNUM_FUNC
# define MPNUM_RARE_  static __attribute__((__noinline__, __unused__))
#elif MPNUM_HAS_MSVC_
# define MPNUM_INLINE static __forceinline
# define MPNUM_FUNC   static __inline
# define MPNUM_REAL_  MPNUM_INLINE
# define MPNUM_MATH_  MPNUM_FUNC
# define MPNUM_RARE_  static __inline __declspec(noinline)
#else
# define MPNUM_INLINE static inline
# define MPNUM_FUNC   static inline
# define MPNUM_REAL_  static inline
# define MPNUM_MATH_  static inline
# define MPNUM_RARE_  static inline
#endif

/* Before a loop over an array in registers, before one that is to stay a loop, and before
 * one of which so many turns are to be one. The host's compiler does not know them. */
#if MPNUM_HAS_CUDA_ && defined(__CUDA_ARCH__)
# define MPNUM_PRAGMA_(...)   _Pragma(# __VA_ARGS__)
# define MPNUM_UNROLL_        MPNUM_PRAGMA_(unroll)
# define MPNUM_NO_UNROLL_     MPNUM_PRAGMA_(unroll 1)
# define MPNUM_UNROLL_BY_(by) MPNUM_PRAGMA_(unroll by)
#else
# define MPNUM_UNROLL_
# define MPNUM_NO_UNROLL_
# define MPNUM_UNROLL_BY_(by)
#endif

/* For the sake of clang's time, of a function that it would compile again wherever it
 * inlines it, and whose call costs nothing; of one that is called once for a matrix, and
 * that it need not optimise. */
#if MPNUM_HAS_GNU_ && defined(__clang__) && !MPNUM_HAS_CUDA_
# define MPNUM_ONCE_  __attribute__((__noinline__))
# define MPNUM_AS_IS_ __attribute__((__noinline__, __optnone__))
#else
# define MPNUM_ONCE_
# define MPNUM_AS_IS_
#endif

/* The same of functions of arrays, which are for the host alone, nvcc's host compiler
 * included. MPNUM_HOST_ONCE_ is called once for an array, and not worth inlining; _COLD_
 * hardly ever: gcc compiles what follows a call of one for size, so that no function is
 * that all calls pass. gcc has no noinline for functions that are inline, and compiles
 * others at -O0, called or not: _APART_ is one that so many call that it has to be. */
#if MPNUM_HAS_MSVC_
# define MPNUM_HOST         static __inline
# define MPNUM_HOST_INLINE_ static __forceinline
# define MPNUM_HOST_ONCE_   static __inline __declspec(noinline)
# define MPNUM_HOST_COLD_   static __inline __declspec(noinline)
# define MPNUM_HOST_APART_  static __inline __declspec(noinline)
#elif MPNUM_HAS_GNU_ && defined(__clang__)
# define MPNUM_HOST         static inline
# define MPNUM_HOST_INLINE_ MPNUM_FORCED_
# define MPNUM_HOST_ONCE_   static inline __attribute__((__noinline__))
# define MPNUM_HOST_COLD_   static inline __attribute__((__cold__))
# define MPNUM_HOST_APART_  static inline __attribute__((__cold__, __noinline__))
#elif MPNUM_HAS_GNU_
# define MPNUM_HOST         static inline
# define MPNUM_HOST_INLINE_ MPNUM_FORCED_
# define MPNUM_HOST_ONCE_   static inline
# define MPNUM_HOST_COLD_   static inline __attribute__((__cold__))
# define MPNUM_HOST_APART_  static __attribute__((__cold__, __noinline__, __unused__))
#else
# define MPNUM_HOST         static inline
# define MPNUM_HOST_INLINE_ static inline
# define MPNUM_HOST_ONCE_   static inline
# define MPNUM_HOST_COLD_   static inline
# define MPNUM_HOST_APART_  static inline
#endif

/* Before a function whose status says whether its results are what the caller thinks: a
 * call that drops it gets a warning (C++17, GNU, MSVC's /analyze). */
#if MPNUM_NO_MUST_CHECK
# define MPNUM_MUST_CHECK
#elif defined(__cplusplus) && __cplusplus >= 201703L
# define MPNUM_MUST_CHECK [[nodiscard]]
#elif MPNUM_HAS_GNU_
# define MPNUM_MUST_CHECK __attribute__((__warn_unused_result__))
#elif MPNUM_HAS_MSVC_
# define MPNUM_MUST_CHECK _Check_return_
#else
# define MPNUM_MUST_CHECK
#endif

#if MPNUM_HAS_NVRTC_ && !MPNUM_NO_STDINT
/* The identical typedef may be repeated in C++, so a caller's own do not clash. */
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned long long uint64_t;
typedef long long int64_t;
#elif !MPNUM_NO_STDINT
# include <stdint.h>
#endif
#if MPNUM_HAS_MSVC_ && MPNUM_HAS_X86_SIMD_
# include <intrin.h>
#endif

/* nvcc and NVRTC bring memcpy themselves; gcc and clang need no header for it. */
#if MPNUM_HAS_GNU_ && (defined(__clang__) || !MPNUM_HAS_CUDA_)
# define MPNUM_MEMCPY_(dst, src, size) __builtin_memcpy(dst, src, size)
#else
# if !MPNUM_HAS_CUDA_
#  include <string.h>
# endif
# define MPNUM_MEMCPY_(dst, src, size) memcpy(dst, src, size)
#endif

#endif
