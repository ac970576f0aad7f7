/* SPDX-License-Identifier: MIT */
/* The formats, and which functions they have, for tests that enumerate them. */
#ifndef MPNUM_TESTS_FORMAT_LISTS_H
#define MPNUM_TESTS_FORMAT_LISTS_H

/* clang-format off */
/* Written by tools/wrappers (list of formats): do not edit. */
/* ROW(name, NAME, special values, roundings with names, packed forms): the formats with
 * every form under a name of its own. Packed: PAIRS, FOURS too in a word, or in BYTES. */
#define MAIN_FORMATS(ROW) \
 ROW(tf32, TF32, IEEE, RZ_RNA, NONE) \
 ROW(bf16, BF16, IEEE, RZ, PAIRS) \
 ROW(f16, F16, IEEE, RZ, PAIRS) \
 ROW(e5m2, E5M2, IEEE, NONE, FOURS) \
 ROW(e4m3, E4M3, FN, NONE, FOURS)
/* The others. */
#define OTHER_FORMATS(ROW) \
 ROW(e5m2fnuz, E5M2FNUZ, FNUZ, NONE, NONE) \
 ROW(e4m3fnuz, E4M3FNUZ, FNUZ, NONE, NONE) \
 ROW(e3m4, E3M4, IEEE, NONE, NONE) \
 ROW(e8m0, E8M0, E8M0, RU_RZ, PAIRS) \
 ROW(e3m2, E3M2, FINITE, NONE, BYTES) \
 ROW(e2m3, E2M3, FINITE, NONE, BYTES) \
 ROW(e2m1, E2M1, FINITE, NONE, FOURS)
/* End of what tools/wrappers wrote. */
/* clang-format on */

#endif
