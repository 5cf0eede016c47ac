#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code that must not compile, and does without the offending lines.

A source holds its offence under `#ifdef OFP8_BREAK` and announces the compiler's message in a line
`// EXPECT-ERROR: <regex>`. It must compile as it stands, and with -DOFP8_BREAK fail with that message.

usage: compile_fail.py COMPILER INCLUDE_DIR SOURCE
       compile_fail.py --self-test COMPILER INCLUDE_DIR FOLDER     every source of FOLDER must be objected to
"""
import pathlib
import re
import subprocess
import sys


def compile_source(compiler, include_dir, source, *flags):
    return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", include_dir, *flags, str(source)], text=True,
                          capture_output=True)


def objection(compiler, include_dir, source):
    """What is wrong with this test, or None."""
    pattern = re.search(r"// EXPECT-ERROR: (.*)", source.read_text())
    if not pattern:
        return "has no line // EXPECT-ERROR: <regex>"
    plain = compile_source(compiler, include_dir, source)
    if plain.returncode != 0:
        return "does not compile without OFP8_BREAK:\n" + plain.stderr[:3000]
    broken = compile_source(compiler, include_dir, source, "-DOFP8_BREAK")
    if broken.returncode == 0:
        return "compiles with OFP8_BREAK"
    if not re.search(pattern[1].strip(), broken.stderr):
        return f"fails with another message than /{pattern[1].strip()}/:\n{broken.stderr[:3000]}"
    return None


def main(arguments):
    if arguments[0] == "--self-test":
        compiler, include_dir, folder = arguments[1:]
        sources = sorted(pathlib.Path(folder).glob("*.cpp"))
        accepted = [s.name for s in sources if not objection(compiler, include_dir, s)]
        print(f"{len(sources)} bad tests, accepted: {accepted}")
        return 1 if accepted or not sources else 0
    compiler, include_dir, source = arguments
    problem = objection(compiler, include_dir, pathlib.Path(source))
    print(f"{source}: {problem or 'fails as it must'}")
    return 1 if problem else 0


sys.exit(main(sys.argv[1:]))
