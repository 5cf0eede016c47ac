#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The umbrella header compiles under nvcc without a warning, where there is one.

usage: nvcc.py INCLUDE_DIR SOURCE
"""
import os
import shutil
import subprocess
import sys
import tempfile

nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
if not nvcc:
    print("skipped: nvcc is not installed")
    sys.exit(77)
include_dir, source = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    command = [nvcc, "-std=c++20", "-x", "cu", "-I", include_dir, "-c", source, "-o", os.path.join(folder, "consumer.o")]
    run = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(run.stdout[-8000:] or "compiles without a word")
sys.exit(1 if run.stdout else run.returncode)
