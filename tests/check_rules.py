#!/usr/bin/env python3
"""Rules of the code that a machine can check; prints what breaks them and `N passed, N failed`.

    tests/check_rules.py [--list]     --list names the rules

One count per rule. A rule is a function that yields (file, line or 0, message) for each breach.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE_FOLDERS = ("core", "model", "viz", "app", "bench", "tests")
FILE_LINES, HEADER_LINES, FUNCTION_LINES, PARAMETERS = 400, 150, 60, 4

# What each folder may include of ours.
ALLOWED = {
    "core": ("core/",),
    "model": ("core/", "model/"),
    "viz": ("core/", "viz/"),
    "bench": ("bench/", "core/", "model/"),
    "app": ("app/", "core/", "viz/", "bench/bench.h", "model/session.h", "model/jobs.h"),
    "tests": ("",),
}
LIBTORCH = re.compile(r"^(ATen|torch|c10|caffe2)/")
IMGUI = re.compile(r"^(imgui|implot|imgui_internal)[\w]*\.h$|^backends/imgui")
OPENGL = re.compile(r"^(GL|EGL|GLES\d?)/")
GLFW = re.compile(r"^GLFW/")
# Headers that must stay free of LibTorch, whatever they include; others say so in their first lines.
PLAIN_HEADERS = ("model/session.h", "model/jobs.h", "model/config.h")


def tracked_files():
    try:
        out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                             capture_output=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        out = [str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file()]
        out = [p for p in out if not p.startswith(("build/", ".deps/", ".git/", "runs/"))]
    return sorted(p for p in out if (ROOT / p).is_file())


FILES = tracked_files()
TEXT = {p: (ROOT / p).read_text(errors="replace") for p in FILES
        if p.endswith((".h", ".inl", ".cpp", ".cu", ".py", ".sh", ".md", ".txt", ".cmake", ".json", ".vert", ".frag", ".glsl"))
        or p == ".ci/run"}
CODE = [p for p in TEXT if p.split("/")[0] in CODE_FOLDERS and p.endswith((".h", ".inl", ".cpp", ".cu"))]
HEADERS = [p for p in CODE if p.endswith(".h")]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def line_of(text, index):
    return text.count("\n", 0, index) + 1


def includes(path):
    text = TEXT[path]
    return [(line_of(text, m.start()), m.group(1), m.group(2)) for m in INCLUDE.finditer(text)]


def include_direction():
    for path in CODE:
        folder = path.split("/")[0]
        for line, kind, name in includes(path):
            if kind != '"':
                continue
            if folder == "tests" and (ROOT / path).parent.joinpath(name).exists():
                continue  # what the tests of one program share
            if not (ROOT / name).exists():
                yield path, line, f'"{name}" is no file of ours (from the root, or <> for others)'
            elif not name.startswith(ALLOWED[folder]):
                yield path, line, f"{folder}/ may not include {name}"


def places(pattern, what, allowed):
    for path in CODE:
        if path.startswith(allowed):
            continue
        for line, _, name in includes(path):
            if pattern.search(name):
                yield path, line, f"{what} header {name} outside {', '.join(allowed)}"


def libtorch_places():
    yield from places(LIBTORCH, "LibTorch", ("model/", "bench/", "tests/"))


def imgui_places():
    yield from places(IMGUI, "ImGui", ("viz/", "app/ui/", "app/panels/", "tests/"))


def opengl_places():
    yield from places(OPENGL, "OpenGL", ("viz/", "app/ui/window", "tests/"))
    yield from places(GLFW, "GLFW", ("viz/", "app/ui/window", "tests/"))


def reached_from(header, seen):
    """Own headers that `header` includes, with the include that brings LibTorch, if any."""
    if header in seen or header not in TEXT:
        return None
    seen.add(header)
    for _, kind, name in includes(header):
        if LIBTORCH.search(name):
            return f"{header} includes {name}"
        found = reached_from(name, seen) if kind == '"' else None
        if found:
            return found
    return None


def plain_headers():
    for path in HEADERS:
        opening = " ".join(TEXT[path].split("#pragma once")[0].split("//"))
        opening = " ".join(opening.split())
        if path not in PLAIN_HEADERS and not re.search(r"\b[Nn]o LibTorch\b", opening):
            continue
        found = reached_from(path, set())
        if found:
            yield path, 0, f"promises no LibTorch, but {found}"


def header_openings():
    for path in HEADERS:
        lines = TEXT[path].splitlines()
        if not lines or not lines[0].startswith("//"):
            yield path, 1, "a header begins with what it is for, who calls it, on which thread"
        if "#pragma once" not in lines[:14]:
            yield path, 1, "no #pragma once after the opening comment"


def file_sizes():
    for path in CODE:
        lines = TEXT[path].count("\n")
        limit = HEADER_LINES if path.endswith(".h") else FILE_LINES
        if path.endswith(".h") and path == "model/session.h":
            limit = 180  # one of the two doors: all that the window knows of a run
        if lines > limit:
            yield path, 0, f"{lines} lines, allowed {limit}"


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def bare(text):
    """The code with comments, strings and preprocessor lines blanked, positions kept."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', blank, text, flags=re.S)
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


NO_FUNCTION = re.compile(r"\b(namespace|class|struct|enum|union|if|for|while|switch|catch|do|else|try|return)\b")


def parameter_count(head):
    """Parameters of the first (...) of a function's head, 0 for none."""
    depth, count, seen = 0, 1, False
    for c in head[head.index("("):]:
        if c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
            if depth == 0:
                break
        elif c == "," and depth == 1:
            count += 1
        elif not c.isspace():
            seen = True
    return count if seen else 0


def functions(path):
    """(line, name, lines, parameters) of each function with a body, lambdas counted to theirs."""
    text = bare(TEXT[path])
    stack, begin, inside = [], 0, 0
    for i, c in enumerate(text):
        if c == "{":
            head = text[begin:i]
            is_function = (not inside and "(" in head and not NO_FUNCTION.search(head.split("(")[0])
                           and not re.search(r"=\s*$|=\s*\w*\s*$", head) and "[" not in head.split("(")[0])
            start = begin + len(head) - len(head.lstrip())
            stack.append((is_function, start, head.strip()))
            inside += is_function
            begin = i + 1
        elif c == "}" and stack:
            is_function, start, head = stack.pop()
            inside -= is_function
            if is_function:
                first = line_of(text, start)
                name = head.split("(")[0].split()[-1] if head.split("(")[0].split() else "?"
                yield first, name, line_of(text, i) - first + 1, parameter_count(head)
            begin = i + 1
        elif c == ";" and not inside:
            begin = i + 1


def function_sizes():
    for path in CODE:
        for line, name, lines, _ in functions(path):
            if lines > FUNCTION_LINES:
                yield path, line, f"{name}: {lines} lines, allowed {FUNCTION_LINES}"


def parameter_counts():
    for path in CODE:
        if path.endswith(".cu"):
            continue  # kernels take pointers and sizes one by one
        of_autograd = "torch::autograd::Function" in TEXT[path]
        for line, name, _, count in functions(path):
            if name == "forward" and of_autograd:
                continue  # LibTorch's form: one parameter for each input
            if count > PARAMETERS:
                yield path, line, f"{name}: {count} parameters, allowed {PARAMETERS} (then a struct)"


ROOM = re.compile(r"^(?:\w+::)*(\w+Room|\w+Panel|PanelRoom) (\w+)\(\) \{", re.M)


def room_lists():
    for path in [p for p in CODE if p.endswith("/rooms.cpp")]:
        folder = path.rsplit("/", 1)[0]
        own = [p for p in CODE if p.rsplit("/", 1)[0] == folder and p.endswith(".cpp") and p != path]
        defined = {}
        for room in own:
            for m in ROOM.finditer(TEXT[room]):
                defined[m.group(2)] = room
        listed = TEXT[path]
        for name, room in defined.items():
            if len(re.findall(rf"\b{name}\b", listed)) < 2:
                yield room, 0, f"{name}() is not in the list of {path}"
        for m in re.finditer(r"^\w+ (\w+)\(\);", listed, re.M):
            if m.group(1) not in defined:
                yield path, line_of(listed, m.start()), f"lists {m.group(1)}(), which no file of {folder}/ defines"


def one_room_a_file():
    for path in CODE:
        rooms = ROOM.findall(TEXT[path])
        if path.startswith("tests/") or path.endswith("/rooms.cpp"):
            continue
        if len(rooms) > 1:
            yield path, 0, f"{len(rooms)} rooms in one file"
        if rooms and path[:-4] + ".h" in TEXT:
            yield path, 0, "a room has no header of its own"


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
        out = subprocess.run(["clang-format", "--dry-run", *own], cwd=ROOT, text=True, capture_output=True).stderr
    except OSError:
        yield "clang-format", 0, "is not installed (scripts/setup.sh brings it)"
        return
    seen = set()
    for m in re.finditer(r"^(.+?):(\d+):\d+: warning: ", out, re.M):
        path = str(Path(m.group(1)).resolve().relative_to(ROOT))
        if path not in seen:
            seen.add(path)
            yield path, int(m.group(2)), "not formatted (clang-format -i)"


def scripts_are_executable():
    for path in FILES:
        if path.endswith(".sh") or path == ".ci/run":
            if not (ROOT / path).stat().st_mode & 0o100:
                yield path, 0, "is not executable"


RULES = {
    "include direction": include_direction,
    "LibTorch only in model, bench, tests": libtorch_places,
    "ImGui only in viz, app/ui, app/panels": imgui_places,
    "OpenGL and GLFW only in viz and app/ui/window": opengl_places,
    "headers that promise no LibTorch": plain_headers,
    "headers say what they are for": header_openings,
    "file sizes": file_sizes,
    "function sizes": function_sizes,
    "parameter counts": parameter_counts,
    "rooms and their lists": room_lists,
    "one room a file, without a header": one_room_a_file,
    "words that do not belong": words,
    "documents that are named are there": documents,
    "no using namespace in headers": using_namespace,
    "no raw new and delete": naked_new,
    "kernels hide no constant": hidden_constants,
    "formatting": formatting,
    "scripts are executable": scripts_are_executable,
}


def main():
    if "--list" in sys.argv[1:]:
        print("\n".join(RULES))
        return 0
    failed = 0
    for name, rule in RULES.items():
        breaches = sorted(set(rule()))
        failed += bool(breaches)
        for path, line, message in breaches:
            print(f"FAIL {name}: {path}{f':{line}' if line else ''}: {message}")
    print(f"{len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
