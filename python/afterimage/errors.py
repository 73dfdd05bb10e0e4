"""The one exception of the package, and how texts from outside are repeated in messages."""
from __future__ import annotations

import difflib
from typing import Iterable, Sequence

MOST_SHOWN = 80  # characters of a text in a message


class Error(RuntimeError):
    """Bad input, file or state. The message says what was found, what is allowed and where."""


def shown(text: object) -> str:
    """At most 80 characters of `text` on one line, control characters escaped."""
    text = str(text)
    kept = "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text[:MOST_SHOWN])
    return kept + ("..." if len(text) > MOST_SHOWN else "")


def shown_names(names: Sequence[object], most: int = 10) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return ", ".join(f"'{shown(n)}'" for n in names[:most]) + (f" and {more} more" if more > 0 else "")


def nearest(word: object, known: Iterable[object]) -> str:
    """`; did you mean 'X'?` with the known word that is nearest, or nothing."""
    near = difflib.get_close_matches(str(word), [str(k) for k in known], n=1, cutoff=0.5)
    return f"; did you mean '{shown(near[0])}'?" if near else ""
