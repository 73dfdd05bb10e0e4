#!/usr/bin/env python3
"""Groups source files that are compiled as one: cmake/batches.py SIZE FILE... prints a batch a line, `FILE;FILE;...`.

Most of the time to compile a small file is headers. Files of one batch share a translation unit, so no two of them may
define the same name, as components do: a file joins the first batch of fewer than SIZE files that has none of its names.
"""
import re
import sys

# Definitions begin at the left edge: clang-format indents everything but namespaces.
NAMES = (
    re.compile(r"^(?:struct|class|enum(?: class)?|union|concept) (\w+)", re.M),
    re.compile(r"^(?:using (?=\w+ =)|#define )(\w+)", re.M),
    re.compile(r"^(?![#}/ ])[\w:<][^;={(]*?[ &*](\w+)[({]", re.M),  # functions, variables; not members: theirs have a ::
)
CONSTANTS = re.compile(r"^(?:inline |static )?const(?:expr)? [^;]*;", re.M)  # several in a line, perhaps
CONSTANT = re.compile(r"\b(\w+)(?:\[\w*\])* ?[={]")


def names(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = {name for pattern in NAMES for name in pattern.findall(text)}
    return found.union(*(CONSTANT.findall(constants) for constants in CONSTANTS.findall(text)))


def batches(size, files):
    found = []  # (files, names)
    for file in files:
        own = names(file)
        for batch, taken in found:
            if len(batch) < size and not own & taken:
                batch.append(file)
                taken |= own
                break
        else:
            found.append(([file], set(own)))
    return [batch for batch, _ in found]


if __name__ == "__main__":
    print("\n".join(";".join(batch) for batch in batches(int(sys.argv[1]), sys.argv[2:])))
