/* SPDX-License-Identifier: MIT */
/* mpnum/cuda/kernels.cuh on the CPU: every launcher for every pair of types against the
 * generic functions of the host, element by element, for arrays of any length and at any
 * place, with guard bytes around what is written.
 *
 * Every type is converted to and from float and double, and five types among themselves;
 * with TEST_ALL_PAIRS all among themselves. TEST_TYPES lists the types of a smaller
 * build. */
#include "simt/launch.hpp"

#include <mpnum/cuda/kernels.cuh>

#include "tap.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

namespace {

/* Arrays: units of some bytes, with an element or several in each. */

struct array_type {
  mpnum_type type;
  unsigned count, bytes, alignment;
};
template <class T> struct array_of {
  [[maybe_unused]] static constexpr array_type value = {mpnum::type_of<T>::value, 1,
                                                        sizeof(T), alignof(T)};
};
template <> struct array_of<mpnum_e2m1x2> {
  [[maybe_unused]] static constexpr array_type value = {MPNUM_TYPE_E2M1, 2, 1, 1};
};
template <> struct array_of<mpnum_e3m2x4> {
  [[maybe_unused]] static constexpr array_type value = {MPNUM_TYPE_E3M2, 4, 3, 1};
};
template <> struct array_of<mpnum_e2m3x4> {
  [[maybe_unused]] static constexpr array_type value = {MPNUM_TYPE_E2M3, 4, 3, 1};
};

std::size_t bytes_of(const array_type &array, std::size_t n) {
  return (n + array.count - 1) / array.count * array.bytes;
}

/* Element i as an integer. Packed ones lie in the bits of their unit, from the lowest. */
std::uint64_t get(const array_type &array, const unsigned char *memory, std::size_t i) {
  const unsigned bits = 8 * array.bytes / array.count;
  std::uint64_t unit = 0;
  for (unsigned k = 0; k < array.bytes; ++k)
    unit |= static_cast<std::uint64_t>(memory[i / array.count * array.bytes + k])
            << 8 * k;
  return unit >> i % array.count * bits & ~0ull >> (64 - bits);
}
/* Where the bits of element i are 0. */
void put(const array_type &array, unsigned char *memory, std::size_t i,
         std::uint64_t word) {
  word <<= i % array.count * (8 * array.bytes / array.count);
  for (unsigned k = 0; k < array.bytes; ++k)
    memory[i / array.count * array.bytes + k] |=
        static_cast<unsigned char>(word >> 8 * k);
}

/* Any code of a small type. Half of the floats are any, half of a size that small types
 * round and do not all lose. */
std::uint64_t random_word(mpnum_type type, std::mt19937 &random) {
  const std::uint64_t word = static_cast<std::uint64_t>(random()) << 32 | random();
  const std::uint64_t exponent = random() % 48;
  const mpnum_format format = mpnum_format_of(type);
  if (type == MPNUM_TYPE_F64 && word % 2)
    return (word & ~(0x7ffull << 52)) | (exponent + 1023 - 30) << 52;
  if (type == MPNUM_TYPE_F64) return word;
  if (type == MPNUM_TYPE_F32 && word % 2)
    return (word & 0x807fffffu) | (exponent + 127 - 30) << 23;
  if (type == MPNUM_TYPE_F32) return word & 0xffffffffu;
  const int bits = format.sign_bits + format.exponent_bits + format.mantissa_bits;
  return (word & ((1u << bits) - 1)) << format.storage_shift;
}

constexpr unsigned char guard = 0xb5;
constexpr std::size_t guard_size = 32;

/* An array in memory that begins at a multiple of 16 bytes plus offset. It ends where the
 * array does if AddressSanitizer can see an access behind it, else with guards. */
struct piece {
  piece(const array_type &type, std::size_t n, std::size_t offset)
      : array(type), at(offset), bytes(offset + bytes_of(type, n)) {}
  unsigned char *begin() { return bytes.data() + at; }
  const unsigned char *begin() const { return bytes.data() + at; }
  std::uint64_t operator[](std::size_t i) const { return get(array, begin(), i); }
  void add_guards() {
    std::fill(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), guard);
    bytes.resize(bytes.size() + guard_size, guard);
  }

  array_type array;
  std::size_t at;
  std::vector<unsigned char> bytes;
};

piece random_piece(const array_type &type, std::size_t n, std::size_t offset) {
  std::mt19937 random(static_cast<unsigned>(n));
  piece made(type, n, offset);
  /* All of the last unit, which an array that is packed may fill in part. */
  for (std::size_t i = 0; i < bytes_of(type, n) / type.bytes * type.count; ++i)
    put(type, made.begin(), i, random_word(type.type, random));
  if (!SIMT_HAS_ASAN) made.add_guards();
  return made;
}

/* Conversions */

struct manner {
  mpnum_rounding rounding;
  mpnum_overflow overflow;
  std::uint64_t seed, offset;
};

enum class form { plain, saturating, rounding };

/* A launcher for a pair of types. */
struct conversion {
  array_type dst, src;
  enum form form;
  cudaError_t (*launch)(void *dst, const void *src, std::size_t n, const manner &);
};

template <form name, class Dst, class Src>
cudaError_t launch(void *dst, const void *src, std::size_t n, const manner &how) {
  Dst *to = static_cast<Dst *>(dst);
  const Src *from = static_cast<const Src *>(src);
  if constexpr (name == form::plain) return mpnum_launch_convert(to, from, n, nullptr);
  if constexpr (name == form::saturating)
    return mpnum_launch_convert_sat(to, from, n, nullptr);
  if constexpr (name == form::rounding)
    return mpnum_launch_convert_round(to, from, n, how.rounding, how.overflow, how.seed,
                                      how.offset, nullptr);
}

template <class T> constexpr bool is_wide() {
  return std::is_same<T, float>::value || std::is_same<T, double>::value;
}

template <form name, class Dst, class Src> constexpr bool exists() {
  const mpnum_type dst = array_of<Dst>::value.type;
  const bool is_finite =
      dst == MPNUM_TYPE_E3M2 || dst == MPNUM_TYPE_E2M3 || dst == MPNUM_TYPE_E2M1;
  if (is_wide<Dst>() && std::is_same<Dst, Src>::value) return false;
  if (name == form::plain) return !is_finite;
  return !is_wide<Dst>() || (dst == MPNUM_TYPE_F32 && std::is_same<Src, double>::value);
}

template <class... T> struct list {};
#ifdef TEST_TYPES
typedef list<TEST_TYPES> types;
#else
# define STORAGE(name, ...) mpnum_##name,
typedef list < MPNUM_FORMATS(STORAGE)
float, double, mpnum_e2m1x2, mpnum_e3m2x4, mpnum_e2m3x4 > types;
# undef STORAGE
#endif

/* A type of each size, and packed ones. */
template <class T> constexpr bool is_one_of_five() {
  return std::is_same<T, mpnum_tf32>::value || std::is_same<T, mpnum_f16>::value ||
         std::is_same<T, mpnum_e4m3>::value || std::is_same<T, mpnum_e2m1x2>::value ||
         std::is_same<T, mpnum_e3m2x4>::value;
}
template <class Dst, class Src> constexpr bool is_chosen() {
#ifdef TEST_ALL_PAIRS
  return true;
#else
  return is_wide<Dst>() || is_wide<Src>() ||
         (is_one_of_five<Dst>() && is_one_of_five<Src>());
#endif
}

template <form name, class Dst, class Src> void add(std::vector<conversion> &all) {
  if constexpr (exists<name, Dst, Src>() && is_chosen<Dst, Src>())
    all.push_back(
        {array_of<Dst>::value, array_of<Src>::value, name, launch<name, Dst, Src>});
}
template <class Dst, class... Src>
void add_to(std::vector<conversion> &all, list<Src...>) {
  (add<form::plain, Dst, Src>(all), ...);
  (add<form::saturating, Dst, Src>(all), ...);
  (add<form::rounding, Dst, Src>(all), ...);
}
template <class... Dst> std::vector<conversion> add_all(list<Dst...> sources) {
  std::vector<conversion> all;
  (add_to<Dst>(all, sources), ...);
  return all;
}
const std::vector<conversion> &conversions() {
  static const std::vector<conversion> all = add_all(types());
  return all;
}

manner manner_of(const conversion &c) {
  if (c.form == form::plain) return {MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_IEEE, 0, 0};
  return {MPNUM_ROUND_NEAREST_EVEN, MPNUM_OVERFLOW_SATURATE, 0, 0};
}

/* By the host's functions that take any format. */
std::uint64_t expected(mpnum_type dst, mpnum_type src, std::uint64_t word,
                       const manner &how, std::size_t i) {
  const bool is_stochastic = how.rounding == MPNUM_ROUND_STOCHASTIC;
  const std::uint32_t random = is_stochastic ? mpnum_random(how.seed, how.offset + i) : 0;
  const std::uint32_t code = static_cast<std::uint32_t>(word);
  const mpnum_format from = mpnum_format_of(src), to = mpnum_format_of(dst);
  if (src == MPNUM_TYPE_F64) {
    const double x = mpnum_from_bits_f64(word);
    if (dst != MPNUM_TYPE_F32)
      return mpnum_encode_f64(to, x, how.rounding, how.overflow, random);
    return mpnum_bits_f32(mpnum_f64_to_f32_round(x, how.rounding, how.overflow, random));
  }
  const float x =
      src == MPNUM_TYPE_F32 ? mpnum_from_bits_f32(code) : mpnum_decode(from, code);
  if (dst == MPNUM_TYPE_F64) return mpnum_bits_f64(mpnum_f32_to_f64(x));
  if (dst == MPNUM_TYPE_F32) return mpnum_bits_f32(x);
  return mpnum_encode(to, x, how.rounding, how.overflow, random);
}

const char *names(const conversion &c) {
  static const char *const forms[] = {"plain", "sat", "round"};
  static char text[80];
  std::snprintf(text, sizeof text, "%s x%u to %s x%u, %s", mpnum_type_name(c.src.type),
                c.src.count, mpnum_type_name(c.dst.type), c.dst.count,
                forms[static_cast<int>(c.form)]);
  return text;
}

/* n elements from src_at to dst_at bytes behind a multiple of 16. */
void check_conversion(const conversion &c, std::size_t n, std::size_t dst_at = 0,
                      std::size_t src_at = 0, const manner *given = nullptr) {
  const manner how = given ? *given : manner_of(c);
  const piece src = random_piece(c.src, n, src_at);
  piece dst(c.dst, n, dst_at), want(c.dst, n, dst_at);
  dst.add_guards();
  std::fill(dst.bytes.begin(), dst.bytes.end(), guard);
  const cudaError_t error = c.launch(dst.begin(), src.begin(), n, how);
  CHECK(error == cudaSuccess, "%s: %s", names(c), cudaGetErrorString(error));

  for (std::size_t i = 0; i < n; ++i)
    put(c.dst, want.begin(), i, expected(c.dst.type, c.src.type, src[i], how, i));
  want.add_guards();
  const auto differs =
      std::mismatch(want.bytes.begin(), want.bytes.end(), dst.bytes.begin());
  CHECK(differs.first == want.bytes.end(),
        "%s: %zu from %zu to %zu: byte %td is %02x, want %02x", names(c), n, src_at,
        dst_at, differs.first - want.bytes.begin() - static_cast<std::ptrdiff_t>(dst_at),
        *differs.second, *differs.first);
}

/* Of a thread, and of a block; see the kernel. */
std::size_t lanes_of(const conversion &c) {
  if (c.dst.count > 1 || c.src.count > 1) return 8;
  return 16 / std::max(c.dst.bytes, c.src.bytes);
}
std::size_t tile_of(const conversion &c) { return 512 * lanes_of(c); }

/* One conversion for each two sizes of units, in which the arrays' geometry is all. */
std::vector<conversion> one_of_each_geometry() {
  std::vector<conversion> chosen;
  for (const conversion &c : conversions()) {
    if (c.form == form::rounding) continue;
    const bool is_new =
        std::none_of(chosen.begin(), chosen.end(), [&](const conversion &other) {
          return other.dst.bytes == c.dst.bytes && other.dst.count == c.dst.count &&
                 other.src.bytes == c.src.bytes && other.src.count == c.src.count;
        });
    if (is_new) chosen.push_back(c);
  }
  return chosen;
}

void every_pair_of_types_converts_as_on_the_host(void) {
  const manner stochastic = {MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_IEEE, 7, 1ull << 40};
  for (const conversion &c : conversions()) {
    check_conversion(c, 333);
    if (c.form == form::rounding) check_conversion(c, 333, 0, 0, &stochastic);
  }
}

void every_rounding_is_passed_on(void) {
  for (const conversion &c : conversions()) {
    if (c.form != form::rounding || c.src.type != MPNUM_TYPE_F32) continue;
    for (int rounding = MPNUM_ROUND_NEAREST_EVEN; rounding <= MPNUM_ROUND_STOCHASTIC;
         ++rounding) {
      for (int overflow = MPNUM_OVERFLOW_IEEE; overflow <= MPNUM_OVERFLOW_SATURATE;
           ++overflow) {
        const manner how = {static_cast<mpnum_rounding>(rounding),
                            static_cast<mpnum_overflow>(overflow), 1ull << 63, 12345};
        check_conversion(c, 301, 0, 0, &how);
      }
    }
  }
}

void random_words_belong_to_elements(void) {
  const manner how = {MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE, 3, ~0ull - 100};
  for (const conversion &c : conversions())
    if (c.form == form::rounding && c.src.type == MPNUM_TYPE_F32)
      check_conversion(c, tile_of(c) + 5, 0, 0, &how);
}

void lengths_around_vectors_and_tiles(void) {
  unsigned turn = 0;
  for (const conversion &c : one_of_each_geometry()) {
    const std::size_t lanes = lanes_of(c), row = 256 * lanes, tile = tile_of(c);
    for (std::size_t n :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, lanes - 1, lanes, lanes + 1,
          row - 1, row, row + 1, tile - 1, tile, tile + 1, 2 * tile + lanes + 3}) {
      simt::use(simt::schedules[turn++ % 6]);
      if (n != 0) check_conversion(c, n);
    }
    for (std::size_t n = 4; n < 2 * lanes; ++n)
      check_conversion(c, n);
  }
}

void arrays_may_begin_anywhere(void) {
  for (const conversion &c : one_of_each_geometry()) {
    const std::size_t lanes = lanes_of(c);
    for (std::size_t dst_at = 0; dst_at < 16; dst_at += c.dst.alignment)
      for (std::size_t src_at = 0; src_at < 16; src_at += c.src.alignment)
        for (std::size_t n : {std::size_t{1}, lanes, 5 * lanes + 3})
          check_conversion(c, n, dst_at, src_at);
  }
}

void arrays_of_one_size_convert_in_place(void) {
  for (const conversion &c : one_of_each_geometry()) {
    if (c.dst.bytes != c.src.bytes || c.dst.count != c.src.count) continue;
    for (const simt::schedule &schedule : simt::schedules) {
      simt::use(schedule);
      const std::size_t n = tile_of(c) + 77;
      piece here = random_piece(c.src, n, 0);
      const piece before = here;
      CHECK(c.launch(here.begin(), here.begin(), n, manner_of(c)) == cudaSuccess, "%s",
            names(c));
      for (std::size_t i = 0; i < n; ++i)
        CHECK(here[i] == expected(c.dst.type, c.src.type, before[i], manner_of(c), i),
              "%s: %zu", names(c), i);
    }
  }
}

void no_elements_need_no_memory(void) {
  simt::launch_error = cudaErrorUnknown; /* nor a launch */
  for (const conversion &c : conversions())
    CHECK(c.launch(nullptr, nullptr, 0, manner_of(c)) == cudaSuccess, "%s", names(c));
  simt::launch_error = cudaSuccess;
}

/* Fewer blocks than tiles, and blocks that are no multiple of a warp: the kernel is
 * written for any. */
void the_grid_strides_over_long_arrays(void) {
  typedef mpnum::cast_plain_<mpnum_f16, float> cast;
  const std::size_t n = 20011;
  std::vector<float> src(n);
  for (std::size_t i = 0; i < n; ++i)
    src[i] = static_cast<float>(i) / 7;
  for (unsigned threads : {32u, 96u, 256u, 33u}) {
    std::vector<mpnum_f16> dst(n);
    CHECK(simt::launch(mpnum_convert_kernel_<cast, mpnum_f16, float>, {3, threads},
                       dst.data(), src.data(), n,
                       mpnum_launch_rounding_()) == cudaSuccess,
          "%s", simt::last_fault().text.c_str());
    for (std::size_t i = 0; i < n; ++i)
      CHECK(dst[i].bits == mpnum_f32_to_f16(src[i]).bits, "%zu of %u threads", i,
            threads);
  }
}

/* Reductions */

template <class T> constexpr bool has_values = !std::is_same<T, double>::value;

template <class T> bool is_finite(T x) {
  if constexpr (std::is_floating_point<T>::value)
    return std::isfinite(x);
  else
    return mpnum_isfinite(mpnum_format_of(mpnum::type_of<T>::value), x.bits) != 0;
}
template <class T> std::uint32_t code_of(T x) { return x.bits; }
inline std::uint32_t code_of(float x) { return mpnum_bits_f32(x); }

/* A result between guards, which the launcher has to set and not to take for granted. */
template <class T> struct guarded {
  guarded() { std::memset(static_cast<void *>(this), guard, sizeof *this); }
  bool is_whole() const {
    const auto is_guard = [](unsigned char byte) { return byte == guard; };
    return std::all_of(before, before + guard_size, is_guard) &&
           std::all_of(after, after + guard_size, is_guard);
  }
  unsigned char before[guard_size];
  T value;
  unsigned char after[guard_size];
};

template <class T, class Result>
Result launched(cudaError_t (*launch)(Result *, const T *, std::size_t, cudaStream_t),
                const std::vector<T> &values, std::size_t first) {
  guarded<Result> result;
  const cudaError_t error =
      launch(&result.value, values.data() + first, values.size() - first, nullptr);
  CHECK(error == cudaSuccess && result.is_whole(), "%s of %zu: %s",
        mpnum_type_name(mpnum::type_of<T>::value), values.size(),
        cudaGetErrorString(error));
  return result.value;
}

/* Of the values from first on, whose address is no multiple of 16 bytes for most. */
template <class T>
void check_reductions(const std::vector<T> &values, std::size_t first = 0) {
  const mpnum_format format = mpnum_format_of(mpnum::type_of<T>::value);
  const char *name = mpnum_type_name(mpnum::type_of<T>::value);
  const std::size_t n = values.size() - first;
  int all_finite = 1;
  float amax = 0;
  mpnum_stats stats = mpnum_stats_empty();
  for (std::size_t i = first; i < values.size(); ++i) {
    all_finite &= is_finite(values[i]);
    if constexpr (has_values<T>) {
      const std::uint32_t code = code_of(values[i]);
      const float x = std::is_same<T, float>::value ? mpnum_from_bits_f32(code)
                                                    : mpnum_decode(format, code);
      stats = mpnum_stats_add(stats, format, code);
      if (std::isnan(x) || std::isnan(amax))
        amax = mpnum_from_bits_f32(0x7fffffff);
      else
        amax = std::max(amax, std::fabs(x));
    }
  }
  const int got_finite = launched(mpnum_launch_all_finite<T>, values, first);
  CHECK(got_finite == all_finite, "%s, all %zu finite: %d", name, n, got_finite);
  if constexpr (has_values<T>) {
    const float got_amax = launched(mpnum_launch_amax<T>, values, first);
    CHECK(mpnum_bits_f32(got_amax) == mpnum_bits_f32(amax), "%s, amax of %zu: %g", name,
          n, static_cast<double>(got_amax));
    const mpnum_stats got = launched(mpnum_launch_stats<T>, values, first);
    CHECK(got.count == stats.count && got.zeros == stats.zeros &&
              got.subnormals == stats.subnormals && got.infs == stats.infs &&
              got.nans == stats.nans,
          "%s, counts of %zu", name, n);
    CHECK(mpnum_bits_f32(got.amax) == mpnum_bits_f32(stats.amax) &&
              mpnum_bits_f32(got.min_nonzero) == mpnum_bits_f32(stats.min_nonzero),
          "%s, range of %zu: %g to %g", name, n, static_cast<double>(got.min_nonzero),
          static_cast<double>(got.amax));
  }
}

template <class T> std::vector<T> random_values(std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(n));
  std::vector<T> values(n);
  for (T &x : values) {
    const std::uint64_t word = random_word(mpnum::type_of<T>::value, random);
    for (unsigned k = 0; k < sizeof(T); ++k)
      reinterpret_cast<unsigned char *>(&x)[k] =
          static_cast<unsigned char>(word >> 8 * k);
  }
  return values;
}

/* Calls visit with a value of each type that is not packed. */
template <class F, class... T> void for_types(list<T...>, F visit) {
  const auto visit_one = [&](auto x) {
    if constexpr (array_of<decltype(x)>::value.count == 1) visit(x);
  };
  (visit_one(T()), ...);
}

void every_type_is_reduced_as_on_the_host(void) {
  for (const simt::schedule &schedule : simt::schedules) {
    simt::use(schedule);
    for_types(types(), [](auto x) {
      typedef decltype(x) T;
      const std::size_t tile = 256 * 16 / sizeof(T);
      for (std::size_t n : {std::size_t{0}, std::size_t{1}, 16 / sizeof(T) + 1, tile + 5})
        check_reductions(random_values<T>(n));
    });
  }
}

void reductions_of_any_length_from_anywhere(void) {
  for_types(types(), [](auto x) {
    typedef decltype(x) T;
    const std::size_t lanes = 16 / sizeof(T), tile = 256 * lanes;
    for (std::size_t first = 0; first < lanes; ++first)
      for (std::size_t n : {std::size_t{0}, std::size_t{1}, lanes - 1, 3 * lanes + 1})
        check_reductions(random_values<T>(first + n), first);
    for (std::size_t n : {tile - 1, tile, tile + 1})
      check_reductions(random_values<T>(n));
  });
}

/* Ordinary values with one that is not, in each place of a tile and a little more. */
template <class T> void check_special_values(std::initializer_list<T> special, T others) {
  for (T x : special) {
    for (std::size_t place = 0; place < 256 * 16 / sizeof(T) + 9; place += 41) {
      std::vector<T> values(256 * 16 / sizeof(T) + 9, others);
      values[place] = x;
      simt::use(simt::schedules[place % 6]);
      check_reductions(values);
    }
  }
}

void special_values_are_found_in_every_place(void) {
  const float infinity = mpnum_from_bits_f32(0x7f800000);
  check_special_values(
      {infinity, -infinity, mpnum_from_bits_f32(0xff800001), -0.0f, 1e-45f, -3e38f},
      1.0f);
  const mpnum_e4m3 largest = {0xfe}, nan = {0xff}, smallest = {1}, zero = {0},
                   one = {0x38};
  check_special_values({largest, nan, smallest, zero}, one);
}

/* More tiles than a grid of reductions has blocks. */
void reductions_stride_over_long_arrays(void) {
  std::vector<float> values((MPNUM_LAUNCH_REDUCE_BLOCKS_ + 2) * 1024 + 3, 1.0f);
  const auto amax = [&] { return launched(mpnum_launch_amax<float>, values, 0); };
  simt::use(simt::schedules[0]);
  CHECK(amax() == 1, "%g", static_cast<double>(amax()));
  values.back() = -2;
  CHECK(amax() == 2, "%g", static_cast<double>(amax()));
}

void launchers_return_errors(void) {
  const std::vector<float> values(10, 1.0f);
  mpnum_f16 codes[10];
  float amax = 5;
  simt::launch_error = cudaErrorNotSupported;
  CHECK(mpnum_launch_convert(codes, values.data(), 10, nullptr) == cudaErrorNotSupported,
        "convert");
  for (std::size_t n : {0u, 10u})
    CHECK(mpnum_launch_amax(&amax, values.data(), n, nullptr) == cudaErrorNotSupported,
          "amax");
  simt::launch_error = cudaSuccess;
  CHECK(amax == 5, "a kernel ran");
}

} // namespace

int main(void) {
  TAP_RUN(every_pair_of_types_converts_as_on_the_host);
  TAP_RUN(every_rounding_is_passed_on);
  TAP_RUN(random_words_belong_to_elements);
  TAP_RUN(lengths_around_vectors_and_tiles);
  TAP_RUN(arrays_may_begin_anywhere);
  TAP_RUN(arrays_of_one_size_convert_in_place);
  TAP_RUN(no_elements_need_no_memory);
  TAP_RUN(the_grid_strides_over_long_arrays);
  TAP_RUN(every_type_is_reduced_as_on_the_host);
  TAP_RUN(reductions_of_any_length_from_anywhere);
  TAP_RUN(special_values_are_found_in_every_place);
  TAP_RUN(reductions_stride_over_long_arrays);
  TAP_RUN(launchers_return_errors);
  return tap_done();
}
