# SPDX-License-Identifier: MIT
"""Templates filled in, and their lines broken where clang-format breaks them."""

import functools
import re
import textwrap
from string import Template

WIDTH = 90  # ColumnLimit of .clang-format


def lines(text):
    """The text with its long lines broken, and short functions on one line, as clang-format has them."""
    text = re.sub(r"/\*.*?\*/", lambda match: comment(match[0]), text, flags=re.S)
    text = re.sub(r"^(.*\)) \{\n  (\S.*;)\n\}\n", lambda match: one_line(match, f"{match[1]} {{ {match[2]} }}\n"),
                  text, flags=re.M)
    return "".join(broken(line) + "\n" if len(line) > WIDTH and not line.startswith(("#", "/*", " *")) else line + "\n"
                   for line in text.split("\n")[:-1])


def one_line(match, joined):
    return joined if len(joined) <= WIDTH + 1 else match[0]


def comment(text):
    """A long comment of one line as several; one that has several keeps them."""
    if len(text) <= WIDTH or "\n" in text:
        return text
    words = " ".join(text[:-2].split())
    filled = textwrap.wrap(words, WIDTH - 2, subsequent_indent=" * ", break_long_words=False, break_on_hyphens=False)
    filled[-1] += " */" if len(filled[-1]) <= WIDTH - 3 else "\n */"
    return "\n".join(filled)


def broken(line):
    """One statement or head of a function on several lines: of all ways to break it after brackets, commas and
    operators the one whose breaks cost least. Those deep in brackets cost more, as in clang-format."""
    start = len(line) - len(line.lstrip())
    places = []  # where it may be broken: (index, cost, depth, whether after a bracket)
    is_head = line.endswith(") {")
    depth, i = 0, start
    if is_head:  # before the name
        places.append((re.match(r"[^(]*\b(?=\w+\()", line).end(), 110, -1, False))
    while i < len(line):
        cast = re.compile(r"\(uint\d+_t\)").match(line, i)
        if cast:
            i = cast.end()
            continue
        depth += (line[i] in "({") - (line[i] in ")}")
        if line[i] in "({" and i + 1 < len(line):
            places.append((i + 1, 20 * depth + (120 if is_head else 39), depth, True))
        elif line[i:i + 2] == ", ":
            places.append((i + 2, 20 * depth + 21, depth, False))
        elif line[i:i + 3] == " | ":
            places.append((i + 3, 20 * depth + 26, depth, False))
        i += 1
    places.append((len(line), 0, 0, False))

    @functools.cache
    def rest(number, begin, column, indents):
        """(cost, text) of the line from begin on; indents: where the lines start in each bracket that is open."""
        index, cost, depth, opens = places[number]
        part = line[begin:index]
        here = 10000 * max(0, column + len(part.rstrip()) - WIDTH)
        column += len(part)
        if index == len(line):
            return here, part
        if depth < 0:
            on, down = rest(number + 1, index, column, indents), rest(number + 1, index, start, indents)
            return (here + on[0], part + on[1]) if on[0] <= cost + down[0] else (
                here + cost + down[0], part.rstrip() + "\n" + " " * start + down[1])
        indents = indents[:depth] + (column,) if opens else indents[:depth + 1]
        on = rest(number + 1, index, column, indents)
        if opens:
            indents = indents[:-1] + (indents[-2] + (4 if depth > 1 else 0),)
        down = rest(number + 1, index, indents[-1], indents)
        if on[0] <= cost + down[0]:
            return here + on[0], part + on[1]
        return here + cost + down[0], part.rstrip() + "\n" + " " * indents[-1] + down[1]

    return " " * start + rest(0, start, start, (start + 4,))[1]


def fill(template, *words, **more):
    return lines(Template(template).substitute(*words, **more))


def sections(groups):
    """Text of [(comment, [text])], a blank line between them."""
    return "\n".join(lines(f"/* {words} */\n") + "".join(texts) for words, texts in groups)
