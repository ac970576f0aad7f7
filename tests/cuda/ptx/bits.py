# SPDX-License-Identifier: MIT
"""Instructions on bit fields, on unsigned numbers of the width of a register."""

from ptx.values import signed


def reverse(value, width):
    return int(f"{value:0{width}b}"[::-1], 2)


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


def find_highest(value, width, is_signed, is_distance):
    """bfind: the place of the first bit from the top that is not a sign bit."""
    if is_signed and value >> (width - 1):
        value ^= (1 << width) - 1
    return 0xffffffff if value == 0 else width - value.bit_length() if is_distance else value.bit_length() - 1


def permute(a, b, selector):
    both, result = b << 32 | a, 0
    for place in range(4):
        choice = selector >> 4 * place & 15
        byte = both >> 8 * (choice & 7) & 0xff
        result |= ((0xff if byte & 0x80 else 0) if choice & 8 else byte) << 8 * place
    return result


def lookup(a, b, c, table):
    """lop3: each bit of the result is the table's bit for the three bits."""
    result, ones = 0, 0xffffffff
    for row in range(8):
        if table >> row & 1:
            result |= (a if row & 4 else a ^ ones) & (b if row & 2 else b ^ ones) & (c if row & 1 else c ^ ones)
    return result
