#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user's file compiles without a warning, whatever the user's flags are.

Among them -fno-exceptions, and the min and max macros of windows.h (defined after the standard headers, which
are not expected to survive them).

usage: consumer_flags.py COMPILER INCLUDE_DIR SOURCE
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STRICT = ["-std=c++20", "-Wall", "-Wextra", "-Werror"]
VARIANTS = [["-O2"], ["-O3"], ["-Os"], ["-O2", "-fno-exceptions", "-fno-rtti"], ["-O2", "-march=x86-64-v4"],
            ["-O3", "-ffast-math", "-march=x86-64-v3"], ["-O2", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wundef"]]
MACROS = ["#define min(a, b) (((a) < (b)) ? (a) : (b))", "#define max(a, b) (((a) > (b)) ? (a) : (b))"]


def system_includes(root):
    """The standard headers named anywhere in the tree, and immintrin.h."""
    names = {name for path in (root / "ofp8").rglob("*.hpp")
             for name in re.findall(r"^#\s*include\s*<([a-z_/0-9]+(?:\.h)?)>", path.read_text(), re.M)}
    names -= {"omp.h"}
    return [f"#if __has_include(<{name}>)\n#include <{name}>\n#endif" for name in sorted(names)]


def main(compiler, include_dir, source):
    with tempfile.TemporaryDirectory() as folder:
        windows = pathlib.Path(folder, "windows_macros.cpp")
        lines = system_includes(pathlib.Path(include_dir)) + MACROS + [f'#include "{source}"']
        windows.write_text("\n".join(lines) + "\n")
        jobs = [(flags, source) for flags in VARIANTS] + [(["-O2"], str(windows))]
        if os.uname().machine != "x86_64":
            jobs = [job for job in jobs if not any("x86-64" in flag for flag in job[0])]

        def compile_job(number):
            flags, file = jobs[number]
            command = [compiler, *STRICT, *flags, "-I", include_dir, "-c", file, "-o", os.path.join(folder, f"{number}.o")]
            return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(compile_job, range(len(jobs))))
    for (flags, file), run in zip(jobs, runs):
        print(f"{' '.join(flags)} {os.path.basename(file)}: {'compiles' if run.returncode == 0 else 'FAILS'}")
        print(run.stdout[:4000], end="")
    return 1 if any(run.returncode for run in runs) else 0


sys.exit(main(*sys.argv[1:]))
