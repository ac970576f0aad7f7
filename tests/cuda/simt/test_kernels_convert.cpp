/* SPDX-License-Identifier: MIT */
/* The conversions of mpnum/kernels.cuh: every launcher for every pair of
 * types against the generic functions of the host, element by element, for arrays of any
 * length and at any place, with guard bytes around what is written.
 *
 * Every type is converted to and from float and double, and five types among themselves,
 * with a rounding from float and double alone; with TEST_ALL_PAIRS all among themselves.
 */
#include "kernel_types.hpp"

#include <cmath>
#include <type_traits>

namespace {

/* Arrays */

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
  vector<unsigned char> bytes;
};

piece random_piece(const array_type &type, std::size_t n, std::size_t offset) {
  std::mt19937 random(static_cast<unsigned>(n));
  piece made(type, n, offset);
  /* All of the last unit, which an array that is packed may fill in part. */
  for (std::size_t i = 0; i < bytes_of(type, n) / type.bytes * type.count; ++i)
    put(type, made.begin(), i,
        type.type == MPNUM_TYPE_F32 && i % 29 == 5
            ? uncommon_floats[i / 29 % std::size(uncommon_floats)]
            : random_word(type.type, random));
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
  std::size_t tile; /* elements of a warp's */
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

/* A type of each size, and packed ones. */
template <class T> constexpr bool is_one_of_five() {
  return std::is_same<T, mpnum_tf32>::value || std::is_same<T, mpnum_f16>::value ||
         std::is_same<T, mpnum_e4m3>::value || std::is_same<T, mpnum_e2m1x2>::value ||
         std::is_same<T, mpnum_e3m2x4>::value;
}
template <form name, class Dst, class Src> constexpr bool is_chosen() {
#ifdef TEST_ALL_PAIRS
  return true;
#else
  if (name == form::rounding && !is_wide<Src>()) return false;
  return is_wide<Dst>() || is_wide<Src>() ||
         (is_one_of_five<Dst>() && is_one_of_five<Src>());
#endif
}

template <form name, class Dst, class Src> void add(std::vector<conversion> &all) {
  if constexpr (exists<name, Dst, Src>() && is_chosen<name, Dst, Src>())
    all.push_back({array_of<Dst>::value, array_of<Src>::value, name,
                   mpnum::convert_tile_<Dst, Src>::elements, launch<name, Dst, Src>});
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
  const bool is_stochastic = how.rounding >= MPNUM_ROUND_STOCHASTIC;
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
  unsigned char *const to = dst.begin();
  const cudaError_t error = LAUNCHED(c.launch(to, src.begin(), n, how));
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
  manner few = stochastic;
  for (const conversion &c : conversions()) {
    const int bits = 1 + static_cast<int>(few.seed % 8);
    check_conversion(c, is_fast() ? 300000 : 333);
    if (c.form != form::rounding) continue;
    check_conversion(c, 333, 0, 0, &stochastic);
    few.rounding = mpnum_rounding_stochastic("ABC"[few.seed++ % 3], bits);
    check_conversion(c, 333, 0, 0, &few);
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

/* The first word by which the magnitude of x goes up is as many 2^-32 of a place as it
 * lacks of the next code. Of every 16381st float: that word, those beside it, any. */
template <mpnum_type type, class Sat, class Plain>
void check_words(Sat sat, Plain plain) {
  const mpnum_format to = mpnum_format_of(type);
  const int least = 1 - to.bias;
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 16381) {
    const float x = mpnum_from_bits_f32(static_cast<std::uint32_t>(bits));
    std::uint32_t lacks = 0;
    if (std::isfinite(x)) {
      const int own = x == 0 ? least : std::max(std::ilogb(x), least);
      const double places = std::ldexp(std::fabs(static_cast<double>(x)),
                                       static_cast<int>(to.mantissa_bits) - own);
      lacks =
          0u - static_cast<std::uint32_t>(std::ldexp(places - std::floor(places), 32));
    }
    const mpnum_u32x4 words = {lacks - 1, lacks, lacks + 1, mpnum_random(1, bits)};
    float rounded[4] = {x, x, x, x};
    mpnum::round_four_by_<type>(rounded, words);
    const std::uint32_t word[4] = {words.x, words.y, words.z, words.w};
    for (unsigned k = 0; k < 4; ++k) {
      const auto want = [&](mpnum_overflow overflow) {
        return mpnum_encode(to, x, MPNUM_ROUND_STOCHASTIC, overflow, word[k]);
      };
      CHECK(sat(rounded[k]).bits == want(MPNUM_OVERFLOW_SATURATE) &&
                plain(rounded[k]).bits == want(MPNUM_OVERFLOW_IEEE),
            "%08x by %08x", static_cast<unsigned>(bits), static_cast<unsigned>(word[k]));
    }
  }
}
void words_around_each_threshold_round_as_on_the_host(void) {
  check_words<MPNUM_TYPE_E4M3>([](float x) { return mpnum_f32_to_e4m3_sat(x); },
                               [](float x) { return mpnum_f32_to_e4m3(x); });
  check_words<MPNUM_TYPE_E5M2>([](float x) { return mpnum_f32_to_e5m2_sat(x); },
                               [](float x) { return mpnum_f32_to_e5m2(x); });
}

void random_words_belong_to_elements(void) {
  for (std::uint64_t offset : {~0ull - 99, ~0ull - 100, ~0ull - 101, ~0ull - 102}) {
    const manner how = {MPNUM_ROUND_STOCHASTIC, MPNUM_OVERFLOW_SATURATE, 3, offset};
    for (const conversion &c : conversions()) {
      if (c.form != form::rounding || c.src.type != MPNUM_TYPE_F32) continue;
      for (std::size_t src_at : {std::size_t{0}, std::size_t{4}})
        check_conversion(c, 2 * c.tile + 50, 0, src_at, &how);
      manner few = how;
      few.rounding = mpnum_rounding_stochastic("ABC"[offset % 3], 8);
      check_conversion(c, 2 * c.tile + 50, 0, 0, &few);
    }
  }
}

void lengths_around_vectors_and_tiles(void) {
  unsigned turn = 0;
  for (const conversion &c : one_of_each_geometry()) {
    const std::size_t tile = c.tile;
    for (std::size_t n :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, tile - 1, tile, tile + 1,
          8 * tile - 1, 8 * tile, 8 * tile + 1, 9 * tile + 19}) {
      simt::use(simt::schedules[turn++ % 6]);
      check_conversion(c, n);
    }
    for (std::size_t n = 4; n < 36; ++n)
      check_conversion(c, n);
  }
}

/* Heads of each length, arrays that are aligned unlike each other, and both so short that
 * there is nothing else. */
void arrays_may_begin_anywhere(void) {
  for (const conversion &c : one_of_each_geometry()) {
    for (std::size_t dst_at = 0; dst_at < 16; dst_at += c.dst.alignment) {
      for (std::size_t src_at = 0; src_at < 16; src_at += c.src.alignment) {
        for (std::size_t n : {std::size_t{1}, std::size_t{40}})
          check_conversion(c, n, dst_at, src_at);
        if (dst_at % 8 == 1 % c.dst.alignment || src_at % 8 == 1 % c.src.alignment)
          check_conversion(c, 3 * c.tile + 37, dst_at, src_at);
      }
    }
    /* Ends that leave little behind the last tile, or nothing. */
    for (std::size_t n = 2 * c.tile - 1; n < 2 * c.tile + 18; ++n)
      check_conversion(c, n, 0, c.src.alignment % 16);
  }
}

void arrays_of_one_size_convert_in_place(void) {
  for (const conversion &c : one_of_each_geometry()) {
    if (c.dst.bytes != c.src.bytes || c.dst.count != c.src.count) continue;
    in_every_schedule([&] {
      const std::size_t n = 8 * c.tile + 77;
      piece here = random_piece(c.src, n, 0);
      const piece before = here;
      CHECK(LAUNCHED(c.launch(here.begin(), here.begin(), n, manner_of(c))) ==
                cudaSuccess,
            "%s", names(c));
      for (std::size_t i = 0; i < n; ++i)
        CHECK(here[i] == expected(c.dst.type, c.src.type, before[i], manner_of(c), i),
              "%s: %zu", names(c), i);
    });
  }
}

/* One array beside another is sound, and in its place if both have elements of one size;
 * nothing else that has a byte of it. */
void arrays_that_overlap_are_refused(void) {
  vector<unsigned char> memory(1024);
  const std::size_t n = 32;
  unsigned char *const src = &memory[512];
  simt::launch_error = sound;
  for (const conversion &c : conversions()) {
    const std::size_t dst_bytes = bytes_of(c.dst, n), src_bytes = bytes_of(c.src, n);
    const bool is_one_size = c.dst.bytes == c.src.bytes && c.dst.count == c.src.count;
    const auto launch = [&](unsigned char *dst, const unsigned char *from) {
      return c.launch(dst, from, n, manner_of(c));
    };
    CHECK(launch(src + src_bytes, src) == sound && launch(src - dst_bytes, src) == sound,
          "%s: apart", names(c));
    CHECK(launch(src, src) == (is_one_size ? sound : cudaErrorInvalidValue),
          "%s: in place", names(c));
    for (unsigned char *dst :
         {src + 1, src + src_bytes - 1, src - 1, src - dst_bytes + 1})
      CHECK(launch(dst, src) == cudaErrorInvalidValue, "%s: %td bytes apart", names(c),
            dst - src);
    CHECK(launch(nullptr, src) == cudaErrorInvalidValue &&
              launch(src, nullptr) == cudaErrorInvalidValue,
          "%s: NULL", names(c));
  }
  simt::launch_error = cudaSuccess;
}

void no_elements_need_no_memory(void) {
  simt::launch_error = cudaErrorUnknown; /* nor a launch */
  for (const conversion &c : conversions())
    CHECK(c.launch(nullptr, nullptr, 0, manner_of(c)) == cudaSuccess, "%s", names(c));
  simt::launch_error = cudaSuccess;
}

/* Fewer blocks than tiles: of what one multiprocessor holds, and of any number of warps.
 */
template <class Dst, class Src, class Convert> void check_strides(Convert convert) {
  typedef mpnum::cast_plain_<Dst, Src> cast;
  const std::size_t n = 40 * mpnum::convert_tile_<Dst, Src>::elements + 11;
  vector<Src> src(n);
  for (std::size_t i = 0; i < n; ++i)
    src[i] = mpnum::element_of_(static_cast<float>(i % 1000) / 7, static_cast<Src *>(0));
  for (unsigned threads : {0u, 32u, 96u, 256u}) {
    vector<Dst> dst(n);
    const cudaError_t error = LAUNCHED(
        threads == 0 ? mpnum_launch_convert(dst.data(), src.data(), n, nullptr, 1)
                     : simt::launch(mpnum_convert_kernel_<cast, Dst, Src>, {3, threads},
                                    dst.data(), src.data(), n, mpnum_launch_rounding_()));
    CHECK(error == cudaSuccess, "%s", simt::last_fault().text.c_str());
    for (std::size_t i = 0; i < n; ++i) {
      const Dst want = convert(src[i]);
      CHECK(std::memcmp(&dst[i], &want, sizeof want) == 0, "%zu of %u threads", i,
            threads);
    }
  }
}
/* By way of shared memory down and up. */
void the_grid_strides_over_long_arrays(void) {
  check_strides<mpnum_f16, float>([](float x) { return mpnum_f32_to_f16(x); });
  check_strides<float, mpnum_e4m3>([](mpnum_e4m3 x) { return mpnum_e4m3_to_f32(x); });
}

/* No block is without work, and no more than the GPU holds are launched. */
void blocks_are_as_many_as_the_gpu_holds(void) {
  for (int given : {0, 7}) {
    const std::size_t most =
        4 * static_cast<std::size_t>(given ? 7 : simt::multiprocessors);
    for (std::size_t tiles : {std::size_t{1}, most - 1, most, most + 1, 10 * most}) {
      std::size_t blocks = 0;
      CHECK(mpnum_launch_blocks_(&blocks, tiles, given) == cudaSuccess &&
                blocks == std::min(tiles, most),
            "%zu for %zu tiles", blocks, tiles);
    }
  }
}

void launchers_return_errors(void) {
  const vector<float> values(10, 1.0f);
  vector<mpnum_f16> codes(10);
  simt::launch_error = sound;
  CHECK(mpnum_launch_convert(codes.data(), values.data(), 10, nullptr) == sound,
        "convert");
  simt::launch_error = cudaSuccess;
  for (mpnum_f16 code : codes)
    CHECK(!is_simulated || code.bits == 0, "a kernel ran");
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments,
                   {
                       TEST(every_pair_of_types_converts_as_on_the_host),
                       TEST(every_rounding_is_passed_on),
                       TEST(words_around_each_threshold_round_as_on_the_host),
                       TEST(random_words_belong_to_elements),
                       TEST(lengths_around_vectors_and_tiles),
                       TEST(arrays_may_begin_anywhere),
                       TEST(arrays_of_one_size_convert_in_place),
                       TEST(arrays_that_overlap_are_refused),
                       TEST(no_elements_need_no_memory),
                       TEST(the_grid_strides_over_long_arrays),
                       TEST(blocks_are_as_many_as_the_gpu_holds),
                       TEST(launchers_return_errors),
                   });
}
