"""A file includes what it uses, itself or through its headers: it compiles alone, not only behind another in a batch.

Of functions with an underscore in their names and of types in CamelCase, which are ours by their looks.
"""
import re
from pathlib import PurePosixPath

from rules.sources import CODE, HEADERS, TEXT, bare, includes, line_of

TEST_NAMES = re.compile(r"^TEST\w*\([^)]*\)|^INSTANTIATE_\w+\([^,]*,[^,]*", re.M)
BARE = {path: TEST_NAMES.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), bare(TEXT[path])) for path in CODE}
FUNCTION = re.compile(r"^(?:\[\[nodiscard\]\] )?[A-Za-z_][\w:<>,&* \[\]]*?[ &*](\w*_\w+)\(", re.M)
TYPE = re.compile(r"^(?:(?:struct|class|enum class|union)|using(?= \w+ =)) ([A-Z]\w*[a-z]\w*)\b(?!\s*;)", re.M)
CALL = re.compile(r"(?<![\w.>:~&*])(\w*_\w+)\(")
NAMED = re.compile(r"(?<![\w.>:~])([A-Z]\w*[a-z]\w*)\b")
# Words that may stand before a call; others before a name declare it.
BEFORE_A_CALL = {"return", "else", "case", "throw", "not", "and", "or", "co_return"}


def reached(path, seen):
    """`path` and every file of ours that it includes."""
    if path in seen or path not in TEXT:
        return seen
    seen.add(path)
    for _, kind, name in includes(path):
        if kind == '"':
            beside = str(PurePosixPath(path).parent / name)
            reached(name if name in TEXT else beside, seen)
    return seen


def declarations(pattern):
    """name -> the headers that declare it"""
    found = {}
    for header in HEADERS:
        for match in pattern.finditer(BARE[header]):
            found.setdefault(match[1], set()).add(header)
    return found


def declares(name, text):
    """Another declaration of the name: a member, a variable, a lambda, a forward declaration, a template's parameter."""
    return re.search(rf"[\w>&*\]] [&*]*{name}\b\s*[({{;=:,>)]|[&*]{name}\(|(?:struct|class|typename|using) {name}\b", text)


def is_call(text, start):
    word = re.search(r"(\w+|[>&*\]])[ \n]+$", text[max(0, start - 60):start])
    return word is None or word[1] in BEFORE_A_CALL


def missing(uses, headers_of):
    for path in CODE:
        text = BARE[path]
        files = None
        for match in uses.finditer(text):
            name = match[1]
            if name not in headers_of or (uses is CALL and not is_call(text, match.start())):
                continue
            files = files or reached(path, set())
            if headers_of[name] & files or any(declares(name, BARE[f]) for f in files if f in BARE):
                continue
            yield path, line_of(text, match.start()), f"{name} is declared by {min(headers_of[name])}, which is not included"


def declared():
    yield from missing(CALL, declarations(FUNCTION))
    yield from missing(NAMED, declarations(TYPE))
