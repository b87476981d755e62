"""Labels and inputs of Python as JSON, so that those which differ stay apart.

Labels are compared as the keys of a dict are: 1, 1.0, True and numpy.int64(1) are one label, 1 and "1" are two, and so are (1, 2) and "(1, 2)".
"""
import json
import threading
from enum import Enum

from .distributions import AnswerError
from .program import UsageError

_LIST, _DICT = object(), object()  # stand for the types in keys


def _key(x):
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
        raise AnswerError(f"{x!r:.80} is no label, as it cannot be a key of a dict; return a string or a tuple") from e
    if type(x).__eq__ is object.__eq__ and type(x).__repr__ is object.__repr__ and not isinstance(x, Enum):
        raise AnswerError(f"{x!r:.80} is no label, as it is equal to no other object; return a string, or define __eq__ and __hash__")
    return x


def as_text(x):
    """Text with \\u in place of what is no Unicode."""
    return x.encode("utf-8", "backslashreplace").decode()


class Labels:
    """The labels of an audit: each has a text, and no two have the same."""

    def __init__(self):
        self._texts = {}  # by key
        self.of = {}      # the labels by text, each as it came first
        self._lock = threading.Lock()

    def text(self, label):
        """The text of a label: a string itself, of anything else its repr, behind which the type stands where that is taken."""
        key = label if type(label) is str else _key(label)  # most are, and all samples come by here
        text = self._texts.get(key)
        if text is None:
            with self._lock:
                text = self._texts.get(key) or self._new(label)
                self._texts[key] = text
                self.of[text] = label
        return text

    def _new(self, label):
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
            raise AnswerError(f"the labels {other!r:.80} and {label!r:.80}, of types {type(other).__qualname__} and {type(label).__qualname__}, are not equal, "
                              "and look alike; return labels that are equal or look different, such as strings")
        return text

    def by_text(self, items):
        """A dict with the texts of labels for keys."""
        out = {}
        for label, value in items:
            text = self.text(label)
            if text in out:
                raise AnswerError(f"the label {label!r:.80} is there twice")
            out[text] = value
        return out

    def mixed(self, x):
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
        raise AnswerError(f"sample returned {x!r:.80} in an outcome, which is none of strings, numbers, True, False, None, lists, and dicts with strings for keys")


def _lists(x):
    """Tuples as lists, as JSON has them."""
    if isinstance(x, (list, tuple)):
        return [_lists(y) for y in x]
    return {k: _lists(y) for k, y in x.items()} if isinstance(x, dict) else x


def input_lines(inputs):
    """The inputs as lines of JSON. What would not come back the same is refused, and so are two that differ and would be one line."""
    lines, seen = [], {}
    for i, x in enumerate(inputs):
        try:
            line = json.dumps(x, allow_nan=False)
            json.dumps(x, ensure_ascii=False).encode()
            back = json.loads(line)
        except ValueError as e:
            raise UsageError(f"inputs[{i}] is {x!r:.80}, which JSON cannot hold: {e}") from None
        if back != _lists(x):
            raise UsageError(f"inputs[{i}] is {x!r:.80}, which as JSON would be {back!r:.80}; give lists, dicts with strings for keys, strings and numbers")
        first = seen.setdefault(line, x)
        if first != x:
            raise UsageError(f"inputs[{i}] is {x!r:.80}, which is {first!r:.80} in JSON too; give inputs that differ there")
        lines.append(line)
    return lines
