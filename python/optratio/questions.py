"""The commands ratio, verify, recommend and pmf of the program, as functions."""
from __future__ import annotations

import html
import json
import os
import subprocess
import tempfile
from typing import Any, Iterable, Iterator, Mapping

from .auditing import _text
from .program import UsageError, find_program
from .report import Number, Report, line

__all__ = ["Answer", "pmf", "ratio", "recommend", "verify"]


class Answer(Mapping):
    """A JSON document of the program: its fields by name or as attributes. Number objects are Numbers, documents in it are Answers.

    ok: the program decided everything; otherwise message says what is missing. document: the JSON document itself.
    """

    def __init__(self, document: Mapping[str, Any], ok: bool = True, message: str = "") -> None:
        self.document, self.ok, self.message = document, ok, message

    def __getitem__(self, name: str) -> Any:
        return _value(self.document[name])

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no attribute {name!r}; the fields are {', '.join(self.document)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.document]

    def __repr__(self) -> str:
        return "\n".join(_lines(self, ""))

    def _repr_html_(self) -> str:
        return _table(self)


def _value(x: Any) -> Any:
    if isinstance(x, dict):
        return Number(x) if {"exact", "estimate"} & x.keys() else Answer(x)
    if isinstance(x, list):
        return [_value(y) for y in x]
    return Number(x) if x in ("inf", "-inf") else x


def _lines(x: Any, indent: str) -> Iterator[str]:
    for name, value in x.items():
        nested = value if isinstance(value, list) else [value]
        if any(isinstance(y, Answer) for y in nested):
            for y in nested:
                yield f"{indent}{name}:"
                yield from _lines(y, indent + "  ") if isinstance(y, Answer) else [f"{indent}  {line(y)}"]
        else:
            yield f"{indent}{name}: " + line("[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else value)


def _table(x: Any) -> str:
    if isinstance(x, Answer):
        return "<table>" + "".join(f"<tr><th>{html.escape(name)}</th><td>{_table(value)}</td></tr>" for name, value in x.items()) + "</table>"
    if isinstance(x, list) and x and all(isinstance(y, Answer) and list(y) == list(x[0]) for y in x):
        head = "".join(f"<th>{html.escape(name)}</th>" for name in x[0])
        return f"<table><tr>{head}</tr>" + "".join("<tr>" + "".join(f"<td>{_table(y)}</td>" for y in row.values()) + "</tr>" for row in x) + "</table>"
    return ", ".join(_table(y) for y in x) if isinstance(x, list) else html.escape(line(x))


def _plain(x: Any) -> Any:
    """NumPy arrays and scalars, pandas Series and other sequences as lists and numbers of Python."""
    return x.tolist() if hasattr(x, "tolist") else list(x) if isinstance(x, Iterable) and not isinstance(x, str) else x


def _ask(command: str, **flags: Any) -> tuple[dict[str, Any], int, str]:
    """Runs a command and returns its document, its exit code and what it said on stderr. Lists are given in files, so that they can be long."""
    with tempfile.TemporaryDirectory() as folder:
        args = [find_program(), command, "--json"]
        for name, value in flags.items():
            value = _plain(value)
            if value is None or value is False:
                continue
            name = ("--" if len(name) > 1 else "-") + name.replace("_", "-")
            if value is True:
                args.append(name)
                continue
            if isinstance(value, list) and name in ("--scores", "--sensitivities"):
                path = os.path.join(folder, name[2:])
                with open(path, "w", encoding="utf-8") as f:
                    f.writelines(_text(y) + "\n" for y in value)
                value = path
            args.append(f"{name}={','.join(map(_text, value)) if isinstance(value, list) else _text(value)}")
        done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    message = done.stderr.strip().removeprefix("optratio: ")
    if done.returncode == 2:
        raise UsageError(message)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(message or f"the program ended with code {done.returncode}")
    return json.loads(done.stdout), done.returncode, message


def ratio(n: int, k: int, *, eps: Any = None, exp_eps: Any = None, mechanism: Any = None, **flags: Any) -> Answer:
    """How far mechanisms are from the best one on the lattice of n candidates and depth k: `optratio ratio`.

    ratio(4, 4, eps=0.5).mechanisms[0].ratio is a Number. Further flags of the command by name: loss="square", constraints="dp", cert="file".
    """
    document, code, message = _ask("ratio", n=n, k=k, eps=eps, exp_eps=exp_eps, mechanism=mechanism, **flags)
    return Answer(document, code == 0, message)


def verify(mechanism: str, *, n: Any = None, k: Any = None, eps: Any = None, exp_eps: Any = None, property: Any = None, **flags: Any) -> Report:
    """Which properties a mechanism of the program has: `optratio verify`. Returns a Report, as audit does for functions."""
    document, code, message = _ask("verify", mechanism=mechanism, n=n, k=k, eps=eps, exp_eps=exp_eps, property=property, **flags)
    return Report(document, ok=code == 0, message=message)


def recommend(scores: Any, *, sensitivities: Any = None, eps: Any = None, exp_eps: Any = None, **flags: Any) -> Answer:
    """Which mechanism to use at scores like these, the best first in .mechanisms: `optratio recommend`. Scores and sensitivities are lists, NumPy
    arrays or pandas Series."""
    document, code, message = _ask("recommend", scores=_plain(scores), sensitivities=sensitivities, eps=eps, exp_eps=exp_eps, **flags)
    return Answer(document, code == 0, message)


def pmf(scores: Any, *, mechanism: str = "pf", sensitivities: Any = None, eps: Any = None, exp_eps: Any = None, **flags: Any) -> Answer:
    """The probabilities with which a mechanism takes the candidates: `optratio pmf`. numpy.asarray(answer.pmf, float) makes an array of them."""
    document, code, message = _ask("pmf", mechanism=mechanism, scores=_plain(scores), sensitivities=sensitivities, eps=eps, exp_eps=exp_eps, **flags)
    return Answer(document, code == 0, message)
