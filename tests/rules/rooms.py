"""Rooms and their lists."""
import re

from rules.sources import CODE, TEXT, line_of

ROOM = re.compile(r"^(?:\w+::)*(\w+Room|\w+Panel|PanelRoom) (\w+)\(\) \{", re.M)


def list_of(path):
    """The rooms.cpp of a file: the nearest above it."""
    folder = path
    while "/" in folder:
        folder = folder.rsplit("/", 1)[0]
        if f"{folder}/rooms.cpp" in TEXT:
            return f"{folder}/rooms.cpp"
    return None


def room_lists():
    for path in [p for p in CODE if p.endswith("/rooms.cpp")]:
        folder = path.rsplit("/", 1)[0]
        own = [p for p in CODE if p.startswith(folder + "/") and p.endswith(".cpp") and list_of(p) == path and p != path]
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
