# SPDX-License-Identifier: MIT
# The magnitude of tanh of f32 as mpnumv_tanh of activations.inc computes it: z rounded, where -2 |x| = n log 2 + high
# + minor and power is 2^n. test_errors.py compares constants and results with the header's, and asks what follows the
# definitions.
@rn = float<ieee_32, ne>;
log2_rest = 0x1.05c61p-29;
c0 = 0x1.fffffcp-2;
c1 = 0x1.55548ap-3;
c2 = 0x1.55584cp-5;
c3 = 0x1.123f52p-7;
c4 = 0x1.6ad76ep-10;
high = rn(rest_of_x);
minor = rn(n * log2_rest);
r = rn(high + minor);
p3 = rn(c4 * r + c3);
p2 = rn(p3 * r + c2);
p1 = rn(p2 * r + c1);
p0 = rn(p1 * r + c0);
square = rn(r * r);
bend = rn(square * p0 + minor);
most = high * power;
start = rn(power - 1);
start_low = rn(rn(-1 - start) + power);
base = rn(start + most);
lost = rn(start - base);
more = rn(most + start_low);
both = rn(lost + more);
less = rn(bend * power + both);
y = rn(base + less);
gone = rn(base - y);
y_low = rn(gone + less);
two_y = rn(2 + y);
left = rn(2 - two_y);
two_y_left = rn(left + y);
two_y_low = rn(two_y_left + y_low);
inverse = rn(-1 / two_y);
quotient = rn(y * inverse);
e1 = rn(quotient * two_y + y);
e2 = rn(e1 + y_low);
e3 = rn(quotient * two_y_low + e2);
quotient_low = rn(e3 * inverse);
z = quotient + quotient_low;
sum = y + y_low;
polynomial = (((c4 * r + c3) * r + c2) * r + c1) * r + c0;
exact = power * (1 + high + minor + r * r * polynomial) - 1;
remainder = quotient * (2 + sum) + sum;
ratio = -sum / (2 + sum);
# hints
sum - exact -> (y_low - (gone + less)) + (gone - (base - y)) + (less - (bend * power + both)) + (both - (lost + more))
  + (lost - (start - base)) + (more - (most + start_low)) + (start + start_low - (power - 1))
  + power * (bend - (minor + r * r * polynomial));
bend - (minor + r * r * polynomial) -> (bend - (square * p0 + minor)) + (square * p0 - r * r * polynomial);
lost + more -> -(base - (start + most)) + (lost - (start - base)) + (more - (most + start_low)) + start_low;
base - y -> -(y - (base + less)) - less;
gone + less -> -(y - (base + less)) + (gone - (base - y));
left + y -> -(two_y - (2 + y)) + (left - (2 - two_y));
two_y + two_y_low - (2 + sum) -> (two_y_low - (two_y_left + y_low)) + (two_y_left - (left + y)) + (left - (2 - two_y));
quotient * two_y + y -> ((quotient - y * inverse) + y * (inverse - -1 / two_y)) * two_y;
e3 - remainder -> (e3 - (quotient * two_y_low + e2)) + (e2 - (e1 + y_low)) + (e1 - (quotient * two_y + y))
  + quotient * (two_y + two_y_low - (2 + sum));
z - ratio -> (quotient_low - e3 * inverse) + (e3 - remainder) * inverse + remainder * (1 / (2 + sum) + inverse);
remainder -> e3 - (e3 - remainder);
1 / (2 + sum) + inverse -> (inverse - -1 / two_y) + (two_y - (2 + sum)) / ((2 + sum) * two_y);
two_y - (2 + sum) -> (two_y - (2 + y)) - y_low;
