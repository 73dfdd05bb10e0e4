"""Tests find controls by their ids: better words on the screen break none of them."""
import re

from rules.sources import TEXT, line_of

FOLDERS = ("tests/app/", "tests/toys/", "tests/journeys/")
LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
WORDS = re.compile(r"[A-Z ]")
# What takes the name of a control: every literal in its first argument is one, or a part of one.
LOOKUP = re.compile(r"\b(?:value_of|is_there|until_usable|scripted\.request|recorder\.find|driver_?\.find|until_value|"
                    r"type_number|fill|place|option|opens|ending|settle|card_of|y_of|window\.click|"
                    r"(?:d|dump|dump\(\))\.(?:find|value|number))"
                    r'\((?:window, )?((?:[^(),";]|"(?:\\.|[^"\\\n])*")*)')
# "Pane/Section": a path made of words, wherever it stands.
LABEL = re.compile(r"(?<![\w/.])[A-Z][\w ]*/(?:[A-Z][\w ]*(?:/|\\n|$)|$)")
SCRIPT = re.compile(r'\b(?:run|error_of|look_after)\(\s*(?:std::string\(|fmt::format\()?((?:"(?:\\.|[^"\\\n])*"\s*)+)')
VERBS = ("click", "dump", "frames", "hover", "key", "open", "quit", "set", "shot", "shows", "wait")
STEP = re.compile(r'(?:click|hover|set) (?:\\"([^"\\]*)|(\S*))')

# (path, word): what is data, or what the test is about.
EXCEPT = {
    ("tests/app/frame/actions_test.cpp", "Theme dark"): "an action by its name",
    ("tests/app/frame/script_test.cpp", "# a comment"): "no action",
    ("tests/app/frame/script_test.cpp", "workspace Trane"): "an action that is not there",
    ("tests/app/frame/script_test.cpp", "Curves/Scale/"): "labels are found",
    ("tests/app/frame/script_test.cpp", "Curves/Scale/Smooth"): "labels are found",
    ("tests/app/frame/script_test.cpp", "Curves/Scale/x axis"): "labels are found",
    ("tests/app/frame/script_test.cpp", "Curves/Scale/x axis=Log"): "labels are found",
    ("tests/app/frame/script_test.cpp", "Run/Run/"): "labels are found",
    ("tests/app/frame/script_test.cpp", "Run/Run/Run until..."): "labels are found",
    ("tests/app/frame/script_test.cpp", "Top bar/Workspaces/"): "labels are found",
    ("tests/app/frame/script_test.cpp", "Top bar/Workspaces/Train"): "labels are found",
}


def has_words(name):
    """`name` may hold fields of a format: "{RULE}={rule}"."""
    return WORDS.search(re.sub(r"\{[^{}]*\}", "", name))


def steps_of(script):
    """The lines of a script that begin in this text."""
    return "".join(LITERAL.findall(script)).split("\\n")


def breaches_of(path, text):
    for m in LOOKUP.finditer(text):
        for name in LITERAL.findall(m.group(1)):
            if has_words(name):
                yield m.start(1), name, "a control is found by its id"
    for m in LITERAL.finditer(text):
        for label in LABEL.finditer(m.group(1)):
            yield m.start(1), label.group(0), "a control is found by its id"
    for m in SCRIPT.finditer(text) if path.endswith((".cpp", ".h")) else ():
        for line in steps_of(m.group(1)):
            verb = line.split(" ")[0]
            if line and "." not in verb and verb not in VERBS:
                yield m.start(1), line, "a script runs an action by its id"
            for step in STEP.finditer(line):
                name = step.group(1) or step.group(2) or ""
                if has_words(name):
                    yield m.start(1), name, "a script finds a control by its id"


def found_by_id():
    for path, text in TEXT.items():
        if path.startswith(FOLDERS):
            for at, word, why in breaches_of(path, text):
                if (path, word) not in EXCEPT:
                    yield path, line_of(text, at), f"'{word}': {why}"


def unused_exceptions():
    found = {(path, word) for path, text in TEXT.items() if path.startswith(FOLDERS)
             for _, word, _ in breaches_of(path, text)}
    for path, word in sorted(set(EXCEPT) - found):
        yield "tests/rules/ids.py", 0, f"nothing breaks the rule: {path}, '{word}'"
