#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize_model refuses damaged safetensors files: exit code 1, and a sentence with the path and the byte.

usage: refusals.py PROGRAM MODEL_FOLDER
"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile


def file_of(header, data=b"", size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + data


def entry(dtype="BF16", shape=(2, 2), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


DATA = bytes(8)
TWICE = b'{"w": %s, "w": %s}' % ((json.dumps(entry()).encode(),) * 2)
CASES = {
    "seven bytes": (bytes(7), r"byte 0: holds 7 bytes"),
    "a header beyond the file": (file_of({}, size=1 << 40), r"byte 0: the header is said to take 1099511627776 bytes, at most 2 "),
    "an empty header": (file_of(b""), r"byte 8: the header does not begin with \{"),
    "leading space": (file_of(b" {}"), r"byte 8: the header does not begin with \{"),
    "broken JSON": (file_of(b'{"w": [1, }'), r"byte 18: the header is no JSON"),
    "text after the JSON": (file_of(b'{} {}'), r"byte 11: the header is no JSON"),
    "bad UTF-8": (file_of(b'{"\xff": 1}'), r"the header is no JSON"),
    "deep nesting": (file_of(b'{"w":' * 9 + b"0" + b"}" * 9), r"nests deeper"),
    "a key twice": (file_of(TWICE, DATA), r'has the key "w" twice'),
    "no shape": (file_of({"w": {"dtype": "BF16", "data_offsets": [0, 8]}}, DATA), r"byte 9: w has no shape"),
    "a fraction": (file_of({"w": entry(shape=(2, 2.5))}, DATA), r"w: shape holds 2.5"),
    "a negative size": (file_of({"w": entry(shape=(2, -2))}, DATA), r"w: shape holds -2"),
    "three offsets": (file_of({"w": entry(offsets=(0, 4, 8))}, DATA), r"w has 3 data_offsets"),
    "an unknown dtype": (file_of({"w": entry(dtype="bf16")}, DATA), r"w has the dtype bf16, unknown"),
    "end before begin": (file_of({"w": entry(offsets=(8, 0))}, DATA), r"w lies at 8 \.\. 0, the data are 8 bytes"),
    "data beyond the file": (file_of({"w": entry()}, bytes(6)), r"w lies at 0 \.\. 8, the data are 6 bytes"),
    "shape against bytes": (file_of({"w": entry(shape=(2, 3))}, DATA), r"w is BF16 2x3: 12 bytes, its data_offsets hold 8"),
    "a size beyond 64 bits": (file_of({"w": entry(shape=(1 << 40, 1 << 40))}, DATA), r"w: its size exceeds 64 bits"),
    "an overlap": (file_of({"a": entry(), "w": entry(offsets=(4, 12))}, bytes(12)), r"w begins here, the tensor before it ends"),
    "a hole": (file_of({"w": entry(offsets=(2, 10))}, bytes(10)), r"w begins here"),
    "bytes after the last": (file_of({"w": entry()}, bytes(9)), r"the last tensor ends here, the file at"),
    "no such tensor": (file_of({"w": entry()}, DATA), r"there is no tensor model\."),
    "another dtype": (file_of({"w.weight": entry(dtype="F16")}, DATA), r"w\.weight is F16, expected BF16"),
}


def objection(program, folder, content, sentence):
    path = folder / "model.safetensors"
    path.write_bytes(content)
    run = subprocess.run([program, str(folder)], text=True, capture_output=True, timeout=60)
    if run.returncode != 1:
        return f"exit code {run.returncode}: {run.stderr}"
    if not re.search(f"^quantize_model: {re.escape(str(path))}: byte \\d+: ", run.stderr):
        return f"names no path and byte: {run.stderr}"
    return None if re.search(sentence, run.stderr) else f"says something else: {run.stderr}"


def main(program, model):
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("config.json", "eval.txt"):
            shutil.copy(pathlib.Path(model) / part, folder)
        for case, (content, sentence) in CASES.items():
            said = objection(program, folder, content, sentence)
            wrong += said is not None
            if said:
                print(f"{case}: {said}")
    print(f"{len(CASES)} damaged files, {wrong} not refused as they should be")
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
