#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `#include <ofp8/ofp8.hpp>` costs to compile, against the system headers that it includes, alone.

Prints both times (the least of several runs each) and their ratio, and fails above LIMIT.

usage: compile_time.py [COMPILER] [INCLUDE_DIR]        (default: c++ include)
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LIMIT = 3.0
RUNS = 7
FLAGS = ["-std=c++20", "-O2", "-c", "-o", os.devnull]


def system_headers(compiler, root, source):
    """The headers that ours include directly, as the compiler resolved them (-H prints the tree)."""
    trace = subprocess.run([compiler, *FLAGS, "-H", "-I", str(root), str(source)], text=True, capture_output=True)
    if trace.returncode != 0:
        sys.exit(trace.stderr)
    ours, found, own_depth = str(root.resolve()), [], [0]
    for dots, name in re.findall(r"^(\.+) (\S+)$", trace.stderr, re.M):
        depth, path = len(dots), str(pathlib.Path(name).resolve())
        while own_depth[-1] >= depth:
            own_depth.pop()
        if path.startswith(ours):
            own_depth.append(depth)
        elif own_depth[-1] == depth - 1 and path not in found:
            found.append(path)
    return found


def seconds(compiler, root, source):
    start = time.perf_counter()
    subprocess.run([compiler, *FLAGS, "-I", str(root), str(source)], check=True)
    return time.perf_counter() - start


def main(compiler="c++", include_dir="include"):
    root = pathlib.Path(include_dir)
    with tempfile.TemporaryDirectory() as folder:
        whole, system = pathlib.Path(folder, "whole.cpp"), pathlib.Path(folder, "system.cpp")
        whole.write_text("#include <ofp8/ofp8.hpp>\n")
        headers = system_headers(compiler, root, whole)
        system.write_text("".join(f'#include "{header}"\n' for header in headers))
        pairs = [(seconds(compiler, root, whole), seconds(compiler, root, system)) for _ in range(RUNS)]
    ours, theirs = min(p[0] for p in pairs), min(p[1] for p in pairs)
    names = " ".join(pathlib.Path(header).name for header in headers)
    print(f"{compiler}: <ofp8/ofp8.hpp> {ours:.3f} s, its system headers alone {theirs:.3f} s ({names})")
    print(f"ratio {ours / theirs:.2f}, limit {LIMIT:.1f}")
    return 0 if ours <= LIMIT * theirs else 1


sys.exit(main(*sys.argv[1:]))
