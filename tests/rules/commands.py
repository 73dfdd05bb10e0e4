"""Panels, widgets and state ask by commands: their session is const, so the compiler refuses its commands; this refuses
another session, and the fields that have a command."""
import re

from rules.sources import CODE, TEXT, bare, line_of

FOLDERS = ("app/panels/", "app/widgets/", "app/state/")
REFUSED = [
    (re.compile(r"(?<!const )(?<!\w)Session\s*[*&]"), "the session is const here: send a SessionCommand"),
    (re.compile(r"\bconst_cast\b"), "const stays const here"),
    (re.compile(r"\bworkspace\s*=(?!=)(?=[^;{}]*;)"), "the workspace is changed by ShowWorkspace"),
    (re.compile(r"\bselection\.step\s*=(?!=)"), "the shown step is changed by ShowStep"),
]


def commands():
    for path in CODE:
        if not path.startswith(FOLDERS):
            continue
        text = bare(TEXT[path])
        for pattern, message in REFUSED:
            for m in pattern.finditer(text):
                line = text[text.rfind("\n", 0, m.start()) + 1:text.find("\n", m.start())]
                if not re.match(r"\s*(?:const )?(?:Workspace|auto) ", line):  # a variable that begins so
                    yield path, line_of(text, m.start()), message
