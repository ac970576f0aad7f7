#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the NVIDIA driver which GPUs there are: a line for each, "CAPABILITY DRIVER NAME", as "9.0 13000 NVIDIA H200";
DRIVER is the CUDA version that the driver is for. Where there is none, one line on stderr says why, and the exit
status is 1."""

import ctypes
import sys

NO_DEVICE, MAJOR, MINOR = 100, 75, 76  # of CUresult and CUdevice_attribute
LIBRARY = "libcuda.so.1"


class Absent(Exception):
    """There is no GPU; the message says why."""


def gpus():
    try:
        driver = ctypes.CDLL(LIBRARY)
    except OSError:
        raise Absent(f"there is no NVIDIA driver ({LIBRARY} was not found)") from None

    def call(name, *arguments):
        error = getattr(driver, name)(*arguments)
        if error == NO_DEVICE:
            raise Absent("there is no NVIDIA GPU")
        if error:
            text = ctypes.c_char_p()
            known = driver.cuGetErrorString(error, ctypes.byref(text)) == 0 and text.value
            raise Absent(f"the NVIDIA driver does not work: {name} says {text.value.decode() if known else error}")

    def number(name, *arguments):
        made = ctypes.c_int()
        call(name, ctypes.byref(made), *arguments)
        return made.value

    call("cuInit", 0)
    version, count = number("cuDriverGetVersion"), number("cuDeviceGetCount")
    if count == 0:
        raise Absent("there is no NVIDIA GPU")
    for index in range(count):
        device, name = number("cuDeviceGet", index), ctypes.create_string_buffer(256)
        call("cuDeviceGetName", name, len(name), device)
        major, minor = (number("cuDeviceGetAttribute", which, device) for which in (MAJOR, MINOR))
        yield f"{major}.{minor}", version, name.value.decode(errors="replace")


if __name__ == "__main__":
    try:
        for found in gpus():
            print(*found)
    except Absent as why:
        sys.exit(str(why))
