# SPDX-License-Identifier: MIT
"""Lines of PTX as a kernel that is launched, for tests of the interpreter."""

import struct

from ptx.machine import Machine
from ptx.syntax import PtxError

PROLOGUE = """\
.version 9.0
.target sm_100a
.address_size 64
{module}
.visible .entry kernel(.param .u64 in, .param .u64 out, .param .u32 n)
{{
  .reg .pred %p<20>;
  .reg .b16 %h<20>;
  .reg .b32 %r<40>;
  .reg .b64 %d<20>;
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 4;
  add.u64 %d1, %d1, %d2;
{body}
  ret;
}}
"""


def kernel(body, module=""):
    """%r0: the thread, %d0: in, %d1: the thread's own word of out, %r1: n."""
    return PROLOGUE.format(body=body, module=module)


def launch(body, threads=1, words=(), n=0, module="", blocks=1, **options):
    """The words of out after a launch, None where nothing was written; each block has the same out."""
    machine = Machine(kernel(body, module))
    source = machine.allocate(struct.pack(f"<{len(words)}I", *words))
    target = machine.allocate(4 * threads)
    machine.launch("kernel", blocks, threads, [source.address, target.address, n], **options)
    return [None if 1 in target.undefined[4 * place:4 * place + 4] else value
            for place, value in enumerate(struct.unpack(f"<{threads}I", target.data))]


def fails(text, body, **options):
    """The launch is an error that says this."""
    try:
        launch(body, **options)
    except PtxError as error:
        assert text in str(error), f"the error should say {text!r}: {error}"
    else:
        raise AssertionError(f"no error, which should say {text!r}")


def value_of(kind, instruction, operands):
    """d after an instruction on a, b, c, which are (kind, value); d has the kind given."""
    lines = []
    for name, (operand_kind, value) in zip("abc", operands):
        lines.append(f".reg .{operand_kind} {name};")
        if operand_kind == "pred":
            lines.append(f"setp.ne.u32 {name}, {value}, 0;")
        elif operand_kind == "b8":
            lines.append(f"mov.b16 {{{name}, _}}, {value};")
        else:
            lines.append(f"mov.b{operand_kind[1:]} {name}, {value};")
    stores = {"pred": "selp.u32 %r2, 1, 0, d; st.global.u32 [%d1], %r2;", "b8": "mov.b16 %h1, {d, 0};"
              " cvt.u32.u16 %r2, %h1; st.global.u32 [%d1], %r2;", "b16": "st.global.u16 [%d1], d;"}
    store = stores.get(kind, f"st.global.{kind} [%d1], d;")
    machine = Machine(kernel(f"{{ .reg .{kind} d; {' '.join(lines)} {instruction} {store} }}"))
    target = machine.allocate(8)
    machine.launch("kernel", 1, 1, [0, target.address, 0])
    size = {"b16": 2, "b64": 8}.get(kind, 4)
    return int.from_bytes(target.data[:size], "little")


def rows_hold(kind, source, rows):
    """Rows of (instruction, operands..., result); a plain number is an operand of the kind source."""
    for instruction, *operands, expected in rows:
        operands = [item if isinstance(item, tuple) else (source, item) for item in operands]
        got = value_of(kind, instruction, operands)
        assert got == expected, f"{instruction} {operands}: {got:#x}, not {expected:#x}"


def f32(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]
