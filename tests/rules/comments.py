"""Trailing comments: one that needs more than its line, or a declaration that is broken apart for it, stands above."""
import re

from rules.sources import CODE, TEXT

COLUMNS = 100
COMMENT_ONLY = re.compile(r"\s*//")
# What clang-format breaks a line after; not the head of a statement, nor an entry of a list.
BROKEN = re.compile(r"[\w>&*(=|+?-]$")
HEADS = re.compile(r"^\s*(#|//|template\b|\w+:$)|\b(else|do)$")


def split_comment(line):
    """Code and trailing comment; None for a comment where there is none, or it is all there is."""
    inside = None
    for i, c in enumerate(line):
        if inside:
            if c == inside and line[i - 1] != "\\":
                inside = None
        elif c == '"' or (c == "'" and not (i and line[i - 1].isalnum())):
            inside = c
        elif line.startswith("//", i):
            return (line[:i].rstrip(), line[i:]) if line[:i].strip() else (line, None)
    return line, None


def joined(parts):
    """The length of a broken declaration in one line."""
    text = parts[0].rstrip()
    for part in parts[1:]:
        text += ("" if text.endswith("(") else " ") + part.strip()
    return len(text)


def is_broken(lines, i, code):
    """Whether the code that ends in line i would stand in one line without its comment."""
    before = lines[i - 1].rstrip() if i else ""
    if code.strip() == "}" and i > 1:  # a body of one statement
        head = lines[i - 2].rstrip()
        return (head.endswith("{") and "(" in head and before.endswith(";")
                and split_comment(before)[1] is None and not re.match(r"\s*(if|for|while|else|switch)\b", head)
                and joined([head, before, code]) <= COLUMNS)
    if not before or split_comment(before)[1] or HEADS.search(before) or not BROKEN.search(before):
        return False
    return joined([before, code]) <= COLUMNS


def trailing_comments():
    for path in CODE:
        lines = TEXT[path].split("\n")
        for i, line in enumerate(lines):
            code, comment = split_comment(line)
            if comment is None or "NOLINT" in comment:
                continue
            following = lines[i + 1] if i + 1 < len(lines) else ""
            place = line.index(comment, len(code))
            if COMMENT_ONLY.match(following) and len(following) - len(following.lstrip()) == place:
                yield path, i + 1, "the comment continues on the next line: put it above"
            elif is_broken(lines, i, code):
                yield path, i + 1, "the comment breaks the declaration apart: put it above"
