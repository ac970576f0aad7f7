# SPDX-License-Identifier: MIT
"""Builds mpnum_torch, with kernels where PyTorch has CUDA and an nvcc is found. TORCH_CUDA_ARCH_LIST names the targets,
MPNUM_TORCH_CUDA=0 leaves the kernels out."""

import os
from pathlib import Path

import torch
from setuptools import setup
from torch.utils import cpp_extension

os.chdir(Path(__file__).resolve().parent)
has_cuda = torch.version.cuda and cpp_extension.CUDA_HOME and os.environ.get("MPNUM_TORCH_CUDA") != "0"
extension = cpp_extension.CUDAExtension if has_cuda else cpp_extension.CppExtension
setup(
    name="mpnum_torch",
    version="0.3.0",
    packages=["mpnum_torch"],
    ext_modules=[extension(
        "mpnum_torch.operators",
        ["ops.cpp", "kernels.cu"] if has_cuda else ["ops.cpp"],
        include_dirs=[str(Path("../../include").resolve())],
        extra_compile_args={"cxx": ["-O2"], "nvcc": ["-O2"]},
        py_limited_api=True,
    )],
    cmdclass={"build_ext": cpp_extension.BuildExtension},
)
