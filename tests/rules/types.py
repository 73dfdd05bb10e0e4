"""Two types never share a name, whatever their namespaces; an Impl is a class's own."""
import re
from collections import defaultdict

from rules.sources import CODE, TEXT, bare, line_of

TYPE = re.compile(r"\b(enum\s+class\s+|enum\s+|class\s+|struct\s+)(?:alignas\([^)]*\)\s*)?((?:\w+::)*\w+)"
                  r"(?:\s+final)?(?:\s*:\s*[^;{()]*)?\s*\{")
FREE = {"Impl"}


def type_names():
    types = defaultdict(list)
    for path in CODE:
        text = bare(TEXT[path])
        for m in TYPE.finditer(text):
            types[m.group(2).rsplit("::")[-1]].append((path, line_of(text, m.start())))
    for name, places in types.items():
        for i, (path, line) in enumerate(places):
            others = places[:i] + places[i + 1:]
            if name not in FREE and others:
                yield path, line, f"{name}: the name of another type ({others[0][0]}:{others[0][1]})"
