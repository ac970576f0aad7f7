# SPDX-License-Identifier: MIT
# Untested. In a repository of Spack's, packages/mpnum/package.py; fill in where you clone from.
from spack.package import *
from spack_repo.builtin.build_systems.meson import MesonPackage


class Mpnum(MesonPackage):
    """Small-float conversions and mixed-precision numerics, header only, for C, C++ and CUDA."""

    git = ""
    license("MIT")

    version("0.3.0", tag="v0.3.0")
    depends_on("c", type="build")
    depends_on("meson@1.0:", type="build")

    def meson_args(self):
        return ["-Dtests=false", "-Dexamples=false", "-Dcuda=disabled"]
