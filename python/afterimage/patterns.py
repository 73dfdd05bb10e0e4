"""Patterns of tensor names and the expressions of mapping files (docs/imports.md), as the program reads them."""
from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Callable, Mapping, NoReturn, Optional

from .errors import Error, shown

Bindings = dict[str, str]


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> re.Pattern[str]:
    text, known = "", set()
    for piece in re.split(r"(\{[^}]*\}?)", pattern):
        if not piece.startswith("{"):
            text += re.escape(piece)
            continue
        if not re.fullmatch(r"\{[^}]+\}", piece):
            raise Error(f"pattern '{shown(pattern)}': a placeholder is {{name}}")
        name = "p_" + piece[1:-1].encode().hex()  # any text, as a name of a group
        if name in known:
            text += f"(?P={name})"
        else:
            text += f"(?P<{name}>{'[0-9]+' if piece == '{i}' else '[^.]+'})"
        known.add(name)
    return re.compile(text)


def match(pattern: str, name: str) -> Optional[Bindings]:
    """What the placeholders stand for where `name` is of this pattern: {i} a whole number, others a piece without a
    dot.
    One that is there twice stands for the same both times."""
    found = compiled(pattern).fullmatch(name)
    if found is None:
        return None
    return {bytes.fromhex(key[2:]).decode(): value for key, value in found.groupdict().items()}


def fill_in(pattern: str, bindings: Bindings) -> str:
    def value(found: re.Match[str]) -> str:
        if found[1] not in bindings:
            raise Error(f"'{shown(pattern)}': nothing says what {{{shown(found[1])}}} stands for")
        return bindings[found[1]]
    return re.sub(r"\{([^}]+)\}", value, pattern)


@dataclass
class Facts:
    """What expressions may ask of the tensors of a file."""
    size: Callable[[str, int], int]
    count: Callable[[str], int]
    ones: Callable[[str], int]
    has: Callable[[str], bool]


@dataclass
class SizeTable:
    sizes: Mapping[str, str]
    facts: Facts
    terms: int = field(default=0)


MOST_LEVELS, MOST_TERMS, MOST_CHARACTERS = 32, 10000, 500


class Parser:
    """Recursive descent: sum = product {+- product}, product = value {*/ value}."""

    def __init__(self, text: str, table: SizeTable, level: int) -> None:
        self.whole, self.rest, self.table, self.level = text, text.strip(" "), table, level

    def refuse(self, why: str) -> NoReturn:
        raise Error(f"'{shown(self.whole)}': {why} at '{shown(self.rest)}'")

    def take(self, symbol: str) -> bool:
        self.rest = self.rest.lstrip(" ")
        if not self.rest.startswith(symbol):
            return False
        self.rest = self.rest[len(symbol):].lstrip(" ")
        return True

    def expect(self, symbol: str) -> None:
        if not self.take(symbol):
            self.refuse(f"a '{symbol}' is expected")

    def all(self) -> float:
        value = self.sum()
        if self.rest:
            self.refuse("nothing more is expected")
        return value

    def sum(self) -> float:
        self.level += 1
        if self.level > MOST_LEVELS:
            self.refuse("more than 32 levels")
        value = self.product()
        while True:
            if self.take("+"):
                value += self.product()
            elif self.take("-"):
                value -= self.product()
            else:
                self.level -= 1
                return value

    def product(self) -> float:
        value = self.factor()
        while True:
            if self.take("*"):
                value *= self.factor()
            elif self.take("/"):
                by = self.factor()
                if by == 0:
                    self.refuse("a division by 0")
                value /= by
            else:
                return value

    def factor(self) -> float:
        self.table.terms += 1
        if self.table.terms > MOST_TERMS:
            self.refuse("more than 10000 terms")
        if self.take("("):
            value = self.sum()
            self.expect(")")
            return value
        found = re.match(r" *(\d+|[A-Za-z0-9_]+)", self.rest, re.ASCII)
        if not found:
            self.refuse("a number, a name or a bracket is expected")
        word = found[1]
        self.rest = self.rest[found.end():]
        if word.isdigit():
            if len(word) > 13 or int(word) > 1 << 40:
                self.refuse("a number is too large")
            return float(word)
        return self.function(word) if self.take("(") else self.size(word)

    def tensor(self) -> str:
        found = re.match(r"[^,)]*", self.rest)
        self.rest = self.rest[found.end():]
        return found[0].rstrip(" ")

    def function(self, word: str) -> float:
        facts = self.table.facts
        if word == "sqrt":
            inner = self.sum()
            value = math.sqrt(inner) if inner >= 0 else math.nan
        elif word == "size":
            of = self.tensor()
            self.expect(",")
            axis = re.match(r"\d{1,4}", self.rest, re.ASCII)
            if not axis:
                self.refuse("an axis is expected")
            self.rest = self.rest[axis.end():]
            value = facts.size(of, int(axis[0]))
        elif word in ("count", "ones", "has"):
            value = float(getattr(facts, word)(self.tensor()))
        else:
            raise Error(f"'{shown(self.whole)}': unknown function '{word}'; allowed: size, count, ones, has, sqrt")
        self.expect(")")
        return float(value)

    def size(self, word: str) -> float:
        if word not in self.table.sizes:
            raise Error(f"'{shown(self.whole)}': unknown size '{shown(word)}'")
        if self.level + 2 > MOST_LEVELS:
            self.refuse("sizes that need each other")
        return Parser(self.table.sizes[word], self.table, self.level + 1).all()


def evaluate(expression: str, table: SizeTable) -> float:
    """Raises Error, naming the expression, on anything that is not one."""
    if len(expression) > MOST_CHARACTERS:
        raise Error(f"'{shown(expression)}': an expression of more than {MOST_CHARACTERS} characters")
    table.terms = 0
    value = Parser(expression, table, 0).all()
    if not math.isfinite(value):
        raise Error(f"'{shown(expression)}' is not a finite number")
    return value


def whole_number(expression: str, table: SizeTable) -> int:
    value = evaluate(expression, table)
    if value < 0 or value > 2**53 or value != round(value):
        raise Error(f"'{shown(expression)}' is {value:g}, not a whole number from 0 on")
    return int(value)
