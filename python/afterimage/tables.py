"""The tables of names (assets/imports/*.json, or a user's own): how somebody else's tensors become ours. They are the
program's, read as data; docs/imports.md describes every key."""
from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Mapping, NoReturn, Union

from .errors import Error, nearest, shown
from .safetensors import parse_json

MOST_BYTES, MOST_RULES = 1 << 20, 500
CHECKS = ("band", "sinusoidal")


@dataclass
class Rule:
    """One rule; expressions are texts."""
    source: str
    to: list[str] = field(default_factory=list)
    drop: str = ""
    check: str = ""
    otherwise: str = ""
    transpose: bool = False
    shape: list[str] = field(default_factory=list)
    first: str = ""
    scale: str = ""
    times: str = ""
    copy: bool = False
    visible: str = ""
    hidden: str = ""


@dataclass
class Table:
    """One mapping file."""
    name: str
    where: str  # for messages
    sentence: str = ""
    needs: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    by_name_only: bool = False
    refuse: str = ""
    sizes: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    ask: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    fill: dict[str, float] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)


class Reader:
    """An object of a mapping file, with its place for messages; every key must be asked for."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, Mapping):
            raise Error(f"{where}: an object is expected, found {shown(value)}")
        self.value, self.where, self.asked = value, where, []

    def refuse(self, key: str, expected: str, found: Any) -> NoReturn:
        raise Error(f"{self.where}: '{shown(key)}' is {expected}, found {shown(found)}")

    def find(self, key: str, default: Any) -> Any:
        self.asked.append(key)
        return self.value.get(key, default)

    def text(self, key: str) -> str:
        found = self.find(key, "")
        if not isinstance(found, (str, int)) or isinstance(found, bool):
            self.refuse(key, "a text", found)
        return str(found)

    def flag(self, key: str) -> bool:
        found = self.find(key, False)
        return found if isinstance(found, bool) else self.refuse(key, "true or false", found)

    def texts(self, key: str) -> list[str]:
        found = self.find(key, [])
        found = [found] if isinstance(found, str) else found
        if not isinstance(found, (list, tuple)) or len(found) > MOST_RULES:
            self.refuse(key, "a list of at most 500 texts", found)
        for item in found:
            if not isinstance(item, (str, int)) or isinstance(item, bool):
                self.refuse(key, "a list of texts", item)
        return [str(item) for item in found]

    def table(self, key: str, kinds: tuple[type, ...], expected: str) -> dict[str, Any]:
        found = self.find(key, {})
        if not isinstance(found, Mapping) or len(found) > MOST_RULES:
            self.refuse(key, "an object of at most 500 entries", found)
        for name, value in found.items():
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                self.refuse(name, expected, value)
        return dict(found)

    def done(self) -> None:
        for key in self.value:
            if key not in self.asked:
                raise Error(f"{self.where}: unknown key '{shown(key)}'{nearest(key, self.asked)}")


def read_rule(value: Any, where: str) -> Rule:
    reader = Reader(value, where)
    rule = Rule(reader.text("from"), reader.texts("to"), reader.text("drop"), reader.text("check"),
                reader.text("otherwise"),
                reader.flag("transpose"), reader.texts("shape"), reader.text("first"), reader.text("scale"),
                reader.text("times"), reader.flag("copy"), reader.text("visible"), reader.text("hidden"))
    reader.texts("back")  # for the way back alone
    reader.done()
    if not rule.source:
        raise Error(f"{where}: 'from' says which tensors are meant")
    if bool(rule.to) == bool(rule.drop):
        raise Error(f"{where}: either 'to' (our name) or 'drop' (why it is left out)")
    if rule.check and rule.check not in CHECKS:
        raise Error(f"{where}: 'check' is '{shown(rule.check)}'; allowed: {', '.join(CHECKS)}")
    return rule


def make_table(value: Any, name: str, where: str) -> Table:
    """Raises Error, naming the file and the key, on anything else than a mapping."""
    reader = Reader(value, where)
    plain = (str, int, float, bool)
    table = Table(name, where, reader.text("sentence"), reader.texts("needs"), reader.texts("lacks"),
                  reader.texts("given"),
                  reader.flag("by_name_only"), reader.text("refuse"),
                  {k: str(v) for k, v in reader.table("sizes", plain, "a text or a number").items()},
                  reader.table("settings", plain, "a text, a number, true or false"),
                  reader.table("ask", (str,), "a text"), [], reader.table("fill", (int, float), "a number"),
                  reader.texts("new"))
    reader.texts("notes")  # for people: `afterimage import` prints them
    reader.find("constructor", {})  # for the way back alone
    rules = reader.find("tensors", [])
    if not isinstance(rules, (list, tuple)) or len(rules) > MOST_RULES:
        reader.refuse("tensors", "a list of at most 500 rules", rules)
    table.rules = [read_rule(rule, f"{where}: tensors[{i}]") for i, rule in enumerate(rules)]
    reader.done()
    if not table.refuse and not table.rules:
        raise Error(f"{where}: 'tensors' lists the rules, one at least")
    return table


def read_table(path: Union[str, "os.PathLike[str]"]) -> Table:
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise Error(f"{path}: more than {MOST_BYTES} bytes for a mapping file")
        text = path.read_bytes()
    except OSError as error:
        raise Error(f"{path}: the mapping file cannot be read: {error.strerror}") from None
    return make_table(parse_json(text, str(path)), path.stem, str(path))


def shared_folder() -> Path:
    """assets/imports: of AFTERIMAGE_SHARE, of the source tree, or the copy that the build has put into the package."""
    here = Path(__file__).resolve().parent
    places = [here.parent.parent / "assets" / "imports", here / "assets" / "imports"]
    if os.environ.get("AFTERIMAGE_SHARE"):
        places.insert(0, Path(os.environ["AFTERIMAGE_SHARE"]) / "assets" / "imports")
    for place in places:
        if place.is_dir():
            return place
    raise Error(f"assets/imports is not there; looked in {shown_places(places)}. Set AFTERIMAGE_SHARE to the folder"
                f" that holds"
                " assets")


def shown_places(places: list[Path]) -> str:
    return ", ".join(f"'{place.parent.parent}'" for place in places)


@lru_cache(maxsize=4)
def tables_of(folder: Path) -> tuple[Table, ...]:
    return tuple(read_table(path) for path in sorted(folder.glob("*.json")))


def known_tables() -> tuple[Table, ...]:
    """All of assets/imports, by name."""
    return tables_of(shared_folder())
