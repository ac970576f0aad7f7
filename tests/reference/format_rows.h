/* SPDX-License-Identifier: MIT */
/* The formats as their specifications give them, for tests: OCP OFP8 1.0, OCP MX 1.0,
 * IEEE 754-2019, and the fnuz pair. Typed by hand, from no row of the library.
 *
 * ROW(name, NAME, kind, S, E, M, bias, storage shift, code of max, of Inf, of NaN, zero,
 *     -0, payload, max, min, true min, epsilon, digits, decimal digits, min exp, max exp)
 *   kind     which codes are NaN, Inf and zero: KIND_ of test_queries.c
 *   codes    magnitudes before the storage shift; of Inf and NaN 0, if there is none
 *   zero     1 if there is one: else the lowest exponent is as any other
 *   payload  1 if a NaN widens to f32 as a prefix of its bits
 * and what float.h has of a type, min being the smallest normal value. */
#ifndef MPNUM_TESTS_FORMAT_ROWS_H
#define MPNUM_TESTS_FORMAT_ROWS_H

/* clang-format off */
#define FORMAT_ROWS(ROW) \
 ROW(f16, F16, IEEE, 1, 5, 10, 15, 0, 0x7bff, 0x7c00, 0x7fff, 1, 1, 0, \
     65504, 0x1p-14, 0x1p-24, 0x1p-10, 11, 3, -13, 16) \
 ROW(bf16, BF16, IEEE, 1, 8, 7, 127, 0, 0x7f7f, 0x7f80, 0x7fff, 1, 1, 1, \
     0x1.FEp127, 0x1p-126, 0x1p-133, 0x1p-7, 8, 2, -125, 128) \
 ROW(tf32, TF32, IEEE, 1, 8, 10, 127, 13, 0x3fbff, 0x3fc00, 0x3ffff, 1, 1, 1, \
     0x1.FFCp127, 0x1p-126, 0x1p-136, 0x1p-10, 11, 3, -125, 128) \
 ROW(e5m2, E5M2, IEEE, 1, 5, 2, 15, 0, 0x7b, 0x7c, 0x7f, 1, 1, 0, \
     57344, 0x1p-14, 0x1p-16, 0.25, 3, 0, -13, 16) \
 ROW(e4m3, E4M3, FN, 1, 4, 3, 7, 0, 0x7e, 0, 0x7f, 1, 1, 0, \
     448, 0x1p-6, 0x1p-9, 0.125, 4, 0, -5, 9) \
 ROW(e5m2fnuz, E5M2FNUZ, FNUZ, 1, 5, 2, 16, 0, 0x7f, 0, 0x80, 1, 0, 0, \
     57344, 0x1p-15, 0x1p-17, 0.25, 3, 0, -14, 16) \
 ROW(e4m3fnuz, E4M3FNUZ, FNUZ, 1, 4, 3, 8, 0, 0x7f, 0, 0x80, 1, 0, 0, \
     240, 0x1p-7, 0x1p-10, 0.125, 4, 0, -6, 8) \
 ROW(e3m4, E3M4, IEEE, 1, 3, 4, 3, 0, 0x6f, 0x70, 0x78, 1, 1, 0, \
     15.5, 0x1p-2, 0x1p-6, 0.0625, 5, 1, -1, 4) \
 ROW(e8m0, E8M0, E8M0, 0, 8, 0, 127, 0, 0xfe, 0, 0xff, 0, 0, 0, \
     0x1p127, 0x1p-127, 0x1p-127, 1, 1, 0, -126, 128) \
 ROW(e3m2, E3M2, FINITE, 1, 3, 2, 3, 0, 0x1f, 0, 0, 1, 1, 0, \
     28, 0.25, 0.0625, 0.25, 3, 0, -1, 5) \
 ROW(e2m3, E2M3, FINITE, 1, 2, 3, 1, 0, 0x1f, 0, 0, 1, 1, 0, \
     7.5, 1, 0.125, 0.125, 4, 0, 1, 3) \
 ROW(e2m1, E2M1, FINITE, 1, 2, 1, 1, 0, 0x7, 0, 0, 1, 1, 0, \
     6, 1, 0.5, 0.5, 2, 0, 1, 3)
/* Types of scales, by number alone: LLVM's AMDGPU documentation, the PTX ISA. */
#define SCALE_FORMAT_ROWS(ROW) \
 ROW(ue5m3, UE5M3, FN, 0, 5, 3, 15, 0, 0xfe, 0, 0xff, 1, 0, 0, \
     114688, 0x1p-14, 0x1p-17, 0.125, 4, 0, -13, 17) \
 ROW(ue4m3, UE4M3, FN, 0, 4, 3, 7, 0, 0x7e, 0, 0x7f, 1, 0, 0, \
     448, 0x1p-6, 0x1p-9, 0.125, 4, 0, -5, 9)
/* clang-format on */

#endif
