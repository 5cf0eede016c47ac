#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function that the linker may merge across files carries the instruction set of one file.

The linker keeps one copy of each inline function. A copy that was compiled with -mavx512f then runs in files
built for the baseline. So every weak symbol either has the inline namespace isa_<digits>, which differs between
such files, in its name, or contains no VEX or EVEX instruction (nor BMI and the like). That holds for what the
library makes of std:: too (SOURCE itself uses nothing of it); without optimization, where all of std:: is
functions, for the names that contain `ofp8` alone.

usage: symbols.py [--self-test] COMPILER INCLUDE_DIR SOURCE
SOURCE is compiled for several instruction sets and optimization levels and the objects are disassembled. With
--self-test it must be objected to.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

AVX512 = ["-mavx2", "-mfma", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mbmi", "-mbmi2"]
VARIANTS = [["-O0", *AVX512], ["-O2", *AVX512], ["-O3", *AVX512], ["-O2", "-mavx2"], ["-Os", "-march=x86-64-v3"],
            ["-O2", "-march=x86-64-v4"]]
# The second form is a mangled name that c++filt does not know (clang's lambdas in templates).
TAG = re.compile(r"ofp8::(\w+::)*isa_[01]{8,}|^_ZZ*N4ofp8\d+isa_[01]{8,}")
EXTENDED = re.compile(r"^(v[a-z0-9]+\b.*%[xyzk]mm|k[a-z]+[bwdq]\b.*%k[0-7]"
                      r"|(shlx|sarx|shrx|rorx|mulx|pdep|pext|andn|bextr|blsi|blsr|blsmsk|tzcnt|lzcnt|movbe)[lq]?\b)")


def output(*command):
    run = subprocess.run(command, text=True, capture_output=True)
    if run.returncode != 0:
        sys.exit(" ".join(command) + "\n" + run.stderr[:8000])
    return run.stdout


def demangle(names):
    if not names:
        return {}
    text = subprocess.run(["c++filt"], input="\n".join(names), check=True, text=True, capture_output=True).stdout
    return dict(zip(names, text.splitlines()))


def untagged(path, whose):
    """The mangled names of weak defined functions of `whose` outside the tag, with their readable names."""
    weak = [line.split()[2] for line in output("nm", "--defined-only", path).splitlines()
            if len(line.split()) == 3 and line.split()[1] in "WwVvu"]
    return {name: text for name, text in demangle(weak).items() if whose in text and not TAG.search(text)}


def functions(path):
    """Yields (symbol, instructions). A part split off by the compiler (f.cold, f.part.0) counts as f."""
    symbol, body = None, []
    for line in output("objdump", "-d", "--no-show-raw-insn", path).splitlines():
        header = re.match(r"^[0-9a-f]+ <(.+)>:$", line)
        if header:
            if symbol:
                yield symbol, body
            symbol, body = re.sub(r"\.(cold|part|isra|constprop).*$", "", header[1]), []
        elif "\t" in line:
            body.append(line.split("\t", 1)[1].strip())
    if symbol:
        yield symbol, body


def violations(path, names):
    for symbol, body in functions(path):
        bad = [instruction for instruction in body if EXTENDED.match(instruction)]
        if symbol in names and bad:
            yield f"{names[symbol]}\n      {len(bad)} such instructions, the first: {bad[0]}"


def check_variant(compiler, include_dir, source, flags, folder):
    path = os.path.join(folder, "object" + "".join(flags) + ".o")
    output(compiler, "-std=c++20", "-I", include_dir, *flags, "-DOFP8_JOB=job", "-DOFP8_REFUSES=refuses", "-c", source, "-o", path)
    names = untagged(path, "ofp8" if "-O0" in flags else "")
    tagged = [n for n in demangle([s for s, _ in functions(path)]).values() if TAG.search(n)]
    return flags, len(names), len(tagged), list(violations(path, names))


def main(arguments):
    self_test = arguments[0] == "--self-test"
    compiler, include_dir, source = arguments[self_test:]
    if os.uname().machine != "x86_64":
        print("skipped: the instruction sets of this check are those of x86-64")
        return 77
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda flags: check_variant(compiler, include_dir, source, flags, folder), VARIANTS))
    for flags, outside, inside, found in results:
        print(f"{' '.join(flags)}: {inside} functions in the tag, {outside} weak symbols outside, {len(found)} violations")
        print("".join(f"    {violation}\n" for violation in found), end="")
    if self_test:
        return 0 if all(found for *_, found in results) else 1
    return 1 if any(found for *_, found in results) or not all(inside for _, _, inside, _ in results) else 0


sys.exit(main(sys.argv[1:]))
