# SPDX-License-Identifier: MIT
"""What the Python tests share: the files of the project, commands, and tools that may be missing."""

import os
import pty
import shutil
import subprocess
from pathlib import Path

import tap

ROOT = Path(__file__).resolve().parents[2]


def tracked_files(*suffixes):
    """The files of the project, new ones that git does not ignore included."""
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        raise tap.Skip("not a git checkout")
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    paths = sorted({ROOT / name for name in listed.split("\0") if name})
    return [path for path in paths if path.is_file() and (not suffixes or path.suffix in suffixes)]


def text_of(path):
    """The file's text, or None for a binary file."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def need(*tools):
    """The first of these tools that is on PATH; skips the property when none is."""
    for tool in tools:
        if shutil.which(tool):
            return tool
    raise tap.Skip(f"{tools[0]} is not installed")


def open_terminal():
    """Both ends of a pseudo-terminal; skips the property where there is none."""
    try:
        return pty.openpty()
    except OSError as error:
        raise tap.Skip(f"no pseudo-terminal: {error}") from error


def check(*command, **options):
    """A command that must succeed; returns what it said."""
    done = subprocess.run([str(part) for part in command], text=True, errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **{"cwd": ROOT, "env": {**os.environ, "LC_ALL": "C.UTF-8"}, **options})
    assert done.returncode == 0, f"exit status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout
