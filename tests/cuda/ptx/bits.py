# SPDX-License-Identifier: MIT
"""Instructions on bit fields, on unsigned numbers of the width of a register."""

from ptx.values import signed


def extract(value, start, length, width, is_signed):
    """bfe: bits past the top repeat the sign, or are 0."""
    start, length = start & 0xff, length & 0xff
    number = signed(value, width) if is_signed else value
    taken = number >> min(start, width)
    if length >= width:
        return taken & ((1 << width) - 1)
    taken &= (1 << length) - 1
    if is_signed and length and taken >> (length - 1):
        taken -= 1 << length
    return taken & ((1 << width) - 1)


def insert(value, into, start, length, width):
    start, length = start & 0xff, length & 0xff
    mask = ((1 << length) - 1) << start & ((1 << width) - 1)
    return into & ~mask | value << start & mask


def of_three(a, b, c, table):
    """lop3: bit k of table is what three bits give, a the highest of the number k."""
    result = 0
    for k in range(8):
        if table >> k & 1:
            result |= (a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c)
    return result & 0xffffffff


def permute(a, b, selector):
    both, result = b << 32 | a, 0
    for place in range(4):
        choice = selector >> 4 * place & 15
        byte = both >> 8 * (choice & 7) & 0xff
        result |= ((0xff if byte & 0x80 else 0) if choice & 8 else byte) << 8 * place
    return result


