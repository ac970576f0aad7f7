# SPDX-License-Identifier: MIT
"""Puts what CMake looks for into the wheel, from the files that an installation has."""

import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = "share/cmake/mpnum"  # in the package, as under a prefix


class CMakeFiles(BuildHookInterface):
    def initialize(self, version, build_data):  # "standard" or "editable", which is not the version of the project
        self.scratch = tempfile.TemporaryDirectory()
        for name in ("mpnumConfig.cmake", "mpnumConfigVersion.cmake"):
            text = (Path(self.root) / f"tools/packaging/{name}.in").read_text(encoding="utf-8")
            written = Path(self.scratch.name) / name
            written.write_bytes(text.replace("@include@", "../../../include").replace("@version@", self.metadata.version).encode())
            build_data["force_include"][str(written)] = f"mpnum/{FOLDER}/{name}"

    def finalize(self, version, build_data, artifact_path):
        self.scratch.cleanup()
