"""What an audit found."""
from __future__ import annotations

import html
import json
import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Mapping


def line(text: Any) -> str:
    """A text that others chose, in one line: what a reader cannot see stands as an escape sequence, and nothing is a command of a build server."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))
    return re.sub(r"^(\s*)::", r"\1\\::", re.sub(r"##(?=[A-Za-z]*\[)", r"#\\#", shown))


@dataclass(frozen=True, repr=False)
class Number:
    """A number of a report: exact, enclosed between two decimals, or an estimate from samples. float(number) is its middle."""

    lower: str
    upper: str
    exact: str | None = None
    estimate: str | None = None
    method: str | None = None

    @classmethod
    def of(cls, document: Any) -> Number:
        """The number that a document has."""
        if not isinstance(document, dict):
            return cls(str(document), str(document), exact=str(document))
        estimate = document.get("estimate")
        return cls(document.get("lower", estimate), document.get("upper", estimate), document.get("exact"), estimate, document.get("method"))

    def __float__(self) -> float:
        if self.exact not in (None, "inf"):
            return float(Fraction(str(self.exact)))
        lower, upper = float(self.lower), float(self.upper)
        return lower if lower == upper else (lower + upper) / 2

    def __str__(self) -> str:
        if self.method:
            return f"{float(self):.6g} ({self.method})"
        if self.exact is not None and self.lower == self.upper and len(self.lower) <= 12:
            return self.lower
        if self.upper == "inf" != self.lower:
            return f"at least {float(self.lower):.12g}"
        middle, width = float(self), float(self.upper) - float(self.lower)
        if not width > 1e-12 * abs(middle):
            return f"{middle:.12g}"
        digits = max(1, math.floor(math.log10(abs(middle) / width))) if middle else 1
        return f"{middle:.{min(digits, 12)}g} ± {width / 2:.1g}"

    def __repr__(self) -> str:
        return f"Number({self})"


def _optional(document: Any) -> Number | None:
    return None if document is None else Number.of(document)


def _says(number: Number | None) -> bool:
    """Whether a tight parameter tells anything: one between 0 and infinity does not."""
    return number is not None and not (number.upper == "inf" != number.lower and float(number.lower) <= 0)


def _tight(symbol: str, number: Number, stopped: bool) -> str:
    """A tight parameter, or the lower bound that was found on it until the check was stopped."""
    if stopped and number.lower not in (None, "inf"):
        return f"{symbol} at least {float(number.lower):.12g}"
    return f"tight {symbol} {number}"


def _scores(scores: Any) -> str:
    return "(" + ", ".join(str(s) for s in scores) + ")"


@dataclass(frozen=True)
class Names:
    """The labels and the inputs of an audit, by the texts that documents have for them."""

    labels: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def label(self, text: Any) -> Any:
        return self.labels.get(text, text) if isinstance(text, str) else text

    def input(self, text: Any) -> Any:
        return self.inputs.get(text, text) if isinstance(text, str) else text


_NO_NAMES = Names()


@dataclass(frozen=True, repr=False)
class Witness:
    """One place where a property fails: the scores, or the input, those of the neighbor, the output (candidate: its place, or the label that the function
    returned), and both probabilities (None where there is none)."""

    document: Mapping[str, Any]
    p: Number
    p_neighbor: Number | None
    scores: list[float] | None
    neighbor: list[float] | None
    input: Any
    neighbor_input: Any
    distance: Number | None
    candidate: Any
    neighbor_candidate: int | None
    candidates: list[int] | None
    event: str | None
    t: Number | None
    p_em: Number | None
    p_expected: Number | None

    @classmethod
    def of(cls, d: Mapping[str, Any], names: Names = _NO_NAMES) -> Witness:
        """The witness that a document has."""
        return cls(d, Number.of(d["p"]), _optional(d.get("p_neighbor")), d.get("scores"), d.get("neighbor"), names.input(d.get("input")), names.input(d.get("neighbor_input")),
                   _optional(d.get("distance")), names.label(d.get("candidate")), d.get("neighbor_candidate"), d.get("candidates"), d.get("event"),
                   _optional(d.get("t")), _optional(d.get("p_em")), _optional(d.get("p_expected")))

    def __str__(self) -> str:
        return line(self._text())

    def _where(self) -> str:
        """The scores or the input, and the neighbor."""
        if self.scores is not None:
            return f"scores {_scores(self.scores)}" + ("" if self.neighbor is None else f" and {_scores(self.neighbor)}")
        text = f"input {self.input!r:.200}" + ("" if "neighbor_input" not in self.document else f" and {self.neighbor_input!r:.200}")
        return text + ("" if self.distance is None else f" at distance {self.distance}")

    def _output(self) -> str:
        if self.candidates is not None:
            return f", candidate {self.candidates[0]}" if len(self.candidates) == 1 else f", candidates {', '.join(map(str, self.candidates))} together"
        if isinstance(self.document.get("candidate"), int):
            return f", candidate {self.candidate}"
        if "candidate" in self.document:
            return f", output {self.candidate!r}"
        return "" if self.event is None else f", output {self.event!r}"

    def _text(self) -> str:
        text = self._where() + self._output()
        if self.neighbor_candidate is not None:
            text += f" (there {self.neighbor_candidate})"
        if self.p_em is not None:
            what = f"Pr[error >= {self.t}]" if self.t is not None else "expected error"
            return f"{text}: {what} is {self.p}, that of the exponential mechanism {self.p_em}"
        if self.p_expected is not None:
            return f"{text}: probability {self.p}, expected {self.p_expected}"
        if self.p_neighbor is None:
            return f"{text}: {self.p}"
        text += f": probability {self.p} and {self.p_neighbor}"
        a, b = float(self.p), float(self.p_neighbor)
        if self.neighbor_candidate is None and a != b:
            text += f", a ratio of e^{abs(math.log(a / b)):.4g}" if a > 0 and b > 0 else ", an infinite ratio"
        return text

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Finding:
    """Something that the function did which it should not, whatever its probabilities: an exception, NaN, too few probabilities."""

    event: str
    detail: str
    times: int
    scores: list[float] | None
    input: Any
    has_input: bool

    @classmethod
    def of(cls, d: Mapping[str, Any], names: Names = _NO_NAMES) -> Finding:
        """The finding that a document has."""
        return cls(d["event"], d["detail"], d["times"], d["scores"], names.input(d.get("input")), "input" in d)

    def __str__(self) -> str:
        place = f"scores {_scores(self.scores)}: " if self.scores else f"input {self.input!r:.200}: " if self.has_input else ""
        more = f" (the first of {self.times} of this kind)" if self.times > 1 else ""
        return line(f"{self.event}: {place}{self.detail}{more}")

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Property:
    """The verdict on one property: "proved", "violated" or "undecided", and what it rests on. asked is False for a fact, which nobody asked
    for by name and which does not make a report fail. stopped says that it ended after checked of total comparisons (None: not known): what is tight is
    a lower bound then."""

    document: Mapping[str, Any]
    name: str
    verdict: str
    checked: int
    total: int | None
    stopped: bool
    reason: str
    asked: bool
    witness: Witness | None
    attained: Witness | None
    tight_eps: Number | None
    tight_delta: Number | None
    range: Number | None
    rho: Number | None

    @classmethod
    def of(cls, d: Mapping[str, Any], names: Names = _NO_NAMES) -> Property:
        """The property that a document has."""
        witness, attained = (Witness.of(d[w], names) if d.get(w) else None for w in ("witness", "attained"))
        return cls(d, d["name"], d["verdict"], d["checked"], d.get("total"), "total" in d, d.get("reason", ""), d.get("asked", True), witness, attained,
                   _optional(d.get("tight_eps")), _optional(d.get("tight_delta")), _optional(d.get("range")), _optional(d.get("rho")))

    @property
    def ok(self) -> bool:
        return self.verdict == "proved"

    @property
    def word(self) -> str:
        """The verdict; of a fact, whether the function has the property."""
        return self.verdict if self.asked else {"proved": "has it", "violated": "does not have it"}.get(self.verdict, "not decided")

    def remark(self) -> str:
        """What there is to say beside the verdict, in one line."""
        parts = []
        if self.tight_eps is not None and (self.stopped or _says(self.tight_eps)):
            parts.append(_tight("ε", self.tight_eps, self.stopped))
        if self.tight_delta is not None:
            parts.append(_tight("δ", self.tight_delta, self.stopped))
        if self.rho is not None:
            parts.append(f"ρ {self.rho}")
        if ":" in self.name:
            parts += [f"ε({Number.of(x['alpha'])}) {Number.of(x['eps'])}" for x in self.document.get("orders") or []]
        if self.stopped and parts:
            parts.append(f"after {self.checked} {f'of {self.total} ' if self.total else ''}comparisons")
        if self.reason:
            parts.append(self.reason)
        return line(", ".join(parts))

    def __str__(self) -> str:
        text = f"{self.name}: {self.word}, {self.checked} checked"
        if self.remark():
            text += ", " + self.remark()
        if self.witness:
            text += f"\n  fails at {self.witness}"
        return text

    __repr__ = __str__


@dataclass(frozen=True, repr=False)
class Report:
    """The outcome of an audit. Each property is an attribute, with _ for -: report.dp.verdict, report.dominates_em.witness.

    ok: of what was asked for, by default dp and answers to every question, nothing is violated, and of stated probabilities nothing is undecided. tight_eps: the least ε of stated probabilities;
    eps_lower_bound, and with delta delta_lower_bound at the claimed ε: of samples, at the confidence. witness: the smallest that was found, of dp where there is one.
    profile, renyi: with profile=True pairs of an ε and the least δ there, and of an order and the Rényi divergence.
    findings: what went wrong beside probabilities. exception: the first exception of the function. document: the JSON document of the program.
    """

    document: Mapping[str, Any]
    ok: bool
    message: str
    exception: BaseException | None
    mechanism: str
    domain: str
    properties: dict[str, Property]
    findings: list[Finding]
    witness: Witness | None
    claimed_eps: Number | None
    tight_eps: Number | None
    eps_lower_bound: Number | None
    delta_lower_bound: Number | None
    confidence: float | None
    questions: int
    samples: int
    profile: list[tuple[Number, Number]]
    renyi: list[tuple[Number, Number]]

    @classmethod
    def of(cls, d: Mapping[str, Any], ok: bool = True, message: str = "", exception: BaseException | None = None, names: Names = _NO_NAMES) -> Report:
        """The report that a document has."""
        return cls(d, ok, message, exception, d["mechanism"], d["domain"], {p["name"]: Property.of(p, names) for p in d["properties"]},
                   [Finding.of(f, names) for f in d.get("findings") or []], Witness.of(d["witness"], names) if d.get("witness") else None,
                   _optional(d.get("claimed_eps")), _optional(d.get("tight_eps")), _optional(d.get("eps_lower_bound")), _optional(d.get("delta_lower_bound")),
                   d.get("confidence"), d.get("questions", 0), d.get("samples", 0),
                   [(Number.of(x["eps"]), Number.of(x["delta"])) for x in d.get("profile", [])],
                   [(Number.of(x["order"]), Number.of(x["divergence"])) for x in d.get("renyi", [])])

    def __getattr__(self, name: str) -> Property:
        properties: dict[str, Property] = self.__dict__.get("properties", {})
        try:
            return properties[name.replace("_", "-")]
        except KeyError:
            raise AttributeError(f"no attribute {name!r}; the properties are {', '.join(properties)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(p.replace("-", "_") for p in self.properties)]

    @property
    def violated(self) -> list[Property]:
        """The properties that were asked for and are violated."""
        return [p for p in self.properties.values() if p.asked and p.verdict == "violated"]

    def to_json(self, **options: Any) -> str:
        """The program's JSON document, with the function's name for the mechanism."""
        return json.dumps(self.document, ensure_ascii=False, **options)

    def _remark(self, p: Property) -> str:
        """What there is to say beside a verdict, where findings have lines of their own."""
        if p.name == "answers" and self.findings:
            return f"see the finding{'s' if len(self.findings) > 1 else ''} below"
        return p.remark()

    def conclusion(self) -> str:
        """The least ε, or the bounds of samples, beside what was claimed, in one line."""
        if self.tight_eps is not None and (self.dp.stopped or _says(self.tight_eps)):
            return f"{_tight('ε', self.tight_eps, self.dp.stopped)}; claimed: {self.claimed_eps}"
        least = [f"{name} is at least {bound}" for name, bound in
                 (("ε", self.eps_lower_bound), (f"δ at ε = {self.claimed_eps}", self.delta_lower_bound)) if bound is not None]
        if least:
            return f"{', '.join(least)} with confidence {self.confidence:g}, from {self.samples:,} samples; claimed: {self.claimed_eps}"
        return f"claimed: ε = {self.claimed_eps}"

    def __str__(self) -> str:
        lines = [line(f"{self.mechanism} on {self.domain}")]
        width = max([len(name) for name in self.properties], default=0)
        words = max([len(p.word) for p in self.properties.values()], default=0)
        rows = sorted(self.properties.values(), key=lambda p: not p.asked)
        for i, p in enumerate(rows):
            if not p.asked and (i == 0 or rows[i - 1].asked):
                lines.append("beside what was asked for:")
            lines.append(f"{p.name:{width}}  {p.word:{words}}  {p.checked} checked  {self._remark(p)}".rstrip())
            if p.witness:
                lines.append(f"{'':{width}}  fails at {p.witness}")
        lines += [f"finding: {f}" for f in self.findings]
        return "\n".join([*lines, self.conclusion()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colors = {"proved": "#2a7d2a", "violated": "#b32020", "undecided": "#8a6d00"}
        rows = "".join(
            f"<tr><td>{html.escape(p.name)}{'' if p.asked else ' (not asked for)'}</td><td style='color:{colors.get(p.verdict, 'inherit')}'>{html.escape(p.word)}</td>"
            f"<td>{p.checked}</td><td style='text-align:left'>{html.escape(self._remark(p))}"
            f"{'<br>fails at ' + html.escape(str(p.witness)) if p.witness else ''}</td></tr>"
            for p in self.properties.values())
        findings = "".join(f"<li>{html.escape(str(f))}</li>" for f in self.findings)
        return (f"<p><b>{html.escape(line(self.mechanism))}</b> on {html.escape(line(self.domain))}</p>"
                f"<table><tr><th>property</th><th>verdict</th><th>checked</th><th></th></tr>{rows}</table>"
                f"{'<ul>' + findings + '</ul>' if findings else ''}<p>{html.escape(self.conclusion())}</p>")
