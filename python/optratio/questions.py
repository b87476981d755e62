"""The commands ratio, verify, recommend and pmf of the program, as functions."""
from __future__ import annotations

import html
import os
import subprocess
import tempfile
from typing import Any, Iterable, Iterator, Mapping, Sequence, Union

from .auditing import Real, arguments, parsed, seconds, text
from .report import Number, Report, line

__all__ = ["Answer", "pmf", "ratio", "recommend", "verify"]


class Answer(Mapping[str, Any]):
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
        return Number.of(x) if {"exact", "estimate"} & x.keys() else Answer(x)
    if isinstance(x, list):
        return [_value(y) for y in x]
    return Number.of(x) if x in ("inf", "-inf") else x


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


Values = Union[str, Iterable[Any]]  # numbers as a string "0,-1,-2.5", or a list, a NumPy array, a pandas Series
Names = Union[str, Sequence[str]]


def _list(values: Values | None) -> str | list[Any] | None:
    """NumPy arrays, pandas Series and other sequences as lists."""
    if values is None or isinstance(values, str):
        return values
    return list(values.tolist()) if hasattr(values, "tolist") else list(values)


def _names(names: Names | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)


def _ask(command: str, **flags: Any) -> tuple[dict[str, Any], int, str]:
    """Runs a command and returns its document, its exit code and what it said on stderr. Scores are given in files, so that they can be long."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scores", "sensitivities"):
            if isinstance(flags.get(name), list):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as f:
                    f.writelines(text(y) + "\n" for y in flags[name])
                flags[name] = path
        done = subprocess.run(arguments(command, **flags), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    return parsed(done.returncode, done.stdout, done.stderr), done.returncode, done.stderr.strip().removeprefix("optratio: ")


def ratio(n: int, k: int, *, eps: Real | None = None, exp_eps: Real | None = None, mechanism: Names | None = None,
          constraints: str | None = None, loss: str | None = None, prior: str | None = None, step: str | None = None, worst: bool = False,
          monotonic_scores: bool = False, delta: Real | None = None, rho: Real | None = None, sensitivity: Real | None = None,
          exact: bool = False, gap: float | None = None, method: str | None = None, solver: str | None = None,
          cert: str | None = None, html: str | None = None, time_limit: float | str | None = None, max_memory: str | None = None) -> Answer:
    """How far mechanisms are from the best one on the lattice of n candidates and depth k: `optratio ratio`, whose help describes the parameters.

    ratio(4, 4, eps=0.5).mechanisms[0].ratio is a Number. cert, html: files to write.
    """
    document, code, message = _ask(
        "ratio", n=n, k=k, eps=eps, exp_eps=exp_eps, mechanism=_names(mechanism), constraints=constraints, loss=loss, prior=prior, step=step, worst=worst,
        monotonic_scores=monotonic_scores, delta=delta, rho=rho, sensitivity=sensitivity, exact=exact, gap=gap, method=method, solver=solver,
        cert=cert, html=html, time_limit=seconds(time_limit), max_memory=max_memory)
    return Answer(document, code == 0, message)


def verify(mechanism: str, *, n: int | None = None, k: int | None = None, eps: Real | None = None, exp_eps: Real | None = None,
           properties: Names | None = None, sensitivity: Real | None = None, monotonic_scores: bool = False, delta: Real | None = None, rho: Real | None = None,
           bounded_range: Real | None = None, order: Values | None = None, claimed: Values | None = None, profile: bool = False,
           html: str | None = None, time_limit: float | str | None = None) -> Report:
    """Which properties a mechanism of the program has: `optratio verify`. Returns a Report, as audit does for functions."""
    document, code, message = _ask(
        "verify", mechanism=mechanism, n=n, k=k, eps=eps, exp_eps=exp_eps, property=_names(properties), sensitivity=sensitivity,
        monotonic_scores=monotonic_scores, delta=delta, rho=rho, range=bounded_range, order=_list(order), claimed=_list(claimed), profile=profile,
        html=html, time_limit=seconds(time_limit))
    return Report.of(document, code == 0, message)


def recommend(scores: Values, *, sensitivities: Values | None = None, sensitivity: Real | None = None, eps: Real | None = None, exp_eps: Real | None = None,
              by: str | None = None, monotonic_scores: bool = False, mechanism: Names | None = None) -> Answer:
    """Which mechanism to use at scores like these, the best first in .mechanisms: `optratio recommend`. by: "error" or "mse"."""
    document, code, message = _ask("recommend", scores=_list(scores), sensitivities=_list(sensitivities), sensitivity=sensitivity, eps=eps, exp_eps=exp_eps,
                                   by=by, monotonic_scores=monotonic_scores, mechanism=_names(mechanism))
    return Answer(document, code == 0, message)


def pmf(scores: Values, *, mechanism: str = "pf", sensitivities: Values | None = None, sensitivity: Real | None = None,
        eps: Real | None = None, exp_eps: Real | None = None, monotonic_scores: bool = False) -> Answer:
    """The probabilities with which a mechanism takes the candidates: `optratio pmf`. numpy.asarray(answer.pmf, float) makes an array of them."""
    document, code, message = _ask("pmf", mechanism=mechanism, scores=_list(scores), sensitivities=_list(sensitivities), sensitivity=sensitivity,
                                   eps=eps, exp_eps=exp_eps, monotonic_scores=monotonic_scores)
    return Answer(document, code == 0, message)
