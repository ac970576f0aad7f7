# SPDX-License-Identifier: MIT
"""Other libraries as witnesses, and arrays for ours."""

import ctypes
import importlib

import tap


def load(name):
    """A module; without it the property is skipped, with the reason."""
    try:
        module = importlib.import_module(name)
    except ImportError as reason:
        raise tap.Skip(f"no {name}: {reason}") from None
    if name == "numpy":
        module.seterr(all="ignore")  # overflow and NaN are what is tested
    return module


def pointer(array):
    """To the values of an array of NumPy."""
    return ctypes.c_void_p(array.ctypes.data)
