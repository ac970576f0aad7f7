#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Installation, pkg-config, Meson subproject, a vendored copy, packages, and the entry script's errors.

usage: tests/project/test_packaging.py [full | packages | exhaustive]

With full alone the wrap file, and what a changed environment configures anew; with packages alone the wheel, those of
Debian, Conan and vcpkg, and a release; with exhaustive alone the tests and the benchmark of a clone whose path has special
characters."""

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "harness"))

import tap
from tree import ROOT, need, open_terminal, tracked_files

SCRATCH = Path(tempfile.mkdtemp(prefix="mpnum packaging "))  # a space on purpose
CC = os.environ.get("CC", "cc").split()

CONSUMER = """
#include <mpnum/mpnum.h>
int main(void) { return mpnum_f32_to_e4m3_sat(1000.0f).bits == 0x7e ? 0 : 1; } /* 448, the largest */
"""


def run(*command, **options):
    """Runs a command that must succeed; returns its output."""
    done = subprocess.run([str(part) for part in command], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def mpnum(*arguments, script=ROOT / "mpnum", **options):
    """The entry script's exit status and everything it said."""
    done = subprocess.run([script, *arguments], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    return done.returncode, done.stdout


def copy_project(target):
    shutil.copytree(ROOT, target, symlinks=True, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))


def write_consumer(name):
    source = SCRATCH / f"{name}.c"
    source.write_text(CONSUMER)
    return source


def project_version():
    return re.search(r"version: '([0-9.]+)'", (ROOT / "meson.build").read_text())[1]


def install(name, prefix, **environment):
    build = SCRATCH / name
    run("meson", "setup", build, ROOT, "-Dtests=false", "-Dexamples=false", f"--prefix={prefix}")
    run("meson", "install", "-C", build, env={**os.environ, **environment})


def pkg_config_environment():
    """The environment in which pkg-config finds an installed mpnum; it is installed once."""
    prefix = SCRATCH / "it's a \"prefix\" #1"
    if not prefix.exists():
        install("build for prefix", prefix)
    return {**os.environ, "PKG_CONFIG_PATH": str(prefix / "share/pkgconfig")}


def consumer_project(folder, lookup):
    folder.mkdir(parents=True)
    (folder / "main.c").write_text(CONSUMER)
    (folder / "meson.build").write_text(
        "project('consumer', 'c', meson_version: '>=1.0', default_options: ['c_std=c11'])\n"
        f"test('it', executable('it', 'main.c', dependencies: {lookup}))\n")


def build_consumer(folder, **options):
    """Builds and tests a Meson project, and returns what its introspection says is built."""
    build = folder / "build"
    run("meson", "setup", build, folder, **options)
    run("meson", "test", "-C", build, **options)
    return json.loads(run("meson", "introspect", "--targets", build))


# With what is special to sed and to pkg-config.
PREFIX = "/opt/it's a \"prefix\" #1 & $HOME | \\1 ü"


def files_of_meson():
    """{path below the prefix: its mode and bytes} of Meson's installation under a DESTDIR; it is made once."""
    destination = SCRATCH / "destination of Meson"
    if not destination.exists():
        install("build for DESTDIR", PREFIX, DESTDIR=str(destination))
    return files_below(destination)


def files_below(destination):
    prefix = Path(f"{destination}{PREFIX}")
    return {str(path.relative_to(prefix)): (path.stat().st_mode, path.read_bytes())
            for path in destination.rglob("*") if path.is_file()}


def headers():
    """Their paths below the root."""
    suffixes = {".h", ".hpp", ".inc", ".cuh"}
    return {str(path.relative_to(ROOT)) for path in (ROOT / "include").rglob("*") if path.suffix in suffixes}


def install_holds_the_headers_and_nothing_else():
    there = set(files_of_meson())
    wanted = headers() | \
        {"share/pkgconfig/mpnum.pc", "share/cmake/mpnum/mpnumConfig.cmake", "share/cmake/mpnum/mpnumConfigVersion.cmake"}
    assert there == wanted, there ^ wanted


def few_tools():
    """A PATH with what `./mpnum install` may call."""
    tools = SCRATCH / "few tools"
    if not tools.exists():
        tools.mkdir()
        for tool in ("cp", "mkdir", "sed", "sh", "tr"):
            (tools / tool).symlink_to(shutil.which(tool))
    return {"PATH": str(tools)}


def install_of_the_script_is_that_of_meson():
    """Names, modes and bytes, without any tool of the build."""
    destination = SCRATCH / "destination of the script"
    status, output = mpnum("install", PREFIX, env={**few_tools(), "DESTDIR": str(destination)})
    assert (status, output) == (0, f"mpnum: installed {project_version()} in {destination}{PREFIX}\n")
    meson, script = files_of_meson(), files_below(destination)
    assert script == meson, [name for name in meson.keys() | script.keys() if meson.get(name) != script.get(name)]


def install_takes_a_relative_prefix():
    status, output = mpnum("install", "a folder/", cwd=SCRATCH, env=few_tools())
    assert status == 0 and output.endswith(f" in {SCRATCH}/a folder\n"), output
    escaped = str(SCRATCH / "a folder").replace(" ", "\\ ")
    assert f"\nprefix={escaped}\n" in (SCRATCH / "a folder/share/pkgconfig/mpnum.pc").read_text()


def install_says_in_one_line_what_is_wrong():
    for arguments in [[], [""], ["one", "two"], ["--prefix=x"]]:
        status, output = mpnum("install", *arguments, cwd=SCRATCH)
        assert status == 2 and "mpnum help" in output, (arguments, status, output)
    (SCRATCH / "a file").write_text("in the way")
    status, output = mpnum("install", SCRATCH / "a file")
    assert status == 1 and output.count("\n") == 1 and "cannot install" in output and "a file" in output, output
    assert (SCRATCH / "a file").read_text() == "in the way"


def pkg_config_consumer_compiles():
    environment = pkg_config_environment()
    flags = run("pkg-config", "--cflags", "mpnum", env=environment)
    write_consumer("pkg_config")
    # Through a shell: pkg-config escapes the space in the folder's name.
    run("sh", "-c", f"{' '.join(CC)} -std=c99 pkg_config.c -o pkg_config {flags}", cwd=SCRATCH)
    run(SCRATCH / "pkg_config")


def versions_agree():
    version = project_version()
    assert run("pkg-config", "--modversion", "mpnum", env=pkg_config_environment()).strip() == version
    config = (ROOT / "include/mpnum/core/detail/config.h").read_text()
    macros = [re.search(rf"MPNUM_VERSION_{part} (\d+)", config)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    assert ".".join(macros) == version, macros
    assert re.search(r"^## \[([0-9.]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)[1] == version
    # The wheel, Conan and Nix read meson.build.
    packaging = ROOT / "tools/packaging"
    assert json.loads((packaging / "vcpkg/vcpkg.json").read_text())["version"] == version
    assert re.match(r"mpnum \((.*?)\) ", (packaging / "debian/changelog").read_text())[1] == version
    assert re.findall(r'version\("(.*?)", tag="v(.*?)"\)', (packaging / "spack/package.py").read_text())[0] == (version, version)
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        said = re.findall(r"(?:State\.\*\* Version |find_package\(mpnum )([\d.]+\d)", path.read_text())
        assert all(f"{version}.".startswith(f"{number}.") for number in said), (path.name, said)


def recipes_without_a_test_are_short_and_say_so():
    for name in ("spack/package.py", "nix/default.nix"):
        lines = (ROOT / "tools/packaging" / name).read_text().splitlines()
        assert len(lines) < 30 and lines[1].startswith("# Untested."), name


def what_is_fetched_exists():
    """The tag of the version, or until there is one a commit, the same for Meson and CMake."""
    wrap, vendoring = (ROOT / "tools/packaging/mpnum.wrap").read_text(), (ROOT / "docs/vendoring.md").read_text()
    revision = re.search(r"^revision = (\S+)$", wrap, re.M)[1]
    assert re.findall(r"\bGIT_TAG (\S+)\)", vendoring) == [revision]
    assert re.fullmatch(rf"[0-9a-f]{{40}}|v{project_version()}", revision), revision
    git = subprocess.run(["git", "-C", ROOT, "rev-parse", "--is-shallow-repository"], text=True, capture_output=True)
    if git.stdout.strip() != "false":
        raise tap.Skip("this is no clone with all commits")
    run("git", "-C", ROOT, "merge-base", "--is-ancestor", f"{revision}^{{commit}}", "HEAD")


def installed_dependency_is_found_by_meson():
    folder = SCRATCH / "by dependency"
    consumer_project(folder, f"dependency('mpnum', version: '{project_version()}')")
    build_consumer(folder, env=pkg_config_environment())


def subproject_builds_nothing_of_its_own():
    for name, lookup in [("dependency", "dependency('mpnum')"),
                         ("variable", "subproject('mpnum').get_variable('mpnum_dep')")]:
        folder = SCRATCH / f"subproject {name}"
        consumer_project(folder, lookup)
        copy_project(folder / "subprojects" / "mpnum")
        # No mpnum of the system may stand in for the subproject.
        targets = build_consumer(folder, env={**os.environ, "PKG_CONFIG_LIBDIR": "/nowhere", "PKG_CONFIG_PATH": ""})
        assert [target["name"] for target in targets] == ["it"], targets
        commands = (folder / "build/compile_commands.json").read_text()
        assert re.findall(r"(-I|-isystem ?)[^ ]*subprojects/mpnum/include", commands) == ["-isystem"], commands
        tests = json.loads(run("meson", "introspect", "--tests", folder / "build"))
        assert [test["name"] for test in tests] == ["it"], tests


def wrap_file_brings_the_subproject():
    """By `dependency` alone, from a repository of one commit."""
    folder, clone = SCRATCH / "wrapped", SCRATCH / "repository"
    if not shutil.which("git"):
        raise tap.Skip("git is not installed")
    copy_project(clone)
    git = ["git", "-C", clone, "-c", "user.name=mpnum", "-c", "user.email=mpnum"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "release"]):
        run(*git, *command)
    text = (ROOT / "docs/vendoring.md").read_text()
    consumer_project(folder, re.search(r"^```meson\n.* dependencies: (dependency\(.*\))\)\n", text, re.M)[1])
    wrap = (ROOT / "tools/packaging/mpnum.wrap").read_text()
    assert "\nurl =\n" in wrap
    wrap = re.sub(r"(?<=\nrevision = ).*", run(*git, "rev-parse", "HEAD").strip(), wrap)
    (folder / "subprojects").mkdir()
    (folder / "subprojects/mpnum.wrap").write_text(wrap.replace("\nurl =\n", f"\nurl = {clone.as_uri()}\n"))
    targets = build_consumer(folder, env={**os.environ, "PKG_CONFIG_LIBDIR": "/nowhere", "PKG_CONFIG_PATH": ""})
    assert [target["name"] for target in targets] == ["it"], targets


def vendored_headers_suffice():
    shutil.copytree(ROOT / "include/mpnum", SCRATCH / "vendored/mpnum")
    run(*CC, "-std=c99", write_consumer("vendor"), "-I", SCRATCH / "vendored", "-o", SCRATCH / "vendor")
    run(SCRATCH / "vendor")


def build_works_without_nvcc():
    output = run("meson", "setup", SCRATCH / "no cuda", ROOT, "-Dcuda=disabled", "-Dtests=false")
    assert re.search(r"nvcc skipped|nvcc found: NO", output), output


def help_fits_one_screen():
    status, output = mpnum("help")
    assert status == 0 and output.startswith("usage: ./mpnum") and output.count("\n") <= 24, output
    assert mpnum("--help") == (0, output)
    assert mpnum("test", "--help") == (0, output)
    assert mpnum("install", "--help") == (0, output)


def no_function_writes_a_variable_of_its_callers():
    """The shell's variables are global: a list of packages once became an argument of the tests."""
    script = re.sub(r"^ *#.*\n", "", (ROOT / "mpnum").read_text(), flags=re.M)
    functions = dict(re.findall(r"^(\w+)\(\) \{(.*?)^\}", script, re.M | re.S))
    written = {name: {variable for found in re.findall(r"^ *(\w+)=(?!.* \w+ )|\bfor (\w+)|\bread -r (\w+)", body, re.M)
                      for variable in found if variable} for name, body in functions.items()}
    command = r"(?:^ *|[;({&|!] *|\b(?:if|then|else|do) )"
    called = {name: {other for other in functions if re.search(rf"{command}{other}(?![\w=-])", body, re.M)}
              for name, body in functions.items()}
    for name in functions:
        seen, rest = set(), {name}
        while rest:
            seen |= rest
            rest = set().union(*(called[other] for other in rest)) - seen
        for other in seen - {name}:
            shared = written[name] & written[other]
            assert not shared, f"{name} and {other}, which it calls, both write {shared}"
    assert "apt_install" in called["install"] and "missing" in written["require"], (called, written)


def wrong_command_line_exits_2():
    for arguments in [["tset"], ["--fast", "test"], ["test", "--ful"], ["test", "name", "--full"]]:
        status, output = mpnum(*arguments)
        assert status == 2 and "mpnum help" in output, (arguments, status, output)
    assert "unknown command: tset" in mpnum("tset")[1]
    assert mpnum() == mpnum("help") and mpnum()[0] == 0


def no_install_names_what_is_missing():
    for command in ["bench", "inspect", "test"]:
        status, output = mpnum("--no-install", command, env={"PATH": ""})
        assert status == 1 and "libjansson-dev" in output and "meson" in output, output
        assert mpnum(command, "--no-install", env={"PATH": ""}) == (status, output)


def other_systems_get_their_package_names():
    tools = SCRATCH / "tools"
    tools.mkdir()
    (tools / "dnf").symlink_to("/bin/true")
    status, output = mpnum("bench", env={"PATH": str(tools)})
    assert status == 1 and "jansson-devel" in output and "libjansson-dev" not in output, output


def script_with_fake_apt(name, *, answer=None):
    """Runs `mpnum bench` where no tool is installed and apt-get only notes its arguments; with an answer, on
    a terminal. Returns the exit status, what was said and what apt-get was told."""
    folder = SCRATCH / name
    copy_project(folder / "project")
    tools = folder / "tools"
    tools.mkdir()
    for tool in ("cat", "env", "id", "mkdir", "rm", "sh", "tail"):
        (tools / tool).symlink_to(shutil.which(tool))
    for tool, text in (("apt-get", f"echo \"$@\" >>'{folder}/told'"), ("apt-cache", ":"), ("sudo", 'exec "$@"')):
        (tools / tool).write_text(f"#!/bin/sh\n{text}\n")
        (tools / tool).chmod(0o755)
    command, environment = [folder / "project/mpnum", "bench"], {"PATH": str(tools)}
    if answer is None:
        status, said = mpnum("bench", script=command[0], env=environment)
    else:
        controller, terminal = open_terminal()
        os.write(controller, answer.encode())
        process = subprocess.Popen(command, env=environment, stdin=terminal, stdout=terminal, stderr=terminal)
        os.close(terminal)
        said = b""
        while True:
            try:
                said += os.read(controller, 4096)
            except OSError:  # the other side is closed
                break
        os.close(controller)
        status, said = process.wait(), said.decode()
    told = folder / "told"
    return status, said, told.read_text() if told.exists() else ""


INSTALL = "install -y --no-install-recommends --no-remove gcc libc6-dev meson ninja-build pkg-config libjansson-dev"


def without_a_terminal_the_command_is_printed_and_run():
    status, said, told = script_with_fake_apt("no terminal")
    assert status == 1 and "still missing after the installation: cc meson" in said, said
    assert f"apt-get {INSTALL}\n" in said and INSTALL in told, (said, told)


def on_a_terminal_nothing_is_installed_without_a_yes():
    status, said, told = script_with_fake_apt("answer no", answer="n\n")
    assert status == 1 and INSTALL in said and "run it now?" in said and told == "", (said, told)
    status, said, told = script_with_fake_apt("answer yes", answer="\n")
    assert status == 1 and "run it now?" in said and INSTALL in told, (said, told)


def clone_with_a_commit(target):
    """A repository of one commit, with the files that git knows or would take; returns how to call its git."""
    need("git")
    for path in tracked_files():
        copied = target / path.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copied)
    git = ["git", "-C", target, "-c", "user.name=mpnum", "-c", "user.email=mpnum"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "release"]):
        run(*git, *command)
    return git


def cmake_consumer_runs(name, *arguments, **environment):
    """A program of a project that asks find_package for this version."""
    need("cmake")
    folder = SCRATCH / name
    folder.mkdir()
    (folder / "main.c").write_text(CONSUMER)
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.14)\nproject(consumer LANGUAGES C)\nfind_package(mpnum {project_version()} REQUIRED)\n"
        "add_executable(program main.c)\ntarget_link_libraries(program PRIVATE mpnum::mpnum)\n")
    environment = {**os.environ, **environment}
    run("cmake", "-S", folder, "-B", folder / "build", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF", *arguments, env=environment)
    run("cmake", "--build", folder / "build")
    run(folder / "build/program")


def need_hatchling():
    if not importlib.util.find_spec("hatchling"):
        raise tap.Skip("the Python package hatchling is not installed")


def build_wheel(sources, target):
    need_hatchling()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", target, cwd=sources,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    return target / f"mpnum-{project_version()}-py3-none-any.whl"


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def wheel_holds_the_headers_and_says_where_they_are():
    """Installed offline from the tree, a C compiler and CMake find them by what it prints."""
    wheel = build_wheel(ROOT, SCRATCH / "wheel")
    there = contents(wheel)
    information = f"mpnum-{project_version()}.dist-info"
    assert b"Root-Is-Purelib: true" in there[f"{information}/WHEEL"]
    assert {name.split("/")[0] for name in there} == {"mpnum", information}
    cmake = {f"mpnum/share/cmake/mpnum/{name}.cmake" for name in ("mpnumConfig", "mpnumConfigVersion")}
    wanted = {f"mpnum/{name}" for name in headers()} | cmake | {"mpnum/__init__.py", "mpnum/__main__.py"}
    assert {name for name in there if name.startswith("mpnum/")} == wanted, wanted ^ there.keys()
    for name in headers():
        assert there[f"mpnum/{name}"] == (ROOT / name).read_bytes(), name
    site = SCRATCH / "site of the wheel"
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", site, ROOT)
    environment = {**os.environ, "PYTHONPATH": str(site)}

    def answer(*command):
        return run(sys.executable, *command, cwd=SCRATCH, env=environment).strip()

    assert answer("-m", "mpnum", "--version") == project_version()
    include, cmake = answer("-m", "mpnum", "--include"), answer("-m", "mpnum", "--cmake")
    assert answer("-c", "import mpnum; print(mpnum.get_include()); print(mpnum.get_cmake_dir())") == f"{include}\n{cmake}"
    assert Path(include) == (site / "mpnum/include").resolve()
    run(*CC, "-std=c99", write_consumer("wheel consumer"), "-I", include, "-o", SCRATCH / "wheel consumer")
    run(SCRATCH / "wheel consumer")
    cmake_consumer_runs("CMake of the wheel", f"-Dmpnum_DIR={cmake}")


def wheel_of_the_source_distribution_is_that_of_the_tree():
    need_hatchling()
    target = SCRATCH / "source distribution"
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", target, cwd=ROOT)
    stem = f"mpnum-{project_version()}"
    run("tar", "-C", target, "-xf", target / f"{stem}.tar.gz")
    again = contents(build_wheel(target / stem, target / "wheel"))
    wheel = contents(build_wheel(ROOT, SCRATCH / "wheel beside"))
    assert again == wheel, again.keys() ^ wheel.keys()


def debian_packages_are_built_and_pass_their_test():
    """By the commands of docs/vendoring.md, and what autopkgtest would run, on the packages unpacked beside."""
    need("dpkg-buildpackage")
    done = subprocess.run(["dpkg-checkbuilddeps", ROOT / "tools/packaging/debian/control"], text=True, capture_output=True)
    if done.returncode:
        raise tap.Skip(done.stderr.strip().splitlines()[-1])
    with tempfile.TemporaryDirectory(prefix="mpnum-debian-") as folder:  # without a space, which debhelper does not take
        folder = Path(folder)
        clone, root = folder / "mpnum", folder / "root"
        copy_project(clone)
        environment = {name: text for name, text in os.environ.items() if name not in ("CFLAGS", "CC", "CXX", "CXXFLAGS")}
        run("sh", "-c", "cp -r tools/packaging/debian debian && dpkg-buildpackage -us -uc -b", cwd=clone, env=environment)
        version = project_version()
        for package in (f"libmpnum-dev_{version}_all.deb", *(path.name for path in folder.glob(f"mpnum-tools_{version}_*.deb"))):
            (root / package.split("_")[0]).mkdir(parents=True)
            run("dpkg-deb", "-x", folder / package, root / package.split("_")[0])
        development = root / "libmpnum-dev/usr"
        there = {str(path.relative_to(development)) for path in development.rglob("*") if path.is_file()}
        documents = {f"share/doc/libmpnum-dev/{name}" for name in ("changelog.gz", "copyright")}
        assert there - documents == set(files_of_meson()), (there - documents) ^ set(files_of_meson())
        assert f" {version}\n" in run(root / "mpnum-tools/usr/bin/mpnum-inspect", "--version")
        if not shutil.which("cmake"):
            raise tap.Skip("built; cmake, which its test needs, is not installed")
        run(clone / "debian/tests/consumer", env={
            **environment, "PKG_CONFIG_PATH": str(development / "share/pkgconfig"), "CMAKE_PREFIX_PATH": str(development),
            "PKG_CONFIG_SYSROOT_DIR": str(development.parent), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"})
        if not shutil.which("lintian"):
            raise tap.Skip("built and tested; lintian is not installed")
        run("lintian", "--fail-on", "error,warning", *folder.glob("*.changes"))


def conan_creates_its_package():
    """Without a remote, from a copy, as Conan builds the consumer inside the recipe's folder."""
    need("conan")
    need("cmake")
    home, copy = SCRATCH / "conan", SCRATCH / "copy for conan"
    copy_project(copy)
    environment = {**os.environ, "CONAN_HOME": str(home)}
    run("conan", "profile", "detect", env=environment)
    said = run("conan", "create", "--no-remote", copy / "tools/packaging/conan", env=environment)
    assert f"mpnum/{project_version()} (test package): RUN:" in said, said
    packages = [path for path in home.rglob("p/include") if (path / "mpnum").is_dir()]
    assert len(packages) == 1, packages
    there = {f"include/{path.relative_to(packages[0])}" for path in packages[0].rglob("*") if path.is_file()}
    assert there == headers(), there ^ headers()
    assert (packages[0].parent / "licenses/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


# What vcpkg's own functions do to a port of headers alone: files of CMake go up to share/PORT, paths stay true.
VCPKG = r"""
cmake_minimum_required(VERSION 3.14)
set(PORT mpnum)
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${BUILD} -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}
    RESULT_VARIABLE status)
  if(status OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cannot configure: ${status} ${arg_UNPARSED_ARGUMENTS}")
  endif()
endfunction()
function(vcpkg_cmake_install)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} RESULT_VARIABLE status)
  if(status)
    message(FATAL_ERROR "cannot install: ${status}")
  endif()
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
  file(RENAME ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH} ${CURRENT_PACKAGES_DIR}/share/${PORT})
  file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/share/cmake)
  set(config ${CURRENT_PACKAGES_DIR}/share/${PORT}/mpnumConfig.cmake)
  set(up [[get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
]])
  file(READ ${config} text)
  string(REPLACE "${up}${up}${up}" "${up}${up}" text "${text}")
  file(WRITE ${config} "${text}")
endfunction()
function(vcpkg_fixup_pkgconfig)
  file(GLOB_RECURSE files ${CURRENT_PACKAGES_DIR}/*.pc)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REGEX REPLACE "prefix=[^\n]*" [[prefix=${pcfiledir}/../..]] text "${text}")
    file(WRITE ${file} "${text}")
  endforeach()
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  configure_file(${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright COPYONLY)
endfunction()
include(${PORTFILE})
"""


def vcpkg_port_installs_what_its_consumers_find():
    """Run by CMake with stand-ins for vcpkg's functions; the folder moves before it is used, as vcpkg moves it."""
    need("cmake")
    script, packages, installed = SCRATCH / "vcpkg.cmake", SCRATCH / "packages", SCRATCH / "installed by vcpkg"
    script.write_text(VCPKG)
    port = ROOT / "tools/packaging/vcpkg"
    run("cmake", f"-DBUILD={SCRATCH / 'build of vcpkg'}", f"-DCURRENT_PACKAGES_DIR={packages}",
        f"-DPORTFILE={port / 'portfile.cmake'}", "-P", script)
    packages.rename(installed)
    there = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    own = {"share/pkgconfig/mpnum.pc", *(f"share/mpnum/{name}" for name in (
        "copyright", "usage", "mpnumConfig.cmake", "mpnumConfigVersion.cmake"))}
    assert there == headers() | own, there ^ (headers() | own)
    assert (installed / "share/mpnum/copyright").read_bytes() == (ROOT / "LICENSE").read_bytes()
    lines = re.findall(r"^    (.*)$", (port / "usage").read_text(), re.M)
    assert lines == ["find_package(mpnum CONFIG REQUIRED)", "target_link_libraries(main PRIVATE mpnum::mpnum)"], lines
    cmake_consumer_runs("CMake of vcpkg", f"-DCMAKE_PREFIX_PATH={installed}")
    environment = {**os.environ, "PKG_CONFIG_PATH": str(installed / "share/pkgconfig")}
    write_consumer("vcpkg consumer")
    run("sh", "-c", f"{' '.join(CC)} -std=c99 'vcpkg consumer.c' -o vcpkg {run('pkg-config', '--cflags', 'mpnum', env=environment)}",
        cwd=SCRATCH)
    run(SCRATCH / "vcpkg")


def repository_with_a_tag():
    """Made once: the version's tag, one of another version, and after them a commit that changes a header."""
    clone, tag = SCRATCH / "tagged", f"v{project_version()}"
    if not clone.exists():
        git = clone_with_a_commit(clone)
        run(*git, "tag", tag)
        run(*git, "tag", "v99.0.0")
        run(*git, "branch", "v97.0.0")
        header = clone / "include/mpnum/mpnum.h"
        header.write_text(f"{header.read_text()}/* later */\n")
        run(*git, "commit", "-q", "-a", "-m", "later")
    return clone, tag


def release_is_the_tag_with_the_same_bytes_twice():
    """Whatever the umask, the time zone and the date; of the tag, not of what is checked out."""
    need_hatchling()
    clone, tag = repository_with_a_tag()
    written = {}
    for folder, umask, zone, date in (("first", 0o022, "UTC", "1"), ("second", 0o077, "Asia/Kathmandu", "2000000000")):
        target = SCRATCH / "releases" / folder
        status, output = mpnum("--no-install", "release", tag, target, script=clone / "mpnum", cwd=SCRATCH, umask=umask,
                               env={**os.environ, "TZ": zone, "SOURCE_DATE_EPOCH": date})
        assert status == 0, output
        written[folder] = {path.name: path.read_bytes() for path in target.iterdir()}
        assert output == "".join(f"{target / name}\n" for name in sorted(written[folder])), output
    first, version = written["first"], project_version()
    assert first == written["second"], [name for name in first if first[name] != written["second"].get(name)]
    files = {f"mpnum-{version}.tar.gz", f"mpnum-{version}-py3-none-any.whl", "mpnum.h", "mpnum_cuda.cuh"}
    assert first.keys() == files | {"SHA256SUMS"}, first.keys()
    sums = "".join(f"{hashlib.sha256(first[name]).hexdigest()}  {name}\n" for name in sorted(files))
    assert first["SHA256SUMS"].decode() == sums
    run(ROOT / "mpnum", "amalgamate", SCRATCH / "single files")
    for name in ("mpnum.h", "mpnum_cuda.cuh"):
        assert first[name] == (SCRATCH / "single files" / name).read_bytes(), name
    unpacked = SCRATCH / "unpacked"
    unpacked.mkdir()
    run("tar", "-C", unpacked, "-xf", SCRATCH / f"releases/first/mpnum-{version}.tar.gz")
    wanted = {str(path.relative_to(ROOT)): path.read_bytes() for path in tracked_files()}
    there = {str(path.relative_to(unpacked / f"mpnum-{version}")): path.read_bytes()
             for path in unpacked.rglob("*") if path.is_file()}
    assert there == wanted, [name for name in there.keys() | wanted.keys() if there.get(name) != wanted.get(name)]
    wheel = contents(SCRATCH / f"releases/first/mpnum-{version}-py3-none-any.whl")
    assert wheel["mpnum/include/mpnum/mpnum.h"] == (ROOT / "include/mpnum/mpnum.h").read_bytes()


def release_refuses_in_one_line_and_leaves_nothing():
    clone, tag = repository_with_a_tag()
    taken = SCRATCH / "taken"
    taken.mkdir()
    (taken / "notes").write_text("kept")
    for arguments, status, said in [
            ([], 2, "a TAG"), ([tag, "a", "b"], 2, "a TAG"), (["--all"], 2, "a TAG"), ([tag, ""], 2, "a TAG"),
            (["v98.0.0"], 1, "there is no tag v98.0.0"), (["v97.0.0"], 1, "there is no tag v97.0.0"),
            (["HEAD"], 1, "no tag of a release"), ([f"{tag}^0"], 1, "no tag of a release"),
            (["v99.0.0"], 1, f"meson.build says {project_version()}"),
            ([tag, str(taken)], 1, "taken exists already")]:
        before = sorted(SCRATCH.glob("*")), sorted(clone.rglob("*"))
        found, output = mpnum("--no-install", "release", *arguments, script=clone / "mpnum", cwd=SCRATCH)
        if "hatchling" in output:
            raise tap.Skip("the Python package hatchling is not installed")
        assert found == status and output.startswith("mpnum: release: ") and output.count("\n") == 1, (arguments, found, output)
        assert said in output, (arguments, output)
        assert (sorted(SCRATCH.glob("*")), sorted(clone.rglob("*"))) == before, arguments
    assert [path.read_text() for path in taken.iterdir()] == ["kept"]


def script_runs_from_anywhere():
    link = SCRATCH / "linked"
    link.symlink_to(ROOT / "mpnum")
    wanted = mpnum("help")
    assert mpnum("help", script=link, cwd="/") == wanted
    assert mpnum("help", cwd=SCRATCH, env={**os.environ, "CDPATH": f".:{ROOT}"}) == wanted
    assert mpnum("mpnum", "help", script="sh", cwd=ROOT, env={**os.environ, "CDPATH": f".:{SCRATCH}"}) == wanted


def a_peer_that_is_not_where_it_was_named_ends_the_bench():
    copy = SCRATCH / "peers"
    copy_project(copy)
    status, output = mpnum("bench", "--formats", script=copy / "mpnum", env={**os.environ, "GGML": "no/such/folder"})
    if "missing:" in output:
        raise tap.Skip("the benchmark's packages are not installed")
    assert status == 1 and output == "mpnum: there is no folder no/such/folder\n", output
    status, output = mpnum("bench", "--formats", script=copy / "mpnum", env={**os.environ, "NUMKONG": str(SCRATCH)})
    assert status == 1 and "peer numkong: no numkong/cast.h with its library in" in output, output


def unwritable_build_folder_is_named():
    copy = SCRATCH / "unwritable"
    copy_project(copy)
    (copy / "build").write_text("in the way")  # root can write everywhere else
    status, output = mpnum("bench", script=copy / "mpnum")
    if "missing:" in output:
        raise tap.Skip("the benchmark's packages are not installed")
    assert status == 1 and "cannot write" in output, output


def only_other_compilers_are_configured_anew():
    copy, links, other = SCRATCH / "paths", SCRATCH / "links", SCRATCH / "other"
    copy_project(copy)
    for folder in (links, other):
        folder.mkdir()
    for tool in (CC[0], "nvcc"):
        if found := shutil.which(tool):
            (links / ("cc" if tool == CC[0] else tool)).symlink_to(found)
    (other / "cc").write_text(f"#!/bin/sh\nexec {shutil.which(CC[0])} \"$@\"\n")
    (other / "cc").chmod(0o755)

    def says_on(path):
        environment = {name: text for name, text in os.environ.items() if name not in ("CC", "CXX")}
        status, output = mpnum("--no-install", "test", "no_such_test", script=copy / "mpnum",
                               env={**environment, "PATH": f"{path}{os.environ['PATH']}"})
        if "missing:" in output:
            raise tap.Skip("the packages of the tests are not installed")
        assert status != 0 and "no test named no_such_test" in output, output
        return output.splitlines()[0]

    building = f"mpnum: building in {copy}/build/mpnum-test"
    assert says_on("") == building
    for same in ("", "/no/such/folder:", f"{links}:"):
        assert says_on(same) != building, same
    assert says_on(f"{other}:") == building


def odd_clone():
    """Its script, and an environment in which compilers take little time and give no warnings of -O0."""
    copy = SCRATCH / "it's \"a\" $HOME `clone` \\1 ü"
    copy_project(copy)
    return copy / "mpnum", {**os.environ, "CFLAGS": "-O0 -w -DMPNUM_NO_SIMD=1", "CXXFLAGS": "-O0 -w"}


def a_clone_with_special_characters_in_its_path_runs_its_tests():
    """Tests that see paths in strings of C, in output of the preprocessor and of nvcc, and behind the benchmark."""
    script, environment = odd_clone()
    status, output = mpnum("--no-install", "test", "api", "bench_files", "bench_headers", "examples_of_kernels",
                           script=script, env=environment)
    if output.startswith("mpnum: missing:"):
        raise tap.Skip("the packages of the tests are not installed")
    assert status == 0 and ", 0 failed," in output, output[-4000:]


def a_clone_with_special_characters_in_its_path_runs_its_benchmark():
    script, environment = odd_clone()
    status, output = mpnum("--no-install", "bench", "--accuracy", script=script, env=environment)
    if output.startswith("mpnum: missing:"):
        raise tap.Skip("the packages of the benchmark are not installed")
    assert status == 0 and "digits" in output, output


TIERS = {"full": [wrap_file_brings_the_subproject, only_other_compilers_are_configured_anew],
         "packages": [wheel_holds_the_headers_and_says_where_they_are, wheel_of_the_source_distribution_is_that_of_the_tree,
                      debian_packages_are_built_and_pass_their_test, conan_creates_its_package,
                      vcpkg_port_installs_what_its_consumers_find, release_is_the_tag_with_the_same_bytes_twice,
                      release_refuses_in_one_line_and_leaves_nothing],
         "exhaustive": [a_clone_with_special_characters_in_its_path_runs_its_tests,
                        a_clone_with_special_characters_in_its_path_runs_its_benchmark]}
try:
    status = tap.run(*TIERS[sys.argv[1]]) if sys.argv[1:] else tap.run(
        install_holds_the_headers_and_nothing_else,
        install_of_the_script_is_that_of_meson,
        install_takes_a_relative_prefix,
        install_says_in_one_line_what_is_wrong,
        pkg_config_consumer_compiles,
        versions_agree,
        recipes_without_a_test_are_short_and_say_so,
        what_is_fetched_exists,
        installed_dependency_is_found_by_meson,
        subproject_builds_nothing_of_its_own,
        vendored_headers_suffice,
        build_works_without_nvcc,
        help_fits_one_screen,
        no_function_writes_a_variable_of_its_callers,
        wrong_command_line_exits_2,
        no_install_names_what_is_missing,
        other_systems_get_their_package_names,
        without_a_terminal_the_command_is_printed_and_run,
        on_a_terminal_nothing_is_installed_without_a_yes,
        script_runs_from_anywhere,
        a_peer_that_is_not_where_it_was_named_ends_the_bench,
        unwritable_build_folder_is_named,
    )
finally:
    shutil.rmtree(SCRATCH)
sys.exit(status)
