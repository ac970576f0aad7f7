# SPDX-License-Identifier: MIT
"""Where the headers of mpnum lie, which are for C, C++ and CUDA. Nothing is computed here."""

from importlib.metadata import version
from pathlib import Path

__version__ = version("mpnum")
_FOLDER = Path(__file__).resolve().parent


def get_include():
    """The folder to name by -I: it holds mpnum/mpnum.h."""
    return str(_FOLDER / "include")


def get_cmake_dir():
    """The folder of mpnumConfig.cmake, for CMake's variable mpnum_DIR."""
    return str(_FOLDER / "share/cmake/mpnum")
