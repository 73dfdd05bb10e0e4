"""From a state dict and a table to tensors and settings of ours. Does what the table says and nothing beyond it: what
the program must know of its own nets (a parameter that starts anew) is left to `afterimage import`."""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Collection, Iterable, Mapping, NoReturn, Optional

import numpy as np

from .errors import Error, nearest, shown, shown_names
from .filled import filled
from .patterns import Bindings, Facts, SizeTable, evaluate, fill_in, match, whole_number
from .tables import Rule, Table, known_tables

Tensors = Mapping[str, np.ndarray]

MOST_TENSORS, MOST_DEPTH = 100_000, 4
MOST_LAYERS = 512  # that the program reads
# What training scripts wrap weights in, in the order in which one is chosen.
WRAPPERS = ("model", "state_dict", "model_state_dict", "module", "_orig_mod", "net", "network",
            "model_ema", "ema")
# The one setting of texts whose values look like numbers.
TEXT_SETTINGS = ("model.outside",)
HEADS, HEADS_OF_64 = "model.heads", re.compile(r"= *\w+ */ *64 *")  # as tables say it: "=dim / 64"
GIVE_HEADS = 'config={"model": {"heads": N}}'


@dataclass
class Converted:
    """weights: float32 by our names; settings: {"dim": 64, ...} of config.model; dropped: name -> why. assumed: what
    was taken for granted because the tensors do not say it, in words for the user."""
    table: Table
    settings: dict[str, Any]
    weights: dict[str, np.ndarray] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    assumed: str = ""


def views_of(names: Iterable[str]) -> list[str]:
    """Prefixes under which a model may lie: the whole first, then what its wrappers hold, outer ones first."""
    names = list(names)
    if len(names) > MOST_TENSORS:
        raise Error(f"{len(names)} tensors, at most {MOST_TENSORS} are taken")
    views, level = [""], [""]
    for _ in range(MOST_DEPTH):
        level = [prefix + wrapper + "." for prefix in level for wrapper in WRAPPERS
                 if any(name.startswith(prefix + wrapper + ".") for name in names)]
        views += level
    return views


def below(names: Iterable[str], prefix: str) -> list[str]:
    return [name[len(prefix):] for name in names if name.startswith(prefix)]


def has(names: Iterable[str], pattern: str) -> bool:
    return any(match(pattern, name) is not None for name in names)


def fits(table: Table, names: list[str]) -> bool:
    return (bool(table.needs) and all(has(names, p) for p in table.needs)
            and not any(has(names, p) for p in table.lacks))


def knows(table: Table, name: str) -> bool:
    return any(match(rule.source, name) is not None for rule in table.rules)


def differences(table: Table, names: list[str]) -> str:
    missing = [p for p in table.needs if not has(names, p)]
    unknown = [n for n in names if not knows(table, n)]
    return ((f"; missing: {shown_names(missing, 5)}{nearest(missing[0], unknown)}" if missing else "")
            + (f"; not known there: {shown_names(unknown, 5)}" if unknown else ""))


REMEDY = ("pass mapping=FILE or a dictionary (docs/imports.md), or biases={name: w} for the position biases alone")


def fail_unknown(tables: Iterable[Table], views: list[str], names: list[str]) -> NoReturn:
    best: Optional[tuple[int, Table, list[str]]] = None
    for table in (t for t in tables if not t.by_name_only):
        for prefix in views:
            inner = below(names, prefix)
            known = sum(knows(table, name) for name in inner)
            if known > (best[0] if best else 0):
                best = known, table, inner
    if best is None:
        raise Error(f"the model: no table knows a single name of its state dict: {shown_names(names, 5)}; {REMEDY}")
    known, table, inner = best
    raise Error(f"the model is not recognised; the nearest origin is {table.name}, which knows {known} of {len(inner)}"
                f" names"
                f"{differences(table, inner)}; {REMEDY}")


def recognise(names: list[str], given: Iterable[str], table: Optional[Table] = None) -> tuple[Table, str]:
    """-> the table that these names belong to, and the prefix below which they lie. given: settings that the user
    gives."""
    views, given = views_of(names), set(given)
    if table is not None:
        counts = {prefix: sum(knows(table, n) for n in below(names, prefix)) for prefix in views}
        prefix = next((v for v in views if fits(table, below(names, v))), max(views, key=lambda v: counts[v]))
        if not table.refuse and table.needs and not fits(table, below(names, prefix)):
            raise Error(f"the model does not fit {table.where}{differences(table, below(names, prefix))}")
        return refused(table), prefix
    tables = known_tables()
    for prefix in views:
        inner = below(names, prefix)
        found = [t for t in tables if not t.by_name_only and set(t.given) <= given and fits(t, inner)]
        found.sort(key=lambda t: -len(t.given))
        if len(found) > 1 and len(found[0].given) == len(found[1].given):
            raise Error(f"the model: both {found[0].name} and {found[1].name} know these names; pass mapping= with the"
                        f" file"
                        " of one of them")
        if found:
            return refused(found[0]), prefix
    return fail_unknown(tables, views, names)


def refused(table: Table) -> Table:
    if table.refuse:
        raise Error(f"the model looks like {table.name} ({table.sentence}) and is refused: {table.refuse}")
    return table


def count_of(names: Iterable[str], pattern: str) -> int:
    found = {int(b["i"]) for name in names if (b := match(pattern, name)) and "i" in b and len(b["i"]) < 7}
    missing = next((i for i in range(len(found)) if i not in found), None)
    if missing is not None:
        raise Error(f"'{shown(pattern)}': layer {missing} is missing, but there are later ones")
    return len(found)


def facts_of(tensors: Tensors) -> Facts:
    def tensor(name: str) -> np.ndarray:
        if name not in tensors:
            raise Error(f"there is no tensor '{shown(name)}'{nearest(name, tensors)}")
        return tensors[name]

    def size(name: str, axis: int) -> int:
        shape = tensor(name).shape
        if axis >= len(shape):
            raise Error(f"'{shown(name)}' has shape {list(shape)}, no axis {axis}")
        return shape[axis]

    def ones(name: str) -> int:
        mask = tensor(name)
        if mask.ndim != 2 or not mask.size:
            raise Error(f"'{shown(name)}' has shape {list(mask.shape)}, a mask [T, T] is expected")
        return int(np.count_nonzero(mask[0]))

    return Facts(size, lambda p: count_of(tensors, p), ones, lambda p: has(tensors, p))


def setting_value(key: str, value: Any, sizes: SizeTable) -> Any:
    """As JSON has it: expressions as whole numbers, `has(...)` as true or false, texts of numbers as numbers."""
    if not isinstance(value, str) or key in TEXT_SETTINGS:
        return value
    if value.startswith("="):
        number = whole_number(value[1:], sizes)
        alone = value.startswith("=has(") and value.count("(") == 1 and value.endswith(")")
        return bool(number) if alone else number
    try:
        return float(value)
    except ValueError:
        return value


def has_two_axes(x: np.ndarray) -> bool:
    """[1, ..., 1, n, m]"""
    return x.ndim >= 2 and x.size == x.shape[-1] * x.shape[-2]


class Converter:
    def __init__(self, table: Table, tensors: Tensors, heads: Collection[int] = ()) -> None:
        self.table, self.tensors, self.heads = table, tensors, heads
        self.sizes = SizeTable(table.sizes, facts_of(tensors))
        self.out = Converted(table, {})

    def run(self, given: Mapping[str, Any]) -> Converted:
        for key, why in self.table.ask.items():
            if key not in given:
                raise Error(f"{self.table.name} needs config={{'model': {{'{key.split('.')[-1]}': VALUE}}}}: {why}")
        given = self.with_heads(given)
        self.add_numbers({k.removeprefix("model."): v for k, v in {**self.table.settings, **given}.items()})
        settings = {k: setting_value(k, v, self.sizes) for k, v in self.table.settings.items() if k not in given}
        for key, value in {**settings, **given}.items():
            if not key.startswith("model."):
                raise Error(f"{self.table.where}: the setting '{shown(key)}' is none of the model (model.KEY)")
            self.out.settings[key[len("model."):]] = value
        self.add_numbers(self.out.settings)
        if self.table.new:
            raise Error(f"{self.table.name} has parameters that start anew ('new'): only the program knows them; save"
                        " the state dict and use `afterimage import FILE --map FILE -o MODEL`")
        unknown = [name for name, value in self.tensors.items() if not self.take(name, value)]
        if unknown:
            near = nearest(unknown[0], [rule.source for rule in self.table.rules])
            raise Error(f"the model is recognised as {self.table.name}, but no rule knows"
                        f" {shown_names(unknown, 5)}{near};"
                        f" {REMEDY}")
        self.out.weights.update(filled(self.table.fill, self.out.weights, self.out.settings))
        return self.out

    def add_numbers(self, settings: Mapping[str, Any]) -> None:
        """A setting that is a whole number is a size, too, but for a row of the table's sizes."""
        numbers = {key: str(value) for key, value in settings.items() if type(value) is int}
        self.sizes = SizeTable({**numbers, **self.table.sizes}, facts_of(self.tensors))

    def with_heads(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """`given`, with the modules' number of heads where the table has no better way than heads of 64 channels."""
        text = str(self.table.settings.get(HEADS, ""))
        if HEADS in given or not HEADS_OF_64.fullmatch(text):
            return given
        if len(self.heads) == 1:
            return {**given, HEADS: next(iter(self.heads))}
        why, remedy = "the number of heads is not in a state dict", ", or the module in place of its state dict"
        if self.heads:
            why = f"the modules have different numbers of heads ({', '.join(map(str, sorted(self.heads)))})"
            remedy = ""
        try:
            number = whole_number(text[1:], self.sizes)
        except Error as error:
            raise Error(f"{error}: {why}, and heads of 64 channels do not fit; give it by {GIVE_HEADS}") from None
        self.out.assumed = (f"{why}: {number} of 64 channels are assumed; if they are others, attention and predictions"
                            f" are wrong: give it by {GIVE_HEADS}{remedy}")
        return given

    def take(self, name: str, value: np.ndarray) -> bool:
        for rule in self.table.rules:
            bound = match(rule.source, name)
            if bound is None:
                continue
            try:
                self.apply(rule, bound, name, value)
            except Error as error:
                raise Error(f"'{shown(name)}': {error}") from None
            return True
        return False

    def apply(self, rule: Rule, bound: Bindings, name: str, tensor: np.ndarray) -> None:
        if rule.drop:
            self.check_dropped(rule, tensor)
            self.out.dropped[name] = rule.drop
            return
        value, parts = self.changed(rule, bound, tensor), len(rule.to)
        if rule.copy:
            for to in rule.to:
                layers = self.layers() if "{i}" in to and "i" not in bound else 1
                for i in range(layers):
                    self.put(name, fill_in(to, {"i": str(i), **bound}), value)
            return
        if parts > 1 and (value.ndim < 1 or value.shape[0] % parts):
            raise Error(f"has shape {list(value.shape)}, which cannot be cut into {parts} equal parts")
        pieces = [value] if parts == 1 else np.split(value, parts)
        for to, piece in zip(rule.to, pieces):
            self.put(name, fill_in(to, bound), piece)

    def put(self, name: str, target: str, value: np.ndarray) -> None:
        if target == "-":
            self.out.dropped[name] = "no place for it here"
            return
        if target in self.out.weights:
            raise Error(f"and another tensor both become '{shown(target)}'")
        self.out.weights[target] = np.ascontiguousarray(value)

    def layers(self) -> int:
        """The setting as it was evaluated: of an expression its value."""
        layers = self.out.settings.get("layers")
        if layers is None:
            raise Error("'copy' to every layer needs the setting 'model.layers'")
        is_number = isinstance(layers, (int, float)) and not isinstance(layers, bool)
        if not is_number or layers not in range(1, MOST_LAYERS + 1):
            raise Error(f"'copy' to every layer: 'model.layers' is {shown(layers)}, expected a whole number from 1 to"
                        f" {MOST_LAYERS}")
        return int(layers)

    def check_dropped(self, rule: Rule, tensor: np.ndarray) -> None:
        otherwise = f"; {rule.otherwise}" if rule.otherwise else ""
        if rule.check == "band":
            window = whole_number("window", self.sizes)
            t, j = np.ogrid[:tensor.shape[0], :tensor.shape[1]]
            if not np.array_equal(tensor != 0, abs(t - j) < window):
                raise Error(f"is not the band |t - j| < {window} that such models have{otherwise}")
        if rule.check == "sinusoidal":
            table = tensor.reshape(-1, tensor.shape[-1]).astype(np.float64)
            angles = np.arange(table.shape[0])[:, None] * 10000.0 ** (-np.arange(0, table.shape[1], 2) / table.shape[1])
            expected = np.zeros_like(table)
            expected[:, 0::2], expected[:, 1::2] = np.sin(angles), np.cos(angles)[:, :table.shape[1] // 2]
            if not np.allclose(table, expected, rtol=1e-4, atol=1e-3):
                raise Error(f"is not the sinusoidal table that such models have{otherwise}")

    def masked(self, rule: Rule, bound: Bindings, value: np.ndarray) -> np.ndarray:
        """-infinity where a mask of the file hides a source from its target."""
        for given, is_visible in ((rule.visible, True), (rule.hidden, False)):
            if not given:
                continue
            mask = fill_in(given, bound)
            if mask not in self.tensors:
                raise Error(f"there is no tensor '{shown(mask)}'{nearest(mask, self.tensors)}")
            by = self.tensors[mask]
            if by.size != value.size or not has_two_axes(by) or not has_two_axes(value):
                raise Error(f"has shape {list(value.shape)}, the mask '{shown(mask)}' has {list(by.shape)}")
            hides = (by == 0) if is_visible else (by != 0)
            value = np.where(hides.reshape(value.shape), np.float32(-np.inf), value)
        return value

    def changed(self, rule: Rule, bound: Bindings, tensor: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(tensor):
            raise Error(f"has dtype {tensor.dtype}; allowed: real numbers")
        with np.errstate(over="ignore"):
            value = tensor.astype(np.float32, copy=False)
        if tensor.dtype == np.float64 and not np.array_equal(np.isfinite(value), np.isfinite(tensor)):
            raise Error("holds float64 values beyond float32")
        if not np.isfinite(value).all():
            raise Error(f"holds {int((~np.isfinite(value)).sum())} values that are NaN or infinite")
        if rule.times:
            mask = fill_in(rule.times, bound)
            if mask not in self.tensors or self.tensors[mask].shape != value.shape:
                raise Error(f"has shape {list(value.shape)}, '{shown(mask)}' of the same shape is needed")
            value = value * self.tensors[mask].astype(np.float32)
        value = self.masked(rule, bound, value)
        if rule.transpose:
            if not has_two_axes(value):
                raise Error(f"has shape {list(value.shape)}; two axes are swapped, or the last two behind axes of one")
            value = np.swapaxes(value, -1, -2)
        if rule.first:
            rows = whole_number(rule.first, self.sizes)
            if value.ndim < 1 or rows > value.shape[0]:
                raise Error(f"has shape {list(value.shape)}, its first {rows} rows are wanted")
            value = value[:rows]
        if rule.shape:
            shape = [whole_number(axis, self.sizes) for axis in rule.shape]
            if np.prod([float(n) for n in shape]) != value.size:
                raise Error(f"has shape {list(value.shape)}, which cannot become {shape}")
            value = value.reshape(shape)
        if rule.scale:
            value = value * np.float32(evaluate(rule.scale, self.sizes))
        return value


def convert(tensors: Tensors, given: Mapping[str, Any], table: Optional[Table] = None,
            heads: Collection[int] = ()) -> Converted:
    """A state dict by a table, or by the known one that its names belong to.

    tensors: name -> array of real numbers. given: settings over what the table says, {"model.window": 32}. heads: the
    numbers of heads that the model's modules have; none of a state dict. Raises Error where nothing fits (it names the
    nearest origin and the first differences), where such a model is refused, and on names that no rule knows, values
    that are not finite and shapes that do not fit.
    """
    table, prefix = recognise(list(tensors), given, table)
    inner = {name[len(prefix):]: value for name, value in tensors.items() if name.startswith(prefix)}
    return Converter(table, inner, heads).run(given)
