"""Labels and inputs of Python as texts, so that those which differ stay apart.

Labels are compared as the keys of a dict are: 1, 1.0, True and numpy.int64(1) are one label, 1 and "1" are two, and so are (1, 2) and "(1, 2)".
Inputs stay in this process: the program sees a text for each, and the function gets a copy of the object.
"""
from __future__ import annotations

import contextlib
import copy
import threading
from enum import Enum
from typing import Any, Hashable, Iterable, Iterator, Sequence

from .program import AnswerError, UsageError, brief

_LIST, _DICT = object(), object()  # stand for the types in keys


def _key(x: Any) -> Hashable:
    """A hashable value that is equal to that of another label if and only if the labels are equal."""
    if isinstance(x, list):
        return _LIST, tuple(map(_key, x))
    if isinstance(x, tuple):
        return tuple(map(_key, x))
    if isinstance(x, dict):
        return _DICT, frozenset((k, _key(y)) for k, y in x.items())
    try:
        hash(x)
    except TypeError as e:
        raise AnswerError(f"{brief(x)} is not a label, as it cannot be a key of a dict; return a string or a tuple") from e
    kind: Any = type(x)
    if kind.__eq__ is object.__eq__ and kind.__repr__ is object.__repr__ and not isinstance(x, Enum):
        raise AnswerError(f"{brief(x)} is not a label, as it is equal to no other object; return a string, or define __eq__ and __hash__")
    key: Hashable = x
    return key


def as_text(x: str) -> str:
    """Text with \\u in place of what is not Unicode."""
    return x.encode("utf-8", "backslashreplace").decode()


class Labels:
    """The labels of an audit: each has a text, and no two have the same."""

    def __init__(self) -> None:
        self._texts: dict[Hashable, str] = {}  # by key
        self.of: dict[str, Any] = {}           # the labels by text, each as it came first
        self._lock = threading.Lock()

    def text(self, label: Any) -> str:
        """The text of a label: a string itself, of anything else its repr, behind which the type stands where that is taken."""
        key = label if type(label) is str else _key(label)  # most are, and all samples come by here
        text = self._texts.get(key)
        if text is None:
            with self._lock:
                text = self._texts.get(key) or self._new(label)
                self._texts[key] = text
                self.of[text] = label
        return text

    def _new(self, label: Any) -> str:
        shown = as_text(repr(label))
        if isinstance(label, str):
            text = str.__str__(label)
            if not text or text != as_text(text):
                text = shown
            while text in self.of:
                text = repr(text)
            return text
        if shown not in self.of:
            return shown
        other, text = self.of[shown], f"{shown} ({type(label).__qualname__})"
        if type(other) is type(label) or text in self.of:
            raise AnswerError(f"the labels {brief(other)} and {brief(label)}, of types {type(other).__qualname__} and {type(label).__qualname__}, are not equal, "
                              "and look alike; return labels that are equal or look different, such as strings")
        return text

    def by_text(self, items: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
        """A dict with the texts of labels for keys."""
        out = {}
        for label, value in items:
            text = self.text(label)
            if text in out:
                raise AnswerError(f"the label {brief(label)} is there twice")
            out[text] = value
        return out

    def mixed(self, x: Any) -> Any:
        """An outcome of labels and numbers as JSON."""
        if hasattr(x, "tolist"):  # of NumPy
            x = x.tolist()
        if x is None or isinstance(x, (bool, int, float)):
            return x
        if isinstance(x, str):
            return self.text(x)
        if isinstance(x, (list, tuple)):
            return [self.mixed(y) for y in x]
        if isinstance(x, dict) and all(isinstance(k, str) for k in x):
            return {self.text(k): self.mixed(y) for k, y in x.items()}
        raise AnswerError(f"sample returned {brief(x)} in an outcome, which is not one of strings, numbers, True, False, None, lists, and dicts with strings for keys")


def _same(x: Any, y: Any) -> bool:
    """Whether two inputs that look alike are one. Arrays, whose == is no bool, are one only as one object."""
    with contextlib.suppress(Exception):
        return x is y or type(x) is type(y) and bool(x == y)
    return False


def _short(x: Any) -> str:
    """The repr of an input, or its first 200 characters."""
    text = as_text(repr(x))
    return text if len(text) <= 200 else text[:200] + "…"


class Inputs:
    """The inputs of an audit, any Python values: each has a text, its repr as far as that is short, and no two have the same."""

    def __init__(self) -> None:
        self.of: dict[str, Any] = {}         # by text, in the order of their places
        self._places: dict[str, int] = {}

    def add(self, x: Any) -> int:
        """Takes in an input and returns its place."""
        text = _short(x)
        while text in self.of:
            text = f"{text} (input {len(self.of)})"
        self.of[text] = x
        self._places[text] = len(self._places)
        return self._places[text]

    def _place(self, x: Any) -> int:
        """The place of an input, which is taken in only if it is new."""
        text = _short(x)
        return self._places[text] if text in self.of and _same(self.of[text], x) else self.add(x)

    def pairs(self, pairs: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
        """Takes in pairs of neighbors (x, y), or (x, y, distance), and gives each with places for x and y."""
        for i, pair in enumerate(pairs):
            if not isinstance(pair, (tuple, list)) or len(pair) not in (2, 3):
                raise UsageError(f"inputs[{i}] is {brief(pair)}; without neighbors, inputs are pairs (x, y) of neighbors, or (x, y, distance)")
            yield [self._place(pair[0]), self._place(pair[1]), *pair[2:]]

    def asked(self, text: str) -> Any:
        """A copy of the input with this text: a function that changes its input changes nobody else's."""
        x = self.of[text]
        with contextlib.suppress(Exception):
            return copy.deepcopy(x)
        return x
