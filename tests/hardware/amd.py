# SPDX-License-Identifier: MIT
"""Conversions of AMD's GPUs as the pseudo-code of the CDNA3, CDNA4 and RDNA4 ISA has them. What f32_to_fp8 and its like
do, the ISA leaves to their names; docs/instructions.md says what is taken from where."""

from exact import DOWN, FORMATS, INF, NAN, NEAREST_EVEN, TOWARD_ZERO, UP, goes_to_max, rounded, times

OPEN = "open"
SMALL = {"fp8": "e4m3", "bf8": "e5m2", "fp6": "e2m3", "bf6": "e3m2", "fp4": "e2m1"}
QUIET = {"f32": 0xffc00000, "f16": 0xfe00, "bf16": 0xffc0, "e4m3": 0xff, "e5m2": 0xfe, "e4m3fnuz": 0x80, "e5m2fnuz": 0x80}


def prng(word):
    """V_PRNG_B32."""
    return (word << 1 ^ (197 if word >> 31 else 0)) & 0xffffffff


class Instruction:
    def __init__(self, name):
        mnemonic, _, gfx = name.partition(" ")
        words = mnemonic.removeprefix("v_cvt_").split("_")
        self.is_scaled, self.is_random = "scalef32" in words, "sr" in words
        self.is_toward_zero, self.reads_round = "pkrtz" in words, mnemonic == "v_cvt_f16_f32"
        self.is_shift = mnemonic == "v_cvt_f32_bf16"  # { S0.b16, 16'0U }
        pack = next((word for word in words if "pk" in word), "")
        self.lanes = {"": 1, "pk": 2, "pkrtz": 2, "pk32": 32, "2xpk16": 32}[pack]
        self.by_turns = pack == "2xpk16"
        to, of = words[-2:]
        fnuz = "fnuz" if gfx == "gfx942" else ""
        self.to, self.of = (SMALL[word] + fnuz if word in SMALL else word for word in (to, of))
        self.narrows = to in SMALL
        self.of_bits, self.to_bits = FORMATS[self.of].width, FORMATS[self.to].width
        self.is_wide = self.of_bits + self.to_bits >= 48 and not self.is_scaled  # between f32, f16 and bf16

    def operand_words(self):
        return (self.lanes * self.of_bits + 31) // 32 + self.is_scaled

    def result_words(self):
        return (self.lanes * self.to_bits + 31) // 32

    def elements(self, src):
        whole = sum(word << 32 * i for i, word in enumerate(src))
        codes = [whole >> self.of_bits * i & ((1 << self.of_bits) - 1) for i in range(self.lanes)]
        return [code for pair in zip(codes[:16], codes[16:]) for code in pair] if self.by_turns else codes

    def run(self, src, random, mode):
        """The words of the result, or OPEN."""
        is_ovfl = mode >> 23 & 1
        rounding = TOWARD_ZERO if self.is_toward_zero else NEAREST_EVEN
        if self.reads_round:
            rounding = [NEAREST_EVEN, UP, DOWN, TOWARD_ZERO][mode >> 2 & 3]  # FP_ROUND of double and half
        exponent = (src[-1] >> 23 & 0xff) - 127 if self.is_scaled else 0
        whole = 0
        for i, code in enumerate(self.elements(src)):
            result = self.element(code, -exponent if self.narrows else exponent, random if self.is_random else None, is_ovfl, rounding)
            if result == OPEN:
                return OPEN
            whole |= result << self.to_bits * i
            random = prng(random)
        return [whole >> 32 * i & 0xffffffff for i in range(self.result_words())]

    def element(self, code, exponent, random, is_ovfl, rounding):
        target, value = FORMATS[self.to], FORMATS[self.of].value(code)
        if self.is_shift:
            return code << 16
        if value == NAN:
            return OPEN if self.is_wide or target.specials == "finite" else QUIET[self.to]
        sign = value[0] << target.top
        if random is not None:
            # m = mantissa + S1[31 : 12], of bf8 S1[31 : 11]: as many bits as go; of f16 and bf16, too, in AMD's emulator.
            bits = 23 - target.mantissa
            rounding = (bits, random >> 32 - bits)
        magnitude = None if value[1] == INF else rounded(target, times(value, exponent), rounding)
        if magnitude is None:
            is_max = target.specials == "finite" or (is_ovfl and value[1] != INF and self.to not in ("f32", "bf16"))
            is_max |= value[1] != INF and goes_to_max(rounding, value[0])
            if target.specials == "fnuz" and not is_max:
                return 0x80
            magnitude = target.max if is_max else target.max + 1  # Inf, or e4m3's NaN
        return magnitude if target.specials == "fnuz" and magnitude == 0 else sign | magnitude
