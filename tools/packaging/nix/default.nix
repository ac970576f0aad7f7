# SPDX-License-Identifier: MIT
# Untested. From a clone: nix-build tools/packaging/nix
{ pkgs ? import <nixpkgs> { } }:
pkgs.stdenv.mkDerivation {
  pname = "mpnum";
  version = builtins.head (builtins.match ".*version: '([0-9.]+)'.*" (builtins.readFile ../../../meson.build));
  src = pkgs.lib.cleanSource ../../..;
  nativeBuildInputs = [ pkgs.meson pkgs.ninja ];
  mesonFlags = [ "-Dtests=false" "-Dexamples=false" "-Dcuda=disabled" ];
  meta = {
    description = "Small-float conversions and mixed-precision numerics, header only, for C, C++ and CUDA";
    license = pkgs.lib.licenses.mit;
  };
}
