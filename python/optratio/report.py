"""What an audit found."""
import html
import json
import math
import re
from fractions import Fraction



def line(text):
    """A text that others chose, in one line: what a reader cannot see stands as an escape sequence, and nothing is a command of a build server."""
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))
    return re.sub(r"^(\s*)::", r"\1\\::", re.sub(r"##(?=[A-Za-z]*\[)", r"#\\#", shown))


class Number:
    """A number of a report: exact, enclosed between two decimals, or an estimate from samples."""

    def __init__(self, document):
        if not isinstance(document, dict):
            document = {"exact": str(document), "lower": str(document), "upper": str(document)}
        self.exact, self.estimate = document.get("exact"), document.get("estimate")
        self.lower = document.get("lower", self.estimate)
        self.upper = document.get("upper", self.estimate)
        self.method = document.get("method")

    def __float__(self):
        if self.exact not in (None, "inf"):
            return float(Fraction(self.exact))
        lower, upper = float(self.lower), float(self.upper)
        return lower if lower == upper else (lower + upper) / 2

    def __str__(self):
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

    def __repr__(self):
        return f"Number({self})"


def _optional(document):
    return None if document is None else Number(document)


def _tight(symbol, number, stopped):
    """A tight parameter, or the lower bound that was found on it until the check was stopped."""
    if stopped and number.lower not in (None, "inf"):
        return f"{symbol} at least {float(number.lower):.12g}"
    return f"tight {symbol} {number}"


def _scores(scores):
    return "(" + ", ".join(str(s) for s in scores) + ")"


class Witness:
    """One place where a property fails: the scores, those of the neighbor, the output (candidate: its place, or the label that the function returned), and both
    probabilities (None where there is none)."""

    def __init__(self, document, labels={}):
        self.document = document
        self.scores, self.neighbor = document.get("scores"), document.get("neighbor")
        self.input, self.neighbor_input = document.get("input"), document.get("neighbor_input")  # of audits of inputs
        self.distance = _optional(document.get("distance"))
        self.candidates = document.get("candidates")
        candidate = document.get("candidate")
        self.candidate, self.neighbor_candidate = labels.get(candidate, candidate), document.get("neighbor_candidate")
        self.event, self.t = document.get("event"), _optional(document.get("t"))
        self.p, self.p_neighbor = Number(document["p"]), _optional(document.get("p_neighbor"))
        self.p_em, self.p_expected = _optional(document.get("p_em")), _optional(document.get("p_expected"))

    def __str__(self):
        return line(self._text())

    def _text(self):
        if self.scores is None:
            text = f"input {self.input!r}" + ("" if "neighbor_input" not in self.document else f" and {self.neighbor_input!r}")
            text += "" if self.distance is None else f" at distance {self.distance}"
        else:
            text = f"scores {_scores(self.scores)}"
        if self.neighbor is not None:
            text += f" and {_scores(self.neighbor)}"
        if self.candidates is not None:
            text += f", candidate {self.candidates[0]}" if len(self.candidates) == 1 else f", candidates {', '.join(map(str, self.candidates))} together"
        elif isinstance(self.document.get("candidate"), int):
            text += f", candidate {self.candidate}"
        elif "candidate" in self.document:
            text += f", output {self.candidate!r}"
        elif self.event is not None:
            text += f", output {self.event!r}"
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


class Finding:
    """Something that the function did which it should not, whatever its probabilities: an exception, NaN, too few probabilities."""

    def __init__(self, document):
        self.event, self.detail, self.scores, self.times = document["event"], document["detail"], document["scores"], document["times"]
        self.input, self.has_input = document.get("input"), "input" in document

    def __str__(self):
        place = f"scores {_scores(self.scores)}: " if self.scores else f"input {self.input!r}: " if self.has_input else ""
        more = f" (the first of {self.times} of this kind)" if self.times > 1 else ""
        return line(f"{self.event}: {place}{self.detail}{more}")

    __repr__ = __str__


class Property:
    """The verdict on one property: "proved", "violated" or "undecided", and what it rests on. asked is False for a fact, which nobody asked
    for by name and which does not make a report fail. stopped says that it ended after checked of total comparisons (None: not known): what is tight is
    a lower bound then."""

    def __init__(self, document, labels={}):
        self.document = document
        self.name, self.verdict, self.checked = document["name"], document["verdict"], document["checked"]
        self.stopped, self.total = "total" in document, document.get("total")
        self.reason, self.asked = document.get("reason", ""), document.get("asked", True)
        self.witness = Witness(document["witness"], labels) if document.get("witness") else None
        self.attained = Witness(document["attained"], labels) if document.get("attained") else None
        self.tight_eps, self.range = _optional(document.get("tight_eps")), _optional(document.get("range"))
        self.rho, self.tight_delta = _optional(document.get("rho")), _optional(document.get("tight_delta"))
        self.ok = self.verdict == "proved"

    def remark(self):
        """What there is to say beside the verdict, in one line."""
        parts = []
        if self.tight_eps is not None:
            parts.append(_tight("ε", self.tight_eps, self.stopped))
        if self.tight_delta is not None:
            parts.append(_tight("δ", self.tight_delta, self.stopped))
        if self.rho is not None:
            parts.append(f"ρ {self.rho}")
        if self.stopped and parts:
            parts.append(f"after {self.checked} {f'of {self.total} ' if self.total else ''}comparisons")
        if self.reason:
            parts.append(self.reason)
        return line(", ".join(parts))

    def __str__(self):
        text = f"{self.name}: {self.verdict}, {self.checked} checked"
        if self.remark():
            text += ", " + self.remark()
        if self.witness:
            text += f"\n  fails at {self.witness}"
        return text

    __repr__ = __str__


class Report:
    """The outcome of an audit. Each property is an attribute, with _ for -: report.dp.verdict, report.dominates_em.witness.

    ok: of what was asked for, by default dp and answers to every question, nothing is violated, and of stated probabilities nothing is undecided. tight_eps: the least ε of stated probabilities;
    eps_lower_bound, and with delta delta_lower_bound at the claimed ε: of samples, at the confidence. witness: the smallest that was found, of dp where there is one.
    findings: what went wrong beside probabilities. exception: the first exception of the function.
    """

    def __init__(self, document, ok=True, exception=None, message="", labels={}):
        self.document, self.ok, self.exception, self.message = document, ok, exception, message
        self.mechanism, self.domain = document["mechanism"], document["domain"]
        self.properties = {p["name"]: Property(p, labels) for p in document["properties"]}
        self.claimed_eps, self.tight_eps = _optional(document.get("claimed_eps")), _optional(document.get("tight_eps"))
        self.eps_lower_bound, self.confidence = _optional(document.get("eps_lower_bound")), document.get("confidence")
        self.delta_lower_bound = _optional(document.get("delta_lower_bound"))
        self.questions, self.samples = document.get("questions", 0), document.get("samples", 0)
        self.findings = [Finding(f) for f in document.get("findings") or []]
        self.witness = Witness(document["witness"], labels) if document.get("witness") else None

    def __getattr__(self, name):
        properties = self.__dict__.get("properties", {})
        try:
            return properties[name.replace("_", "-")]
        except KeyError:
            raise AttributeError(f"no attribute {name!r}; the properties are {', '.join(properties)}") from None

    def __dir__(self):
        return [*super().__dir__(), *(p.replace("-", "_") for p in self.properties)]

    @property
    def violated(self):
        """The properties that were asked for and are violated."""
        return [p for p in self.properties.values() if p.asked and p.verdict == "violated"]

    def to_json(self, **options):
        """The program's JSON document, with the function's name for the mechanism."""
        return json.dumps(self.document, ensure_ascii=False, **options)

    def _conclusion(self):
        if self.tight_eps is not None:
            return f"{_tight('ε', self.tight_eps, self.dp.stopped)}; claimed: {self.claimed_eps}"
        least = [f"{name} is at least {bound}" for name, bound in
                 (("ε", self.eps_lower_bound), (f"δ at ε = {self.claimed_eps}", self.delta_lower_bound)) if bound is not None]
        if least:
            return f"{', '.join(least)} with confidence {self.confidence:g}, from {self.samples:,} samples; claimed: {self.claimed_eps}"
        return f"claimed: ε = {self.claimed_eps}"

    def __str__(self):
        lines = [line(f"{self.mechanism} on {self.domain}")]
        width = max([len(name) for name in self.properties], default=0)
        for p in self.properties.values():
            lines.append(f"{p.name:{width}}  {p.verdict:9}  {p.checked} checked  {p.remark()}".rstrip())
            if p.witness:
                lines.append(f"{'':{width}}  fails at {p.witness}")
        lines += [f"finding: {f}" for f in self.findings]
        return "\n".join([*lines, self._conclusion()])

    __repr__ = __str__

    def _repr_html_(self):
        colors = {"proved": "#2a7d2a", "violated": "#b32020", "undecided": "#8a6d00"}
        rows = "".join(
            f"<tr><td>{html.escape(p.name)}</td><td style='color:{colors.get(p.verdict, 'inherit')}'>{html.escape(p.verdict)}</td>"
            f"<td>{p.checked}</td><td style='text-align:left'>{html.escape(p.remark())}"
            f"{'<br>fails at ' + html.escape(str(p.witness)) if p.witness else ''}</td></tr>"
            for p in self.properties.values())
        findings = "".join(f"<li>{html.escape(str(f))}</li>" for f in self.findings)
        return (f"<p><b>{html.escape(line(self.mechanism))}</b> on {html.escape(line(self.domain))}</p>"
                f"<table><tr><th>property</th><th>verdict</th><th>checked</th><th></th></tr>{rows}</table>"
                f"{'<ul>' + findings + '</ul>' if findings else ''}<p>{html.escape(self._conclusion())}</p>")
