#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every header compiles alone, with warnings as errors.

usage: headers.py [--self-test] COMPILER INCLUDE_DIR
With --self-test every header of INCLUDE_DIR must fail.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys

FLAGS = ["-std=c++20", "-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow",
         "-Werror"]


def missing_dependency(compiler, text):
    """The first package header that `text` needs and this machine lacks."""
    for header in ("nlohmann/json.hpp", "cuda_runtime.h", "omp.h"):
        if f"<{header}>" in text:
            probe = subprocess.run([compiler, "-E", "-x", "c++", "-"], input=f"#include <{header}>\n", text=True,
                                   capture_output=True)
            if probe.returncode != 0:
                return header
    return None


def compile_alone(compiler, root, path):
    """Returns (name, error text or None, missing package header or None)."""
    name, text = path.relative_to(root).as_posix(), path.read_text()
    missing = missing_dependency(compiler, text)
    if missing:
        return name, None, missing
    openmp = ["-fopenmp"] if "#pragma omp" in text or "<omp.h>" in text else []
    run = subprocess.run([compiler, *FLAGS, *openmp, "-I", str(root), "-"], input=f"#include <{name}>\n", text=True,
                         capture_output=True)
    return name, (run.stderr if run.returncode else None), None


def main(arguments):
    self_test = arguments[0] == "--self-test"
    compiler, root = arguments[self_test], pathlib.Path(arguments[self_test + 1])
    headers = sorted((root / "ofp8").rglob("*.hpp"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: compile_alone(compiler, root, path), headers))
    for name, _, missing in results:
        if missing:
            print(f"skipped {name}: <{missing}> is not installed")
    failed = [(name, error) for name, error, _ in results if error]
    print(f"{len(headers)} headers, {len(failed)} do not compile alone")
    if self_test:
        return 0 if headers and len(failed) == len(headers) else 1
    for name, error in failed:
        print(f"--- {name}\n{error[:3000]}")
    return 1 if failed or not headers else 0


sys.exit(main(sys.argv[1:]))
