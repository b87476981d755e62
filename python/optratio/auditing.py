"""The function audit."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any, Callable, Iterable, Literal, Sequence, Union

from .distributions import drawer
from .names import Inputs, Labels
from .program import ProgramFailed, UsageError, brief, find_program, problem
from .report import Names, Report
from .serving import Server, answer_pmf, answer_samples

Real = Union[int, float, str, Decimal, Fraction]  # floats by their shortest decimal, all others exactly
Vector = Sequence[Any]


class _Progress:
    """Shows on a terminal how many questions were asked."""

    def __init__(self, wanted: bool | Callable[[int, int], object] | None) -> None:
        self.show = sys.stderr.isatty() if wanted is None else wanted
        self.last = 0.0

    def __call__(self, questions: int, samples: int) -> None:
        if callable(self.show):
            self.show(questions, samples)
        elif self.show and time.monotonic() - self.last > 0.1:
            self.last = time.monotonic()
            text = f"audit: {questions:,} questions" + (f", {samples:,} samples" if samples else "")
            print("\r" + text, end="\x1b[K", file=sys.stderr, flush=True)

    def done(self) -> None:
        if self.show and not callable(self.show) and self.last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def text(x: Any) -> str:
    """A number as the command line takes it: floats by their shortest decimal."""
    if hasattr(x, "item"):  # a NumPy scalar
        x = x.item()
    return repr(x) if isinstance(x, float) else str(x)


def _vector(scores: Iterable[Any]) -> str:
    return ",".join(text(s) for s in scores)


def arguments(command: str, **flags: Any) -> list[str]:
    """The program and its arguments: flags by name, with _ for -. None and False are left out, True stands alone, lists are joined by commas."""
    out = [find_program(), command, "--json"]
    for name, value in flags.items():
        if value is None or value is False:
            continue
        flag = ("--" if len(name) > 1 else "-") + name.replace("_", "-")
        if value is True:
            out.append(flag)
        else:
            out.append(f"{flag}={_vector(value) if isinstance(value, (list, tuple)) else text(value)}")
    return out


def seconds(limit: float | str | None) -> str | None:
    """A time as the command line takes it: a number counts seconds, a string such as "2m" is taken as it is."""
    return limit if limit is None or isinstance(limit, str) else f"{limit}s"


def audit(*, pmf: Callable[..., Any] | None = None, sample: Any = None, eps: Real | None = None, exp_eps: Real | None = None,
          n: int | None = None, k: int | None = None, domain: str | Iterable[Vector] | None = None,
          neighbors: str | Iterable[Sequence[Any]] | None = None, sensitivity: Real | None = None, monotonic_scores: bool = False,
          inputs: Iterable[Any] | None = None, oneway: bool = False, no_side: bool = False,
          properties: str | Iterable[str] | None = None, outcomes: Literal["index", "labels", "real", "mixed"] | None = None,
          delta: Real | None = None, rho: Real | None = None, bounded_range: Real | None = None, against: Any = None,
          order: str | Sequence[Any] | None = None, claimed: str | Sequence[Any] | None = None, profile: bool = False,
          precision: Real | None = None, confidence: float | None = None, budget: int | str | None = None,
          until: Literal["refuted", "budget"] | None = None, seed: int | None = None, children: int | None = None,
          timeout: float | str | None = None, time_limit: float | str | None = None,
          html: str | None = None, progress: bool | Callable[[int, int], object] | None = None) -> Report:
    """Examines a mechanism that is a Python function, and returns a Report.

    pmf: a function f(scores, epsilon, sensitivity) that returns a probability for each score. Parameters with the names epsilon, eps or sensitivity get
        what they say; others are filled in this order, f(scores) and f(scores, epsilon) too, and those with a default keep it. Floats stand for any
        real number within the relative precision of them; fractions.Fraction, int, decimal.Decimal and strings "p/q" are exact.
    sample: a function f(scores, epsilon, sensitivity) that draws one outcome: the place of a candidate, counted from 0. If it has a
        parameter named samples, it draws that many, and returns a list of outcomes or a dict of counts.
    Both may return a distribution for the scores instead: sample an object of SciPy (rvs), diffprivlib (randomise) or OpenDP (Measurement), pmf
        a discrete distribution of SciPy with finite support. All samples of one question come from one such object: do not draw from it when you
        create it. A Measurement or a mechanism of diffprivlib that takes the scores or the input is a sample itself.
    eps, or exp_eps for e^ε: what is claimed, as a number or a string ("0.1", "3/2" for exp_eps), taken exactly.
    n, k: the number of candidates and the greatest depth of the lattice of score vectors, in steps of twice the sensitivity.
    domain: "lattice", "half-lattice", "random", or score vectors. neighbors: "linf", "monotonic", or pairs of vectors. monotonic_scores:
        neighbors move all scores one way.
    inputs: what to ask about instead of scores: any values, and f(input, epsilon, sensitivity) gets a copy of each. They are pairs of neighbors (x, y),
        or (x, y, distance); or, with neighbors, single inputs, and neighbors has pairs of their places, (0, 1) or (0, 3, distance). The neighbors of
        datasets by one row: inputs=[(x, x[:i] + x[i+1:]) for x in datasets for i in range(len(x))].
        With oneway, each pair is looked at in its order alone.
    no_side: look at no other scores than these, and at no larger datasets.
    outcomes: "index", "labels", "real" (numbers, for sample alone) or "mixed" (lists or dicts of strings and numbers, likewise). With "labels", pmf returns a dict of
        probabilities, and outcomes are compared as its keys are: 1 and True are one label, 1 and "1" are two.
    properties: names such as ["dp", "symmetry"]; see `optratio audit --help`, which describes the other parameters too.
    delta: decide (ε,δ)-DP with this δ instead of ε-DP.
    rho, bounded_range: what is claimed beside ε: ρ of zCDP, and the bounded range, as targets of verdicts.
    order, claimed: decide Rényi divergences of these orders, such as [2, 8, "inf"], and whether they are at most what is claimed of each.
    profile: the report lists δ at several ε and Rényi divergences, of pmf.
    against: is it distributed alike? The name of a mechanism of the library (the report's property "against"), or a function such as pmf or sample
        is (property "same").
    children: how many calls of sample run at the same time, in threads of this process. That is faster if the function waits, or computes
        outside Python's interpreter lock, as NumPy mostly does. It must be safe to call from several threads.
    timeout, time_limit: seconds, for one answer and for all. A function that never returns is not interrupted. Without a time_limit an audit
        that takes much more than a minute raises UsageError.
    html: a file that gets the answer as a page with pictures.
    progress: True, False, a function of (questions, samples), or None for a line on stderr where that is a terminal.

    An exception of the function is an output like any other and a finding of the report, which keeps the first as report.exception.
    Raises UsageError for arguments that make no sense, ProgramNotFound if the program optratio is not there, and AnswerError if the function
    returns what audits do not understand: each is an optratio.Error.
    """
    f = sample if pmf is None else pmf
    if (pmf is None) == (sample is None):
        raise UsageError("give exactly one of pmf and sample")
    if eps is None and exp_eps is None and rho is None:
        raise UsageError("epsilon is missing: give eps=0.5, or exp_eps='3/2' for e^ε")
    if "," in str(eps):
        raise UsageError("eps is one number: call audit for each")
    if not callable(f) and (pmf is not None or drawer(f) is None):
        raise UsageError(f"{brief(f)} is not a function")
    if against is not None and not isinstance(against, str) and not callable(against) and (pmf is not None or drawer(against) is None):
        raise UsageError(f"against={brief(against)} is neither a mechanism's name nor a function")
    shown, labels, named, ended = _Progress(progress), Labels(), Inputs(), threading.Event()
    answer = answer_pmf(f, outcomes, labels) if pmf is not None else answer_samples(f, outcomes or "index", labels)
    server = Server(answer, shown, threads=(children or 1) > 1, inputs=named)
    reference, against_exec = None, None
    if against is not None and not isinstance(against, str):
        compared = answer_pmf(against, outcomes, labels) if pmf is not None else answer_samples(against, outcomes or "index", labels)
        reference = Server(compared, lambda *_: None, threads=True, inputs=named)
        against, against_exec = None, reference.command
        answering = threading.Thread(target=reference.serve, args=(lambda: not ended.is_set(),), daemon=True)
        answering.start()
    try:
        def file(name: str, lines: Iterable[str]) -> str:
            path = os.path.join(server.folder.name, name)
            with open(path, "w", encoding="utf-8") as out:
                out.writelines(entry + "\n" for entry in lines)
            return path
        if domain is not None and not isinstance(domain, str):
            domain = file("domain", map(_vector, domain))
        inputs_file = None
        if inputs is not None:
            if isinstance(neighbors, str):
                raise UsageError(f"neighbors={neighbors!r}: beside inputs, neighbors has pairs of places, such as (0, 1)")
            pairs: Iterable[Sequence[Any]] = named.pairs(inputs) if neighbors is None else neighbors
            if neighbors is not None:
                for x in inputs:
                    named.add(x)
            neighbors = file("neighbors", (['"oneway"'] if oneway else []) + [",".join(map(text, p)) for p in pairs])
            if not named.of:
                raise UsageError("inputs is empty")
            inputs_file = file("inputs", map(json.dumps, named.of))
        elif oneway:
            raise UsageError("oneway goes with inputs")
        elif neighbors is not None and not isinstance(neighbors, str):
            neighbors = file("neighbors", (f"{_vector(pair[0])};{_vector(pair[1])}" for pair in neighbors))
        if properties is not None and not isinstance(properties, str):
            properties = ",".join(properties)
        command: dict[str, Any] = {"pmf_exec" if pmf is not None else "sample_exec": server.command}
        code, out, problems = _run(arguments(
            "audit", **command, eps=eps, exp_eps=exp_eps, n=n, k=k, domain=domain, inputs=inputs_file, neighbors=neighbors, sensitivity=sensitivity,
            monotonic_scores=monotonic_scores, no_side=no_side, property=properties, against=against,
            against_exec=against_exec, pmf_precision=precision, outcomes=outcomes, rho=rho, range=bounded_range,
            delta=delta, confidence=confidence, budget=budget, until=until, seed=seed, timeout=seconds(timeout), time_limit=seconds(time_limit),
            children=children, html=html, order=order, claimed=claimed, profile=profile), server, reference)
        for asked in (server, reference):
            if asked is not None and asked.fatal is not None:
                raise asked.fatal
    finally:
        ended.set()
        if reference is not None:
            answering.join()
            reference.close()
        server.close()
        shown.done()
    if code == 130:
        raise KeyboardInterrupt
    for inside, said in ((json.dumps(server.command), "the function"), (json.dumps(server.command, ensure_ascii=False), "the function"), (server.folder.name + os.sep, "")):
        problems = problems.replace(inside, said)
    if against_exec is not None:
        out = out.replace(json.dumps(against_exec)[1:-1], "the reference").replace(json.dumps(against_exec, ensure_ascii=False)[1:-1], "the reference")
    document = parsed(code, out, problems)
    document["mechanism"] = getattr(f, "__qualname__", None) or " ".join(repr(f).split())
    return Report.of(document, code == 0, problems.strip(), server.error, Names(labels.of, named.of))


def parsed(code: int, out: str, problems: str) -> dict[str, Any]:
    """The document that the program wrote, or the exception for a run that wrote none."""
    if code not in (0, 1, 3):
        raise problem(code, problems)
    try:
        document: dict[str, Any] = json.loads(out)
    except ValueError:
        raise ProgramFailed(problems.strip() or f"the program ended with code {code} and wrote no document") from None
    return document


def _run(args: list[str], server: Server, reference: Server | None = None) -> tuple[int, str, str]:
    """Runs the program and serves it until it ends, or a reference that is served elsewhere cannot go on. Returns its exit code and what it wrote."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as problems:
        # In a session of its own: Ctrl-C comes here first, and is passed on.
        process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out, stderr=problems, start_new_session=True)
        try:
            server.serve(lambda: process.poll() is None and (reference is None or reference.fatal is None))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        out.seek(0)
        problems.seek(0)
        return process.returncode, out.read().decode(), problems.read().decode()
