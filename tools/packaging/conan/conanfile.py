# SPDX-License-Identifier: MIT
# From a clone: conan create tools/packaging/conan
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout


class MpnumRecipe(ConanFile):
    name = "mpnum"
    description = "Small-float conversions and mixed-precision numerics, header only, for C, C++ and CUDA"
    license = "MIT"
    topics = ("floating-point", "fp8", "bfloat16", "quantization", "header-only")
    package_type = "header-library"
    no_copy_source = True

    @property
    def _clone(self):
        return Path(self.recipe_folder).parents[2]

    def set_version(self):
        self.version = re.search(r"version: '([0-9.]+)'", load(self, self._clone / "meson.build"))[1]

    def export_sources(self):
        for pattern in ("include/*", "LICENSE"):
            copy(self, pattern, src=self._clone, dst=self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def package(self):
        copy(self, "include/*", src=self.source_folder, dst=self.package_folder)
        copy(self, "LICENSE", src=self.source_folder, dst=Path(self.package_folder) / "licenses")

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
