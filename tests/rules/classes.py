"""Sizes of classes: at most 10 public methods and 10 members. The members of plain structs of data are free, and so are
those of settings: a struct whose visit(SettingRows&) has a row for each of them."""
import re

from rules.sources import CODE, TEXT, bare, line_of

METHODS, MEMBERS = 10, 10
HEAD = re.compile(r"\b(enum\s+)?(class|struct)\s+(?:alignas\([^)]*\)\s*)?((?:\w+::)*\w+)(?:\s+final)?(?:\s*:[^;{]*)?\s*\{")
SETTINGS = re.compile(r"\bvoid\s+visit\s*\(\s*SettingRows\s*&")
FUNCTION_END = re.compile(r"\)\s*(?:const\b|noexcept\b|override\b|final\b|->[^{]*|:[^{]*|\s|\{\}\s*,?\s*\w*)*\{\}$")


def bodies(text):
    """(kind, name, position, body) of each class and struct."""
    for m in HEAD.finditer(text):
        if m.group(1):
            continue
        depth, end = 1, m.end()
        while depth and end < len(text):
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        yield m.group(2), m.group(3), m.start(), text[m.end():end - 1]


def statements(body):
    """The declarations of a body; what stands in their braces is left out."""
    current, depth = "", 0
    for i, c in enumerate(body):
        if depth:
            depth += (c == "{") - (c == "}")
            ends = not depth and FUNCTION_END.search(current) and not body[i + 1:].lstrip().startswith((";", ","))
        else:
            ends = c == ";"
            depth = c == "{"
            current += "{}" if depth else "" if ends else c
        if ends:
            yield current
            current = ""


def without_templates(text):
    while True:
        shorter = re.sub(r"<[^<>]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def counts(kind, name, body):
    """(methods that others may call, members); constructors, operators, what an interface asks for (override) and
    static constants are free."""
    access = "public" if kind == "struct" else "private"
    methods = members = 0
    short = name.rsplit("::")[-1]
    for statement in statements(body):
        while m := re.match(r"\s*(public|private|protected)\s*:(?!:)", statement):
            access, statement = m.group(1), statement[m.end():]
        head = without_templates(re.sub(r"\[\[.*?\]\]", "", statement)).strip()
        head = re.sub(r"^template\s+", "", head)
        if not head or re.match(r"(using|friend|static_assert|enum|struct|class|union|static constexpr)\b", head):
            continue
        if re.search(rf"\b{short}\s*\(", head) or re.search(r"\boperator\b|\boverride\b", head):
            continue
        if re.search(r"\(\s*\*", head):
            members += 1  # a pointer to a function: a row of a table
        elif "(" in head.split("=")[0].split("{")[0]:
            methods += access == "public"
        elif not head.startswith("static"):
            members += 1 + len(re.findall(r",\s*\w+", re.sub(r"\{[^}]*\}", "", head)))
    return methods, members


# Folders that keep it.
FOLDERS = ("app/", "bench/", "core/", "model/", "tests/", "viz/")


def class_sizes():
    for path in CODE:
        if not path.startswith(FOLDERS):
            continue
        text = bare(TEXT[path])
        for kind, name, position, body in bodies(text):
            methods, members = counts(kind, name, body)
            if methods > METHODS:
                yield path, line_of(text, position), f"{name}: {methods} public methods, allowed {METHODS}"
            is_data = kind == "struct" and (methods <= 3 or SETTINGS.search(body))
            if members > MEMBERS and not is_data:
                yield path, line_of(text, position), f"{name}: {members} members, allowed {MEMBERS}"
