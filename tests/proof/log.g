# SPDX-License-Identifier: MIT
# log(2^n (1 + f)) of f32 as mpnumv_log of func.inc computes it: z rounded. test_errors.py compares constants and results
# with the header's, and asks what follows the definitions.
@rn = float<ieee_32, ne>;
minus_half = -0x1p-1;
log2 = 0x1.62e43p-1;
log2_rest = 0x1.05c61p-29;
c0 = 0x1.555556p-2;
c1 = -0x1.ffff04p-3;
c2 = 0x1.99985cp-3;
c3 = -0x1.559b22p-3;
c4 = 0x1.24d8acp-3;
c5 = -0x1.f34dfcp-4;
c6 = 0x1.bb136p-4;
c7 = -0x1.079184p-3;
c8 = 0x1.e1a4d2p-4;
half = f * minus_half;
high = rn(half * f + f);
beside = rn(f - high);
lost = rn(half * f + beside);
square = rn(f * f);
p7 = rn(c8 * f + c7);
p6 = rn(p7 * f + c6);
p5 = rn(p6 * f + c5);
p4 = rn(p5 * f + c4);
p3 = rn(p4 * f + c3);
p2 = rn(p3 * f + c2);
p1 = rn(p2 * f + c1);
p0 = rn(p1 * f + c0);
tail = rn(f * p0);
sum = rn(n * log2 + high);
added = rn(sum - n * log2);
under = rn(high - added);
low = rn(under + lost);
lower = rn(n * -log2_rest + low);
last = rn(square * tail + lower);
z = sum + last;
polynomial = (((((((c8 * f + c7) * f + c6) * f + c5) * f + c4) * f + c3) * f + c2) * f + c1) * f + c0;
exact = n * (log2 - log2_rest) + (half * f + f) + f * f * (f * polynomial);
# hints
z - exact -> (last - (square * tail + lower)) + (square * tail - f * f * (f * polynomial)) + (lower - (n * -log2_rest + low))
  + (low - (under + lost)) + (under - (high - added)) + (lost - (half * f + beside)) + (beside - (f - high))
  - (added - (sum - n * log2));
high - added -> -(sum - (n * log2 + high)) - (added - (sum - n * log2));
half * f + beside -> -(high - (half * f + f)) + (beside - (f - high));
