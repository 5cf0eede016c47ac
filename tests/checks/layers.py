#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers of include/ofp8, checked from the #include lines.

A header includes its own layer and those before it in LAYERS. reference/ sees values, tensors and scales only,
and what it judges never sees reference/. JSON belongs to checkpoint/, CUDA to cuda/. The umbrella ofp8.hpp
brings neither threads nor the reference. Every header has its license line and #pragma once.

usage: layers.py [--self-test] INCLUDE_DIR
With --self-test every header of INCLUDE_DIR must provoke the violation that it announces in a line
`// EXPECT-VIOLATION: <regex>`, and the headers without such a line none.
"""
import pathlib
import re
import sys

LAYERS = ["core", "tensor", "scale", "reference", "arch", "exec", "ops", "nn", "checkpoint", "plan", "eval", "cuda"]
UMBRELLAS = {  # an umbrella may include what its last layer may
    "ofp8.hpp": "ops", "nn.hpp": "nn", "checkpoint.hpp": "checkpoint", "plan.hpp": "plan", "eval.hpp": "eval",
    "cuda.hpp": "cuda"}
NO_REFERENCE = {"arch", "exec", "ops", "nn"}
OWNERS = {r"nlohmann/": "checkpoint", r"(cuda|cooperative_groups|mma\.h|nv/|cub/|cutlass|cute/)": "cuda"}
NOT_IN_UMBRELLA = re.compile(r"ofp8/(reference/|exec/thread_pool|exec/openmp|cuda/|checkpoint/)|^(thread|omp\.h|iostream)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def includes(path):
    return INCLUDE.findall(path.read_text())


def layer_of(name):
    """'ofp8/core/bits.hpp' -> 'core'; an umbrella has none."""
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else None


def header_violations(name, path):
    text = path.read_text()
    if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
        yield "the first line is not the SPDX license line"
    if not re.search(r"^#pragma once$", text, re.M):
        yield "there is no #pragma once"
    if len(re.findall(r"^OFP8_STRICT_FP_BEGIN$", text, re.M)) != len(re.findall(r"^OFP8_STRICT_FP_END$", text, re.M)):
        yield "OFP8_STRICT_FP_BEGIN and OFP8_STRICT_FP_END do not pair"


def include_violations(name, path):
    layer = layer_of(name)
    own = layer or UMBRELLAS.get(name.split("/")[1])
    if own not in LAYERS:
        yield "is in no known layer"
        return
    for quote, target in includes(path):
        if quote == '"':
            yield f'"{target}": headers are included as <ofp8/...>'
        elif target.startswith("ofp8/"):
            yield from edge_violations(layer, own, target)
        else:
            for pattern, owner in OWNERS.items():
                if re.match(pattern, target) and own != owner:
                    yield f"<{target}> belongs to {owner}/ alone"
    if re.search(r"#\s*include\s*<iostream>", path.read_text()):
        yield "<iostream> puts a static initializer into every user's file"


def edge_violations(layer, own, target):
    seen = layer_of(target)
    if seen is None:
        if layer:
            yield f"<{target}>: a layer does not include an umbrella"
        return
    if seen not in LAYERS:
        yield f"<{target}> is in no known layer"
    elif LAYERS.index(seen) > LAYERS.index(own):
        yield f"<{target}>: {own} is before {seen}"
    elif own in NO_REFERENCE and seen == "reference":
        yield f"<{target}>: {own} does not see what judges it"


def closure(root, start):
    """Every include reached from the header `start`, ours or not."""
    seen, todo = set(), [start]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if (root / name).is_file():
            todo += [target for _, target in includes(root / name)]
    return seen


def check(root):
    """Returns [(header, violation)]."""
    found = []
    for path in sorted((root / "ofp8").rglob("*.hpp")):
        name = path.relative_to(root).as_posix()
        found += [(name, v) for v in header_violations(name, path)]
        found += [(name, v) for v in include_violations(name, path)]
    found += [("ofp8/ofp8.hpp", f"<{name}> is reached from the umbrella")
              for name in sorted(closure(root, "ofp8/ofp8.hpp")) if NOT_IN_UMBRELLA.search(name)]
    return found


def self_test(root):
    found, wrong, expected = check(root), [], 0
    for path in sorted((root / "ofp8").rglob("*.hpp")):
        name = path.relative_to(root).as_posix()
        patterns = re.findall(r"// EXPECT-VIOLATION: (.*)", path.read_text())
        expected += len(patterns)
        said = [v for n, v in found if n == name]
        wrong += [f"{name}: not reported: {p}" for p in patterns if not any(re.search(p, v) for v in said)]
        wrong += [f"{name}: reported without cause: {v}" for v in said if not any(re.search(p, v) for p in patterns)]
    print("\n".join(wrong) or f"all {expected} planted violations were reported")
    return 1 if wrong or not expected else 0


def main(arguments):
    if arguments[0] == "--self-test":
        return self_test(pathlib.Path(arguments[1]))
    root = pathlib.Path(arguments[0])
    found = check(root)
    for name, violation in found:
        print(f"{name}: {violation}")
    count = len(list((root / "ofp8").rglob("*.hpp")))
    print(f"{count} headers, {len(found)} violations")
    return 1 if found or not count else 0


sys.exit(main(sys.argv[1:]))
