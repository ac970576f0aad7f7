/* SPDX-License-Identifier: MIT */
/* Softmax, log-softmax, log-sum-exp, cross-entropy and the gradients through them of
 * mpnum/rows/rows.cuh and loss_rows.cuh: every byte that the host's functions
 * write, for rows of any length, masks of every kind and rows that are not ordinary.
 * TEST_TYPES makes a smaller build. */
#define MPNUM_NO_SIMD 1 /* the bits are those of the vector loops */
#include "row_kernels.hpp"
#include "../../harness/must.h"

#include <mpnum/rows/softmax_cap.cuh>

SIMT_DYNAMIC_SHARED(float, mpnum_rows_shared_);

namespace {

enum { OPTIONS = 18 };
/* Options and the arrays that they name. */
struct choice {
  mpnum_softmax_options options = mpnum_softmax_default();
  vector<std::uint8_t> mask;
  vector<std::size_t> lengths;
  vector<float> bias, slopes, sinks;
  vector<mpnum_f16> halves;
  vector<mpnum_bf16> brains;
};
/* Copies would leave the pointers behind. */
void choose(choice &made, unsigned which, std::size_t rows, std::size_t columns) {
  std::mt19937 random(which);
  mpnum_softmax_options &options = made.options;
  made.mask.resize(rows * columns + 1);
  made.lengths.resize(rows);
  made.bias.resize(rows * columns + 1);
  for (std::uint8_t &byte : made.mask)
    byte = static_cast<std::uint8_t>(random() % 3);
  for (std::size_t i = 0; i < rows; ++i)
    made.lengths[i] = i % 3 == 0 ? columns : random() % (columns + 1);
  for (float &x : made.bias)
    x = random() % 9 == 0 ? -infinity
                          : std::ldexp(static_cast<float>(random() % 999), -8);
  for (float x : made.bias) {
    made.halves.push_back(mpnum_f32_to_f16(x));
    made.brains.push_back(mpnum_f32_to_bf16(x));
  }
  for (int head = 0; head < 3; ++head) {
    made.slopes.push_back(std::ldexp(1.3f, -2 * head));
    made.sinks.push_back(head == 1 ? -infinity : 20.5f * static_cast<float>(head) - 1);
  }
  options.heads = 3;
  options.head_rows = 2;
  switch (which) {
  case 14:
    options.bias = made.halves.data() + 1;
    options.bias_type = MPNUM_TYPE_F16;
    options.slopes = made.slopes.data();
    options.scale = 0.7f;
    break;
  case 15:
    options.bias = made.brains.data();
    options.bias_type = MPNUM_TYPE_BF16;
    options.bias_stride = columns;
    options.mask = made.mask.data();
    options.flags = MPNUM_SOFTMAX_LIMIT;
    break;
  case 16:
    options.sinks = made.sinks.data();
    options.mask = made.mask.data();
    options.scale = 0.3f;
    options.lengths = made.lengths.data();
    break;
  case 17:
    options.sinks = made.sinks.data();
    options.slopes = made.slopes.data();
    options.bias = made.bias.data();
    options.scale = 1.7f;
    options.first_length = options.length_step = 1;
    break;
  case 1: options.scale = 0.125f; break;
  case 2: options.scale = 10; break;
  case 3: options.scale = 0x1p-149f; break;
  case 4: options.flags = MPNUM_SOFTMAX_MASKED; break;
  case 5: options.flags = MPNUM_SOFTMAX_LIMIT; break;
  case 6: options.lengths = made.lengths.data(); break;
  case 7: options.first_length = options.length_step = 1; break;
  case 8:
    options.mask = made.mask.data();
    options.mask_stride = columns;
    options.scale = 1.1f;
    break;
  case 9: options.mask = made.mask.data(); break; /* one for all */
  case 10:
    options.bias = made.bias.data();
    options.bias_stride = columns;
    options.scale = 0.3f;
    break;
  case 11:
    options.bias = made.bias.data();
    options.mask = made.mask.data() + 1;
    options.flags = MPNUM_SOFTMAX_LIMIT;
    options.first_length = static_cast<std::int64_t>(columns);
    options.length_step = -1;
    break;
  case 12: options.bias = made.bias.data(), options.scale = 0x1p-149f; break;
  case 13:
    options.flags = MPNUM_SOFTMAX_LIMIT | MPNUM_SOFTMAX_MASKED;
    options.lengths = made.lengths.data();
    options.first_length = -2;
    options.length_step = 3;
    break;
  default: break;
  }
}

/* Whether two matrices have the same bytes, what is between their rows, too. */
template <class T>
void check_same(const vector<T> &got, const vector<T> &want, const char *what,
                const matrix &shape, unsigned which) {
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) == 0) continue;
    CHECK(false, "%s of %zu x %zu, options %u, %s: row %zu, element %zu: %x, want %x",
          what, shape.rows, shape.columns, which, simt::active_schedule.name,
          shape.to_stride ? i / shape.to_stride : i,
          shape.to_stride ? i % shape.to_stride : 0, code_of(got[i]), code_of(want[i]));
    return;
  }
}

template <class Dst, class Src> void check_softmax(const matrix &shape, unsigned which) {
  const vector<Src> src = random_rows<Src>(shape, which);
  const std::size_t rows = shape.rows, columns = shape.columns;
  choice chosen;
  choose(chosen, which, rows, columns);
  for (int is_log = 0; is_log < 2; ++is_log) {
    vector<Dst> want = guarded_rows<Dst>(shape), got = want;
    vector<mpnum_row_status> want_status(rows, MPNUM_ROW_IGNORED),
        got_status = want_status;
    const auto launch = is_log ? mpnum_launch_log_softmax_rows<Dst, const Src>
                               : mpnum_launch_softmax_rows<Dst, const Src>;
    const auto host = is_log ? mpnum_log_softmax_rows : mpnum_softmax_rows;
    CHECK((*host)(to_rows(want, shape), of_rows(src, shape), &chosen.options,
                  want_status.data()) == MPNUM_OK,
          "host");
    CHECK_LAUNCH((*launch)(view_to(got, shape), view_of(src, shape), &chosen.options,
                           got_status.data(), nullptr));
    check_same(got, want, is_log ? "log-softmax" : "softmax", shape, which);
    CHECK(got_status == want_status, "status of %zu x %zu, %u", rows, columns, which);
  }
  vector<float> want(rows + 1, -7), got = want;
  CHECK(mpnum_logsumexp_rows(want.data(), of_rows(src, shape), &chosen.options,
                             nullptr) == MPNUM_OK,
        "host");
  CHECK_LAUNCH(mpnum_launch_logsumexp_rows(
      got.data(), mpnum::matrix_of(src.data(), rows, columns, shape.from_stride),
      &chosen.options, nullptr, nullptr));
  check_same(got, want, "log-sum-exp", shape, which);
}

/* By the launcher that takes a cap, if that is asked, and with a cap or none. */
template <class G, class Src, class Index, bool by_cap = false>
void check_cross_entropy(const matrix &shape, unsigned which, float smoothing, int flags,
                         const mpnum_softmax_cap *cap = nullptr) {
  const vector<Src> src = random_rows<Src>(shape, which);
  const std::size_t rows = shape.rows, columns = shape.columns;
  vector<Index> targets(rows);
  vector<float> want_loss(rows + 1, -7), got_loss = want_loss;
  vector<G> want = guarded_rows<G>(shape), got;
  vector<mpnum_row_status> want_status(rows), got_status = want_status;
  std::size_t &counted = placed<std::size_t>(0);
  std::mt19937 random(which);
  choice chosen;
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  choose(chosen, which, rows, columns);
  options.softmax = chosen.options;
  options.softmax.sinks = nullptr; /* which are refused */
  options.softmax.cap = cap;
  options.softmax.flags |= flags;
  options.label_smoothing = smoothing;
  options.factor = -0.3f;
  options.counted = &counted;
  for (G &x : want)
    x = mpnum::row_element_<G>::out(static_cast<float>(random() % 64) / 8 - 4);
  got = want;
  for (std::size_t i = 0; i < rows; ++i)
    targets[i] = static_cast<Index>(
        i % 5 == 4 || !columns ? -100 : static_cast<std::int64_t>(random() % columns));
  mpnum_status status;
  if constexpr (sizeof(Index) == 8) {
    status = mpnum_cross_entropy_rows(want_loss.data(), to_rows(want, shape),
                                      of_rows(src, shape), targets.data(), &options,
                                      want_status.data());
  } else {
    status = mpnum_cross_entropy_rows_i32(want_loss.data(), to_rows(want, shape),
                                          of_rows(src, shape), targets.data(), &options,
                                          want_status.data());
  }
  CHECK(status == MPNUM_OK, "host");
  const std::size_t want_counted = counted;
  const auto launch = by_cap ? mpnum_launch_cross_entropy_capped_rows<G, const Src, Index>
                             : mpnum_launch_cross_entropy_rows<G, const Src, Index>;
  CHECK_LAUNCH(launch(got_loss.data(), view_to(got, shape), view_of(src, shape),
                      targets.data(), &options, got_status.data(), nullptr));
  check_same(got_loss, want_loss, "loss", {rows, columns, 0, 0}, which);
  check_same(got, want, "gradient", shape, which);
  CHECK(got_status == want_status && counted == want_counted, "status, %u", which);
  got_loss.assign(rows + 1, -7);
  CHECK_LAUNCH(launch(got_loss.data(),
                      mpnum::matrix_of(static_cast<G *>(nullptr), rows, columns),
                      view_of(src, shape), targets.data(), &options, nullptr, nullptr));
  check_same(got_loss, want_loss, "loss alone", {rows, columns, 0, 0}, which);
}

template <class Dx, class Dy, class Y>
void check_backward(const matrix &shape, unsigned which, int flags) {
  const vector<Dy> dy = random_rows<Dy>(shape, 0);
  vector<Y> y = random_rows<Y>(shape, which + 1);
  choice chosen;
  choose(chosen, which, shape.rows, shape.columns);
  chosen.options.flags = flags;
  for (int is_log = 0; is_log < 2; ++is_log) {
    vector<Dx> want = random_rows<Dx>(shape, which + 2), got;
    const auto launch =
        is_log ? mpnum_launch_log_softmax_backward_rows<Dx, const Dy, const Y>
               : mpnum_launch_softmax_backward_rows<Dx, const Dy, const Y>;
    const auto host =
        is_log ? mpnum_log_softmax_backward_rows : mpnum_softmax_backward_rows;
    matrix to = shape;
    to.to_stride = shape.from_stride;
    got = want;
    CHECK((*host)(to_rows(want, to), of_rows(dy, shape), of_rows(y, shape),
                  &chosen.options) == MPNUM_OK,
          "host");
    CHECK_LAUNCH((*launch)(view_to(got, to), view_of(dy, shape), view_of(y, shape),
                           &chosen.options, nullptr));
    check_same(got, want, is_log ? "log backward" : "backward", to, which);
  }
}

/* With a cap, or none, by the launchers that take one. */
template <class A, class B>
void check_capped(const matrix &shape, unsigned which, int flags) {
  const mpnum_softmax_cap cap = mpnum_softmax_cap_of(which % 2 ? 30.0f : 0x1p-3f);
  const vector<A> x = random_rows<A>(shape, which), dy = random_rows<A>(shape, which + 1);
  matrix to = shape;
  to.to_stride = shape.from_stride;
  vector<B> y = random_rows<B>(to, which), got_y = y, dx = random_rows<B>(to, which + 2),
            got_dx = dx;
  vector<mpnum_row_status> status(shape.rows, MPNUM_ROW_IGNORED), got_status = status;
  choice chosen;
  choose(chosen, which, shape.rows, shape.columns);
  if (which % 3) chosen.options.cap = &cap; /* not of scales too small for one */
  must(mpnum_softmax_rows(to_rows(y, to), of_rows(x, shape), &chosen.options,
                          status.data()));
  CHECK_LAUNCH(mpnum_launch_softmax_capped_rows(view_to(got_y, to), view_of(x, shape),
                                                &chosen.options, got_status.data(),
                                                nullptr));
  check_same(got_y, y, "capped softmax", to, which);
  CHECK(got_status == status, "status of capped rows, %u", which);
  chosen.options.flags = flags;
  y = random_rows<B>(to, which + 3); /* any, also where x is Inf or NaN */
  must(mpnum_softmax_capped_backward_rows(to_rows(dx, to), of_rows(dy, shape),
                                          of_rows(y, shape), of_rows(x, shape),
                                          &chosen.options));
  CHECK_LAUNCH(mpnum_launch_softmax_capped_backward_rows(
      view_to(got_dx, to), view_of(dy, shape), view_of(y, shape), view_of(x, shape),
      &chosen.options, nullptr));
  check_same(got_dx, dx, "capped backward", to, which);
  check_cross_entropy<B, A, std::int64_t, true>(to, which, which % 4 ? 0 : 0.1f, flags,
                                                which % 3 ? &cap : nullptr);
}

template <class A, class B> void check_all(const matrix &shape, unsigned which) {
  const float smoothing = which % 3 == 0 ? 0 : which % 3 == 1 ? 0.1f : 1;
  check_softmax<A, B>(shape, which);
  check_cross_entropy<A, B, std::int64_t>(shape, which, smoothing,
                                          which % 2 ? MPNUM_SOFTMAX_ACCUMULATE : 0);
  check_backward<A, B, B>(shape, which, which % 2 ? MPNUM_SOFTMAX_ACCUMULATE : 0);
  check_capped<A, B>(shape, which, which % 4 ? 0 : MPNUM_SOFTMAX_ACCUMULATE);
}

#ifdef TEST_TYPES
# define SOME_ROWS 65u
typedef float first, second;
#else
# define SOME_ROWS 1300u
typedef mpnum_e4m3 first;
typedef mpnum_f16 second;
#endif

/* The borders of threads a row, of a tile, of what is kept, of a block's tiles. */
void rows_of_any_length_have_the_bits_of_the_host(void) {
#ifdef TEST_TYPES
  const std::size_t sizes[] = {0, 1, 2, 17, 64, 65, 300, 2049};
#else
  const std::size_t sizes[] = {0,  1,  2,  3,   5,   8,   15,  17,   31,   33,
                               63, 64, 65, 127, 128, 129, 300, 1025, 2048, 2049};
#endif
  unsigned k = 0;
  for (const std::size_t columns : sizes) {
    const std::size_t rows = columns < 40 ? 11 : columns < 400 ? 9 : 3;
    const matrix shape = {rows, columns, columns + 1, columns + 3};
#ifdef TEST_TYPES
    simt::use(simt::schedules[k % 6]);
    check_all<first, second>(shape, k % OPTIONS);
#else
    in_every_schedule([&] { check_all<first, second>(shape, k % OPTIONS); });
#endif
    ++k;
  }
}
void every_option_has_the_bits_of_the_host(void) {
  for (unsigned which = 0; which < OPTIONS; ++which) {
    simt::use(simt::schedules[which % 6]);
    check_softmax<float, float>({7, 300, 300, 300}, which); /* pairs that are whole */
    check_softmax<float, float>({2, 2301, 2304, 2304}, which);
    check_all<first, second>({13, 6, 7, 6}, which);
#ifdef TEST_TYPES
    if (which % 5 != 1) continue;
#endif
    check_all<first, second>({7, 70, 70, 71}, which);
    check_all<first, second>({2, 2301, 2301, 2301}, which);
  }
}

/* Rows whose places are those of vectors, of which the last element is often none. */
void rows_of_vectors_have_the_bits_of_the_host(void) {
  const matrix shapes[] = {{7, 301, 304, 304},
                           {3, 2301, 2304, 2304},
                           {9, 40, 40, 40},
                           {9, 33, 40, 40},
                           {2, 12301, 12304, 12304}};
  const mpnum_softmax_cap cap = mpnum_softmax_cap_of(3);
  unsigned k = 0;
  for (const matrix &shape : shapes) {
    for (unsigned which : {0u, 1u, 5u, 6u}) {
      simt::use(simt::schedules[k++ % 6]);
      check_softmax<mpnum_f16, mpnum_f16>(shape, which);
      check_cross_entropy<mpnum_f16, mpnum_f16, std::int64_t>(
          shape, which, 0, k % 4 ? 0 : MPNUM_SOFTMAX_ACCUMULATE);
      check_cross_entropy<mpnum_f16, mpnum_f16, std::int64_t, true>(shape, which, 0, 0,
                                                                    &cap);
      check_backward<mpnum_f16, mpnum_f16, mpnum_f16>(
          shape, which, k % 4 ? 0 : MPNUM_SOFTMAX_ACCUMULATE);
    }
  }
}
/* Rows for which there is no room: by copies that go on meanwhile where all of them are
 * aligned, and else not. The last whole stage ends inside a tile, with the row, or with
 * some elements behind it. */
template <class T> void check_staged(std::size_t columns) {
  const std::size_t odd = columns + 15;
  const matrix shapes[] = {{2, odd, columns + 32, columns + 32},
                           {1, columns, columns, columns},
                           {2, columns + 2, columns + 2, columns + 2}};
  unsigned k = 0;
  for (const matrix &shape : shapes) {
    simt::use(simt::schedules[k % 6]);
    check_softmax<T, T>(shape, k % 2);
#if !TEST_ON_GPU
    CHECK(simt::shared_asked == 32768, "%zu bytes", simt::shared_asked);
#endif
    simt::use(simt::schedules[(k + 3) % 6]);
    check_cross_entropy<T, T, std::int64_t>(shape, k % 2, k == 1 ? 0.1f : 0,
                                            k == 2 ? MPNUM_SOFTMAX_ACCUMULATE : 0);
    ++k;
  }
  const matrix shape = {1, odd, odd, odd};
  vector<T> row = random_rows<T>(shape, 9), want = row;
  simt::use(simt::schedules[5]);
  must(mpnum_softmax_rows(to_rows(want, shape), of_rows(row, shape), nullptr, nullptr));
  CHECK_LAUNCH(mpnum_launch_softmax_rows(view_to(row, shape), view_of(row, shape),
                                         nullptr, nullptr, nullptr));
  check_same(row, want, "softmax in place", shape, 9);
}
void rows_without_room_are_staged(void) {
#if TEST_ON_GPU
  const std::size_t columns = 70 * 1024;
#else
  const std::size_t columns = 33 * 1024;
  simt::shared_optin = (65 << 10) + 64; /* of a GPU with a little more than sm_75 */
#endif
  check_staged<float>(columns);
  check_staged<mpnum_f16>(columns);
#ifndef TEST_TYPES
  check_staged<mpnum_bf16>(columns);
  check_staged<mpnum_e4m3>(columns);
#endif
#if !TEST_ON_GPU
  simt::shared_optin = simt::shared_most;
#endif
}
/* What is read alone: one row that repeats, and rows that overlap. */
void rows_that_are_read_may_overlap(void) {
  for (std::size_t stride : {0u, 1u, 69u}) {
    const matrix shape = {7, 70, stride, 71};
    const vector<float> src = random_rows<float>({7, 70, 70, 71}, 9);
    vector<float> want = guarded_rows<float>(shape), got = want;
    must(mpnum_softmax_rows(to_rows(want, shape), of_rows(src, shape), nullptr, nullptr));
    CHECK_LAUNCH(mpnum_launch_softmax_rows(view_to(got, shape), view_of(src, shape),
                                           nullptr, nullptr, nullptr));
    check_same(got, want, "softmax", shape, 0);
  }
}
void rows_of_one_value_have_the_bits_of_the_host(void) {
  for (unsigned k = 0; k < values_of_rows; ++k)
    check_all<first, second>({3, 70, 70, 71}, of_one_value + k);
}

#ifndef TEST_TYPES
template <class A, class B> void check_types(void) {
  for (unsigned which = 0; which < OPTIONS; ++which) {
    simt::use(simt::schedules[which % 6]);
    check_all<A, B>({13, 1 + which, OPTIONS + 2, OPTIONS + 1}, which);
    check_all<A, B>({5, 131, 131, 140}, which);
  }
  check_cross_entropy<B, A, std::int32_t>({23, 33, 33, 34}, 4, 0.25f, 0);
}
void every_type_has_the_bits_of_the_host(void) {
  check_types<float, float>();
  check_types<float, mpnum_e5m2>();
  check_types<mpnum_f16, mpnum_e4m3>();
  check_types<mpnum_bf16, mpnum_bf16>();
  check_types<mpnum_e5m2, float>();
}
void long_rows_are_kept_or_read_again(void) {
  if (is_fast()) check_all<mpnum_bf16, mpnum_f16>({5000, 1000, 1000, 1000}, 8);
  for (unsigned columns : {4096u, 12032u, 12033u, 32769u, 70001u}) {
    simt::use(simt::schedules[columns % 6]);
    check_all<float, mpnum_f16>({2, columns, columns, columns}, columns % OPTIONS);
    if (columns < 40000)
      check_all<mpnum_bf16, float>({2, columns, columns + 1, columns + 1}, 0);
  }
}
void a_row_of_a_million(void) {
  simt::use(simt::schedules[1]);
  check_all<float, mpnum_bf16>({1, 1000000, 1000000, 1000000}, 1);
}
void a_million_rows_of_one(void) {
  simt::use(simt::schedules[2]);
  check_softmax<float, float>({1000000, 1, 1, 1}, 4);
}
#endif

#if !TEST_ON_GPU
/* What a GPU lets a kernel have is used, and no more is asked for. Rows of which many
 * share a block, too, leave room for what the kernel has anyway. */
void rows_are_kept_where_the_device_has_room(void) {
  struct {
    std::size_t optin;
    unsigned columns, rows_kept;
  } const cases[] = {
      {48 << 10, 12032, 1},  {48 << 10, 12033, 0},  {227 << 10, 1536, 4},
# ifndef TEST_TYPES
      {64 << 10, 16129, 0},  {99 << 10, 25087, 1},  {99 << 10, 25089, 0},
      {227 << 10, 57856, 1}, {227 << 10, 57857, 0},
# endif
      {64 << 10, 16128, 1},
  };
  simt::use(simt::schedules[0]);
  for (const auto &one : cases) {
    const std::size_t odd = one.columns | 1; /* no pairs, which threads would hold */
    const matrix shape = {1, one.columns, odd, odd};
    const vector<float> src = random_rows<float>(shape, 0);
    vector<float> want(src.size()), got = want;
    simt::shared_optin = one.optin;
    simt::shared_allowed.clear();
    must(mpnum_softmax_rows(to_rows(want, shape), of_rows(src, shape), nullptr, nullptr));
    CHECK_LAUNCH(mpnum_launch_softmax_rows(view_to(got, shape), view_of(src, shape),
                                           nullptr, nullptr, nullptr));
    check_same(got, want, "softmax", shape, 0);
    const std::size_t bytes = one.rows_kept * ((one.columns + 1) / 2 * 2) * sizeof(float);
    const std::size_t stages = one.optin > 64 << 10 ? 32768 : 0;
    CHECK(simt::shared_asked == (bytes ? bytes : stages),
          "%u columns of %zu bytes: %zu asked for, not %zu", one.columns, one.optin,
          simt::shared_asked, bytes ? bytes : stages);
    if (one.columns < 25000) continue;
    CHECK_LAUNCH(mpnum_launch_softmax_backward_rows(
        mpnum::matrix_of(got.data(), 1, one.columns),
        mpnum::matrix_of(src.data(), 1, one.columns),
        mpnum::matrix_of(want.data(), 1, one.columns), nullptr, nullptr));
    const unsigned most = static_cast<unsigned>(one.optin - 1024) / 8;
    CHECK(simt::shared_asked == (one.columns <= most ? 2 * bytes : 0), "of a gradient");
  }
  simt::shared_optin = simt::shared_most;
}
#endif

/* Losses that doubles add up exactly, so that their order does not show. */
void losses_are_summed_and_averaged(void) {
  in_every_schedule([] {
    for (std::size_t rows : {0u, 1u, SOME_ROWS}) {
      const matrix shape = {rows, 8, 8, 8};
      const vector<float> src = random_rows<float>(shape, 9);
      vector<std::int32_t> targets(rows + 1); /* not NULL */
      vector<float> want(src.size()), got = want;
      for (std::size_t i = 0; i < rows; ++i)
        targets[i] = i % 3 == 0 ? 3 : static_cast<std::int32_t>(i % 8);
      for (mpnum_reduction reduction : {MPNUM_REDUCTION_SUM, MPNUM_REDUCTION_MEAN})
        for (int ignored : {3, -100}) {
          vector<float> loss(rows + 1, -7), got_loss(rows + 1, -7);
          std::size_t &counted = placed<std::size_t>(99);
          std::size_t &got_counted = placed<std::size_t>(98);
          mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
          options.reduction = reduction;
          options.ignore_index = ignored;
          options.counted = &counted;
          must(mpnum_cross_entropy_rows_i32(loss.data(), to_rows(want, shape),
                                            of_rows(src, shape), targets.data(), &options,
                                            nullptr));
          options.counted = &got_counted;
          CHECK_LAUNCH(mpnum_launch_cross_entropy_rows(
              got_loss.data(), mpnum::matrix_of(got.data(), rows, 8),
              mpnum::matrix_of(src.data(), rows, 8), targets.data(), &options, nullptr,
              nullptr));
          check_same(got, want, "gradient of a mean", shape, 0);
          CHECK(code_of(got_loss[0]) == code_of(loss[0]) && counted == got_counted,
                "loss of %zu: %g, want %g", rows, static_cast<double>(got_loss[0]),
                static_cast<double>(loss[0]));
        }
    }
  });
}

void the_next_launch_works(void) {
  const matrix shape = {5, 8, 8, 8};
  const vector<float> src = random_rows<float>(shape, 9);
  const vector<std::int32_t> targets = {0, 1, -100, 7, 3};
  vector<float> want(src.size()), got(src.size()), loss(1), got_loss(5);
  std::size_t &counted = placed<std::size_t>(0);
  mpnum_cross_entropy_options options = mpnum_cross_entropy_default();
  options.reduction = MPNUM_REDUCTION_MEAN;
  options.counted = &counted;
  must(mpnum_cross_entropy_rows_i32(loss.data(), to_rows(want, shape),
                                    of_rows(src, shape), targets.data(), &options,
                                    nullptr));
  counted = 99;
  let_launches_fail(
      "a mean", 3,
      [&] {
        return mpnum_launch_cross_entropy_rows(
            got_loss.data(), mpnum::matrix_of(got.data(), 5, 8),
            mpnum::matrix_of(src.data(), 5, 8), targets.data(), &options, nullptr,
            nullptr);
      },
      [&] {
        check_same(got, want, "gradient", shape, 0);
        CHECK(code_of(got_loss[0]) == code_of(loss[0]) && counted == 4, "loss or count");
        got.assign(got.size(), 0);
        counted = 99;
      });
}

/* Which the host refuses, a device finds only while it runs. */
void a_target_that_is_no_class_is_not_read(void) {
  const vector<float> src = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const vector<std::int64_t> targets = {3, -1, 2};
  vector<float> loss(3), gradient(9);
  vector<mpnum_row_status> status(3);
  CHECK_LAUNCH(mpnum_launch_cross_entropy_rows(
      loss.data(), mpnum::matrix_of(gradient.data(), 3, 3),
      mpnum::matrix_of(src.data(), 3, 3), targets.data(), nullptr, status.data(),
      nullptr));
  for (unsigned i = 0; i < 9; ++i)
    CHECK((code_of(gradient[i]) == 0x7fffffff) == (i < 6), "gradient %u", i);
  for (unsigned i = 0; i < 3; ++i)
    CHECK((code_of(loss[i]) == 0x7fffffff) == (i < 2) &&
              status[i] == (i < 2 ? MPNUM_ROW_NO_CLASS : MPNUM_ROW_OK),
          "row %u", i);
}

/* Of what the laws leave out: memory that overlaps, what is missing, sums in place. */
void what_does_not_fit_launches_nothing(void) {
  vector<float> floats(132);
  const vector<std::int64_t> classes(4);
  float *const data = &floats[0], *const other = &floats[64], *const loss = &floats[128];
  const struct {
    float *dst;
    std::size_t to;
    const float *src;
    std::size_t from;
    bool is_sound;
  } views[] = {
      {other, 8, data, 8, true},       {other, 7, data, 8, false},
      {data, 9, data, 8, false},       {data + 1, 8, data, 8, false},
      {data + 31, 8, data, 8, false},  {data, 8, data + 1, 8, false},
      {data, 8, data + 31, 8, false},  {data + 32, 8, data, 8, true},
      {data, 8, data + 32, 8, true},   {data + 8, 16, data, 16, true}, /* between rows */
      {data, 17, data + 8, 17, true},  {data + 24, 16, data, 16, true},
      {data + 7, 16, data, 16, false}, {data, 16, data + 9, 16, false},
      {data + 8, 16, data, 15, false}, {data, 15, data + 8, 15, false},
      {data + 8, 8, data, 0, true},    {data + 7, 8, data, 0, false},
      {nullptr, 8, data, 8, false},    {other, 8, nullptr, 8, false},
  };
  mpnum_softmax_options options = mpnum_softmax_default();
  mpnum_cross_entropy_options losses = mpnum_cross_entropy_default();
  const auto at = [](float *x) { return mpnum::matrix_of(x, 4, 8); };
  const auto backward = [&](float *dx, float *dy, float *y) {
    return mpnum_launch_softmax_backward_rows(at(dx), at(dy), at(y), &options, nullptr);
  };
  const auto loss_of = [&](float *to, float *gradient, const std::int64_t *of) {
    return mpnum_launch_cross_entropy_rows(to, at(gradient), at(data), of, &losses,
                                           nullptr, nullptr);
  };
  simt::launch_error = sound; /* which a launch would return */
  for (const auto &one : views) {
    const cudaError_t error = mpnum_launch_softmax_rows(
        mpnum::matrix_of(one.dst, 4, 8, one.to),
        mpnum::matrix_of(one.src, 4, 8, one.from), nullptr, nullptr, nullptr);
    CHECK(error == (one.is_sound ? sound : cudaErrorInvalidValue), "views %td: %s",
          &one - views, cudaGetErrorName(error));
  }
  check_refused(mpnum_launch_softmax_rows(
                    mpnum::matrix_of(reinterpret_cast<mpnum_f16 *>(data), 4, 8), at(data),
                    nullptr, nullptr, nullptr),
                "another type in place");
  check_refused(
      mpnum_launch_logsumexp_rows(data + 31, at(data), nullptr, nullptr, nullptr),
      "log-sum-exp over its source");
  CHECK(backward(other, data, data) == sound &&
            loss_of(loss, other, &classes[0]) == sound,
        "these are launched");
  check_refused(backward(other, nullptr, data), "no gradient");
  check_refused(backward(other, other + 1, data), "a gradient over another");
  check_refused(backward(other, data, other + 1), "a gradient over rows");
  options.flags = losses.softmax.flags = MPNUM_SOFTMAX_ACCUMULATE;
  check_refused(backward(other, data, other), "adding in place");
  check_refused(loss_of(loss, data, &classes[0]), "adding in place");
  losses.softmax.flags = 0;
  check_refused(loss_of(data + 31, other, &classes[0]), "a loss over rows");
  check_refused(loss_of(other + 31, other, &classes[0]), "a loss over gradients");
  check_refused(loss_of(loss, data + 8, &classes[0]), "a gradient over rows");
  check_refused(loss_of(nullptr, other, &classes[0]), "no loss");
  check_refused(loss_of(loss, other, nullptr), "no targets");
  losses.reduction = MPNUM_REDUCTION_MEAN;
  check_refused(loss_of(loss, other, &classes[0]), "a mean without a count");
  options.flags = 0;
  const auto capped = [&](float of, float scale) {
    const mpnum_softmax_cap cap = mpnum_softmax_cap_of(of);
    options.cap = &cap;
    options.scale = scale;
    return mpnum_launch_softmax_capped_rows(at(other), at(data), &options, nullptr,
                                            nullptr);
  };
  const auto capped_backward = [&](float *dx, float *x, int flags) {
    const mpnum_softmax_cap cap = mpnum_softmax_cap_of(1);
    options.cap = &cap;
    options.flags = flags;
    return mpnum_launch_softmax_capped_backward_rows(at(dx), at(data), at(data), at(x),
                                                     &options, nullptr);
  };
  CHECK(capped(50, 1) == sound, "a cap");
  check_refused(capped(0, 1), "a cap of 0");
  check_refused(capped(-1, 1), "a cap below 0");
  check_refused(capped(infinity, 1), "a cap of Inf");
  check_refused(capped(0x1p-100f, 0x1p100f), "a scale too large for a cap");
  check_refused(capped(0x1p100f, 0x1p-100f), "a scale too small for a cap");
  options.scale = 1;
  CHECK(capped_backward(other, data, 0) == sound &&
            capped_backward(other, other, 0) == sound,
        "a gradient in the place of what was capped");
  check_refused(capped_backward(other, other, MPNUM_SOFTMAX_ACCUMULATE),
                "adding to what was capped");
  check_refused(capped_backward(other, other + 1, 0), "a gradient over capped rows");
  check_refused(capped_backward(other, nullptr, 0), "a gradient without what was capped");
  simt::launch_error = cudaSuccess;
}

} // namespace

int main(int count, char **arguments) {
  return run_tests(count, arguments, {
    TEST(rows_of_any_length_have_the_bits_of_the_host),
        TEST(every_option_has_the_bits_of_the_host),
        TEST(rows_of_vectors_have_the_bits_of_the_host),
        TEST(rows_without_room_are_staged), TEST(rows_that_are_read_may_overlap),
        TEST(rows_of_one_value_have_the_bits_of_the_host),
#ifndef TEST_TYPES
        TEST(every_type_has_the_bits_of_the_host), TEST(long_rows_are_kept_or_read_again),
        TEST(a_row_of_a_million), TEST(a_million_rows_of_one),
#endif
#if !TEST_ON_GPU
        TEST(rows_are_kept_where_the_device_has_room),
#endif
        TEST(losses_are_summed_and_averaged), TEST(the_next_launch_works),
        TEST(a_target_that_is_no_class_is_not_read),
        TEST(what_does_not_fit_launches_nothing),
  });
}
