# SPDX-License-Identifier: MIT
import argparse

import mpnum

parser = argparse.ArgumentParser(prog="python -m mpnum", description="Says where the headers of mpnum lie.")
choice = parser.add_mutually_exclusive_group(required=True)
choice.add_argument("--include", action="store_const", dest="answer", const=mpnum.get_include(), help="the folder to name by -I")
choice.add_argument("--cmake", action="store_const", dest="answer", const=mpnum.get_cmake_dir(), help="the folder for CMake's mpnum_DIR")
choice.add_argument("--version", action="store_const", dest="answer", const=mpnum.__version__, help="the version of the headers")
print(parser.parse_args().answer)
