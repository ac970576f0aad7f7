# SPDX-License-Identifier: MIT
"""A PTX interpreter, and what the tests that run PTX share.

values.py      number formats: what bits mean, and rounding, in exact integer arithmetic
arithmetic.py  floating-point instructions other than cvt
convert.py     the cvt instruction
syntax.py      what PTX text becomes
parser.py      PTX text to functions and instructions
operations.py  one instruction to Python source; access.py: those that touch memory; bits.py: bit fields
warp.py        instructions in which threads take part together
translate.py   one function to Python source
memory.py      state spaces, with bounds, alignment, undefined bytes and races checked
machine.py     launches: threads, barriers, warp operations, deadlocks
hot.py         SASS and PTX as text: blocks, paths; executed.py: how often SASS is executed; pipes.py: what it asks of a GPU
calls.py       kernels that call the library's conversions, compiled by nvcc, and the same for the host
launches.py    launchers as nvcc compiles them for the host, whose kernels a machine runs
inputs.py      the inputs at which a conversion can go wrong
snippets.py    lines of PTX as a kernel that is launched
"""
