"""The files of the repository, and what a rule asks of their text."""
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CODE_FOLDERS = ("core", "model", "viz", "app", "bench", "tests")


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


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def bare(text):
    """The code with comments, strings and preprocessor lines blanked, positions kept."""
    text = re.sub(r'R"(\w*)\(.*?\)\1"', blank, text, flags=re.S)
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)
