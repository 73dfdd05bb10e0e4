"""Names of rooms: who asks what a room is asks its traits, never its name."""
import re

from rules.sources import CODE, TEXT, line_of

ENTRY = re.compile(r'\w+Room \w+\(\) \{\s*return \{\s*(?:\.info = )?\{"([^"]+)"')
FOLDERS = {"mixer": "model/mixers/", "task": "model/tasks/", "probe": "model/probe/",
           "data source": "model/data/", "format": "model/checkpoints/"}
# The same words with another meaning.
OTHERS = {("bench/report/words.cpp", "image"): "a kind of row of the benchmark"}


def rooms_by_kind():
    """kind -> {name: the room's own file}"""
    return {kind: {m.group(1): path for path in CODE if path.startswith(folder)
                   for m in ENTRY.finditer(TEXT[path])}
            for kind, folder in FOLDERS.items()}


def comparisons(kind, name):
    """A name as a literal that a value is compared with: ==, !=, the start of a text, a key that is looked up."""
    literal = rf'"{re.escape(name)}"'
    if kind in ("mixer", "task"):
        yield re.compile(rf'(?:==|!=)\s*{literal}|{literal}\s*(?:==|!=)')
        if kind == "mixer":  # those of tasks are keys of JSON, too
            yield re.compile(rf'\b(?:starts_with|ends_with|contains|count|find|at)\({literal}\)')
    else:  # words like "bias" have other uses: the value must be named after its kind
        word = {"probe": "probe", "data source": "(?:room|source)", "format": "format"}[kind]
        yield re.compile(rf'\b\w*{word}\w*(?:\(\))?\s*(?:==|!=)\s*{literal}|{literal}\s*(?:==|!=)\s*[\w.>-]*{word}')


def beginnings(names):
    """What several names of mixers begin with: "aft-", "aft-conv"."""
    families = {name[:n] for name in names for n in range(4, len(name))}
    for word in sorted(w for w in families if sum(n.startswith(w) for n in names) > 1):
        yield re.compile(rf'\bstarts_with\("{re.escape(word)}"\)')


def room_names():
    product = [p for p in CODE if not p.startswith("tests/")]
    for kind, rooms in rooms_by_kind().items():
        patterns = [(name, home, pattern) for name, home in rooms.items() for pattern in comparisons(kind, name)]
        if kind == "mixer":
            patterns += [("", "", pattern) for pattern in beginnings(rooms)]
        for path in product:
            for name, home, pattern in patterns:
                if path == home or (path, name) in OTHERS:
                    continue
                for m in pattern.finditer(TEXT[path]):
                    yield path, line_of(TEXT[path], m.start()), \
                        f"compares with the name of a {kind} ({m.group(0).strip()}): ask its traits"


def operator_kinds():
    """Which operator computes a layer is known to its room and to model/ops alone."""
    allowed = ("model/ops/", "model/mixers/", "model/jobs/op.cpp", "bench/", "tests/")
    for path in CODE:
        if path.startswith(allowed):
            continue
        for m in re.finditer(r"\bops::OperatorKind\b", TEXT[path]):
            yield path, line_of(TEXT[path], m.start()), "ops::OperatorKind outside model/ops and the mixers: ask the traits"
