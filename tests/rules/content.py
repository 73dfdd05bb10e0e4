"""Words, documents, formatting and what a line of code may hold."""
import re
import subprocess
from pathlib import Path

from rules.sources import CODE, FILES, HEADERS, ROOT, TEXT, bare, line_of

# Split, so that this file does not break its own rule.
FORBIDDEN = [
    (re.compile(r"/" + r"work/"), "a path of one machine"),
    (re.compile(r"\b" + r"(TO" + r"DO|FIX" + r"ME)\b(?!\(\w+)"), "without a name"),
    (re.compile(r"\b(clau" + r"de|anthro" + r"pic|chat" + r"gpt|co" + r"pilot|A" + r"I assist)", re.I), "does not belong here"),
    (re.compile(r"\bassis" + r"tants?\b", re.I), "does not belong here"),
    (re.compile(r"\b" + r"issue #?\d", re.I), "does not belong here"),
    (re.compile(r"^\s*#\s*if" + r" 0\b", re.M), "dead code"),
]


def words():
    for path, text in TEXT.items():
        for pattern, why in FORBIDDEN:
            for m in pattern.finditer(text):
                yield path, line_of(text, m.start()), f"'{m.group(0).strip()}': {why}"


def documents():
    for path, text in TEXT.items():
        for m in re.finditer(r"[\w/.-]*\w\.md\b", text):
            if not any((folder / m.group(0)).exists() for folder in (ROOT, (ROOT / path).parent)):
                yield path, line_of(text, m.start()), f"{m.group(0)} is no document of ours"


def using_namespace():
    for path in HEADERS:
        for m in re.finditer(r"^\s*using namespace", TEXT[path], re.M):
            yield path, line_of(TEXT[path], m.start()), "using namespace in a header"


def naked_new():
    for path in CODE:
        if path.startswith("tests/"):
            continue
        text = bare(TEXT[path])
        for m in re.finditer(r"(?<![\w.])(new\s+[A-Za-z_]|delete\s+[A-Za-z_*]|delete\[\])", text):
            yield path, line_of(text, m.start()), "raw new or delete: use values or unique_ptr"


def json_readers():
    """A reader that knows neither depth nor repeated keys: core/json.h has the one for texts from outside."""
    call = re.compile(r"\b(?:json|Json|ordered_json)::(?:(?:sax_)?parse|accept|from_\w+)\b")
    value = re.compile(r"\b(?:json|Json|ordered_json)\s*&?\s+(\w+)\s*[;,={)]")
    for path in CODE:
        if path.startswith("tests/") or path == "core/json.cpp":
            continue
        text = bare(TEXT[path])
        names = {m.group(1) for m in value.finditer(text)}
        places = [m.start() for m in call.finditer(text)]
        places += [m.start() for m in re.finditer(r">>\s*(\w+)", text) if m.group(1) in names]
        for at in places:
            yield path, line_of(text, at), "JSON from outside is read by parse_json, read_json_file or scan_json"


def json_makers():
    """Commands and panels print JSON; what makes it of results stands in one place."""
    made = re.compile(r"\bjson::(?:array|object)\(\)|\bjson(?: \w+)?\{\{|\bpush_back\(\{\{\"")
    for path in CODE:
        if path.startswith(("app/commands/", "app/panels/", "app/frame/", "app/host/")):
            for m in made.finditer(TEXT[path]):
                yield path, line_of(TEXT[path], m.start()), "JSON is made in app/cli/results_json and program_json"


def hidden_constants():
    """Kernels lie in a namespace of their own inside that of the headers' constants."""
    constants = re.compile(r"^constexpr [^;]*?\b(k[A-Z]\w*) *=", re.M)
    shared = {m.group(1) for p in HEADERS if p.startswith("model/ops/cpu/")
              for m in constants.finditer(TEXT[p])}
    for path, text in TEXT.items():
        if path.endswith(".inl"):
            for m in constants.finditer(text):
                if m.group(1) in shared:
                    yield path, line_of(text, m.start(1)), f"{m.group(1)} hides that of a header"


def formatting():
    own = [str(ROOT / p) for p in CODE]
    try:
        out = subprocess.run(["clang-format-19", "--dry-run", *own], cwd=ROOT, text=True, capture_output=True).stderr
    except OSError:
        yield "clang-format-19", 0, "is not installed (scripts/setup.sh brings it)"
        return
    seen = set()
    for m in re.finditer(r"^(.+?):(\d+):\d+: warning: ", out, re.M):
        path = str(Path(m.group(1)).resolve().relative_to(ROOT))
        if path not in seen:
            seen.add(path)
            yield path, int(m.group(2)), "not formatted (clang-format-19 -i)"


def scripts_are_executable():
    for path in FILES:
        if path.endswith(".sh") or path == ".ci/run":
            if not (ROOT / path).stat().st_mode & 0o100:
                yield path, 0, "is not executable"


def header_openings():
    for path in HEADERS:
        lines = TEXT[path].splitlines()
        if not lines or not lines[0].startswith("//"):
            yield path, 1, "a header begins with what it is for, who calls it, on which thread"
        if "#pragma once" not in lines[:14]:
            yield path, 1, "no #pragma once after the opening comment"
