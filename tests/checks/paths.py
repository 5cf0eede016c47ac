#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No tracked text file names a folder of one developer's machine: the product stands alone.

usage: paths.py        (in the repository)
"""
import subprocess
import sys

# Written with brackets so that the pattern does not match itself.
PATTERN = r"(^|[^A-Za-z0-9._-])/(work|farm|root|home/[a-z]+)/|[.][.]/shared|[.]library/"

if subprocess.run(["git", "rev-parse", "--git-dir"], capture_output=True).returncode != 0:
    print("not a git checkout")
    sys.exit(77)
planted = subprocess.run(["grep", "-E", PATTERN], input="see /" + "work/x\n", text=True, capture_output=True)
assert planted.returncode == 0, "the pattern matches nothing"
run = subprocess.run(["git", "grep", "-nIE", PATTERN, "--", "."], text=True, capture_output=True)
print(run.stdout + run.stderr or "no tracked file names a machine's folder")
sys.exit(0 if run.returncode == 1 else 1)
