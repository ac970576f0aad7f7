# SPDX-License-Identifier: MIT
# e^x of f32 as mpnumv_exp of func.inc computes it: 2^n times z rounded. test_errors.py compares constants and results
# with the header's, and asks what follows the definitions.
@rn = float<ieee_32, ne>;
per_octave = 0x1.715476p0;
middle = 0x1.bfap10;
zero = 0x1.bf8p10;
log2 = 0x1.62e43p-1;
log2_rest = 0x1.05c61p-29;
c0 = 0x1p0;
c1 = 0x1.fffffp-2;
c2 = 0x1.55547ap-3;
c3 = 0x1.556166p-5;
c4 = 0x1.124836p-7;
c5 = 0x1.646fap-10;
t = rn(x);
scaled = t * per_octave + middle;
sum = rn(scaled);
whole = int<dn>(sum);
n = whole - zero;
far = n * -log2 + t;
high = rn(far);
exact = n * log2_rest + far;
rest = n * log2_rest + high;
r = rn(rest);
p4 = rn(c5 * r + c4);
p3 = rn(p4 * r + c3);
p2 = rn(p3 * r + c2);
p1 = rn(p2 * r + c1);
p0 = rn(p1 * r + c0);
z = p0 * r + c0;
polynomial = (((((c5 * r + c4) * r + c3) * r + c2) * r + c1) * r + c0) * r + c0;
# hints
exact -> t * (1 - per_octave * (log2 - log2_rest)) - (log2 - log2_rest) * ((middle - zero) + (sum - scaled) + (whole - sum));
