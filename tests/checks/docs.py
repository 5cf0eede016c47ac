#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents tell the truth: every test that docs/numerics.md names exists, every line of the contract names
one, the first code of the README is that of examples/quickstart.cpp, and every output it shows (a ```text block)
is part of an examples/expected/*.txt.

A contract line is a list item. It ends with `Proof:` and at least one test, written as the path of a file in
backquotes and the test's name in quotation marks (files of compile_fail/, link/ and checks/ stand alone), or
with `Proof: none` and the reason.

usage: docs.py ROOT
       docs.py --self-test      the parts of this script against planted mistakes
"""
import pathlib
import re
import sys

NAMED = re.compile(r'`(tests/[\w./]+)`((?:,?\s+"[^"]+")*)')
CASE = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')
ALONE = ("tests/compile_fail/", "tests/link/", "tests/checks/")


def items(text):
    """The list items of a markdown text, each as one line."""
    item = None
    for line in text.splitlines() + [""]:
        starts = re.match(r"(-|\d+\.) ", line)
        if item is not None and (starts or not line.startswith("  ")):
            yield item
            item = None
        if starts:
            item = line
        elif item is not None:
            item += " " + line.strip()


def test_names(source):
    return {"".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match)) for match in CASE.findall(source)}


def named_tests(item):
    for path, names in NAMED.findall(item):
        found = re.findall(r'"([^"]+)"', names)
        yield from ((path, name) for name in found or [None])


def contract_mistakes(text, read):
    """`read` gives a file's text, or None where there is no such file."""
    for item in items(text):
        short, proof = item[:70], item.partition("Proof:")[2]
        if not proof.strip():
            yield f"names no proof: {short}"
        elif not proof.strip().startswith("none") and not list(named_tests(proof)):
            yield f"its proof names no test: {short}"
        for path, name in named_tests(item):
            source = read(path)
            if source is None:
                yield f"there is no {path}: {short}"
            elif name is None and not path.startswith(ALONE):
                yield f"{path} stands without a test's name: {short}"
            elif name is not None and name not in test_names(source):
                yield f'{path} has no test "{name}"'


def blocks(text, kind):
    return [body for label, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S) if label == kind]


def shown(source):
    """What an example marks for the README: the lines between `// README` and `// end`, unindented."""
    body = re.search(r"^ *// README\n(.*?)^ *// end$", source, re.M | re.S)[1].splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in body if line.strip())
    return "".join(line[indent:] + "\n" for line in body)


def readme_mistakes(readme, source, outputs):
    if shown(source) not in blocks(readme, "cpp"):
        yield "README.md does not show the marked lines of examples/quickstart.cpp"
    for block in blocks(readme, "text"):
        if not any(block in output for output in outputs):
            yield f"README.md shows an output that no file of examples/expected has: {block[:70]!r}"


def self_test():
    tests = {"tests/core/a_test.cpp": 'TEST_CASE("a name that is "\n  "split", "[x]") {}', "tests/link/b.cpp": ""}
    good = '- one. Proof: `tests/core/a_test.cpp` "a name that is split",\n  `tests/link/b.cpp`\n- two. Proof: none, a choice\n'
    bad = ["- no proof at all\n", "- one. Proof: look around\n", '- one. Proof: `tests/core/a_test.cpp` "another"\n',
           '- one. Proof: `tests/core/z_test.cpp` "a name"\n', "- one. Proof: `tests/core/a_test.cpp`\n"]
    assert not list(contract_mistakes(good, tests.get)), list(contract_mistakes(good, tests.get))
    for text in bad:
        assert len(list(contract_mistakes(text, tests.get))) == 1, text
    source = "int main() {\n  // README\n  f();\n  if (x) {\n    g();\n  }\n  // end\n}\n"
    readme = "```cpp\nf();\nif (x) {\n  g();\n}\n```\n```text\n1\n```\n"
    assert not list(readme_mistakes(readme, source, ["0\n1\n"]))
    assert len(list(readme_mistakes(readme, source.replace("g", "h"), ["2\n", "3\n"]))) == 2
    print("every planted mistake was reported")


def main(root):
    read = lambda name: (root / name).read_text() if (root / name).is_file() else None
    contract = read("docs/numerics.md")
    found = list(contract_mistakes(contract, read))
    outputs = [path.read_text() for path in (root / "examples/expected").glob("*.txt")]
    found += readme_mistakes(read("README.md"), read("examples/quickstart.cpp"), outputs)
    lines, named = list(items(contract)), [t for item in items(contract) for t in named_tests(item)]
    print("\n".join(found + [f"{len(lines)} contract lines name {len(named)} tests, {len(found)} mistakes"]))
    return 1 if found or not lines else 0


sys.exit(self_test() if sys.argv[1] == "--self-test" else main(pathlib.Path(sys.argv[1])))
