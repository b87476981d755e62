"""The function audit."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from .distributions import drawer
from .names import Labels, input_lines
from .program import UsageError, find_program
from .report import Report
from .serving import Server, answer_pmf, answer_samples


class _Progress:
    """Shows on a terminal how many questions were asked."""

    def __init__(self, wanted):
        self.show = sys.stderr.isatty() if wanted is None else wanted
        self.last = 0.0

    def __call__(self, questions, samples):
        if callable(self.show):
            self.show(questions, samples)
        elif self.show and time.monotonic() - self.last > 0.1:
            self.last = time.monotonic()
            text = f"audit: {questions:,} questions" + (f", {samples:,} samples" if samples else "")
            print("\r" + text, end="\x1b[K", file=sys.stderr, flush=True)

    def done(self):
        if self.show and not callable(self.show) and self.last:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _text(x):
    """A number as the command line takes it: floats by their shortest decimal."""
    if hasattr(x, "item"):  # a NumPy scalar
        x = x.item()
    return repr(x) if isinstance(x, float) else str(x)


def _vector(scores):
    return ",".join(_text(s) for s in scores)


def _file(folder, name, lines):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return path


def audit(*, pmf=None, sample=None, eps=None, exp_eps=None, n=None, k=None, domain=None, neighbors=None, sensitivity=None, properties=None,
          against=None, precision=None, outcomes=None, rho=None, range=None, delta=None, confidence=None, budget=None, until=None, seed=None,
          timeout=None, time_limit=None, children=None, progress=None,
          inputs=None, max_questions=None, html=None) -> Report:
    """Examines a mechanism that is a Python function, and returns a Report.

    pmf: a function f(scores, epsilon, sensitivity) that returns a probability for each score. Floats stand for any real number within
        the relative precision of them; fractions.Fraction, int, decimal.Decimal and strings "p/q" are exact.
    sample: a function f(scores, epsilon, sensitivity) that draws one outcome: the place of a candidate, counted from 0. Where it has a
        parameter named samples, it is called with it, draws so many, and returns a list of outcomes or a dict of counts.
    Both may return a distribution for the scores instead: sample an object of SciPy (rvs), diffprivlib (randomise) or OpenDP (Measurement), pmf
        a discrete distribution of SciPy with finite support. All samples of one question come from one such object, so that nothing may be
        drawn where it is made. A Measurement or a mechanism of diffprivlib that takes the scores or the input is a sample itself.
    eps, or exp_eps for e^ε: what is claimed, as a number or a string ("0.1", "3/2" for exp_eps), taken exactly.
    n, k: the number of candidates and the greatest depth of the lattice of score vectors, in steps of twice the sensitivity.
    domain: "lattice", "half-lattice", "random", or a list of score vectors. neighbors: "linf", "monotonic", or a list of pairs of vectors.
    properties: names such as ["dp", "symmetry"]; see `optratio audit --help`, which describes the other parameters too.
    rho, range: what is claimed beside ε: ρ of zCDP, and the bounded range, as targets of verdicts.
    delta: of a pmf, decide (ε,δ)-DP with this δ instead of ε-DP.
    inputs: a list of what is asked about instead of scores, anything that JSON holds: f(input, epsilon, sensitivity), where tuples come as lists. neighbors is then a list of
        pairs of their places, (0, 1) or with a distance (0, 3, 2); with "oneway" in front, each is looked at in its order alone.
    outcomes: "index", "labels", "real" (numbers, for sample alone) or "mixed" (lists or dicts of strings and numbers, likewise). With "labels", pmf returns a dict of
        probabilities, and outcomes are compared as its keys are: 1 and True are one label, 1 and "1" are two.
    children: of sample, so many calls at the same time, in threads of this process: faster where the function waits, or computes outside
        Python's interpreter lock, as NumPy does for much. It must be safe to call from several threads.
    timeout, time_limit: seconds, for one answer and for all. A function that never returns is not interrupted.
    max_questions: of a pmf; an audit that needs more raises UsageError, by default one that takes more than about a minute. With time_limit it ends then.
    html: a file that gets the answer as a page with pictures.
    progress: True, False, a function of (questions, samples), or None for a line on stderr where that is a terminal.

    An exception of the function is an output like any other and a finding of the report, which keeps the first as report.exception.
    Raises UsageError for arguments that make no sense, ProgramNotFound where there is no program optratio, and TypeError where the function
    returns what audits do not understand.
    """
    if (pmf is None) == (sample is None):
        raise TypeError("give exactly one of pmf and sample")
    f = sample if pmf is None else pmf
    if not callable(f) and (pmf is not None or drawer(f) is None):
        raise TypeError(f"{f!r:.80} is no function")
    program = find_program()
    shown = _Progress(progress)
    labels = Labels()
    answer = answer_pmf(f, outcomes, labels) if pmf is not None else answer_samples(f, outcomes or "index", labels)
    server = Server(answer, shown, threads=(children or 1) > 1)
    try:
        folder = server.folder.name
        if domain is not None and not isinstance(domain, str):
            domain = _file(folder, "domain", map(_vector, domain))
        if inputs is not None and not isinstance(inputs, str):
            inputs = _file(folder, "inputs", input_lines(inputs))
            neighbors = _file(folder, "neighbors", ('"oneway"' if p == "oneway" else _vector(p) for p in neighbors or []))
        if neighbors is not None and not isinstance(neighbors, str):
            neighbors = _file(folder, "neighbors", (f"{_vector(a)};{_vector(b)}" for a, b in neighbors))
        if properties is not None and not isinstance(properties, str):
            properties = ",".join(properties)
        flags = {
            "pmf-exec" if pmf is not None else "sample-exec": server.command, "eps": eps, "exp-eps": exp_eps, "n": n, "k": k, "domain": domain, "inputs": inputs,
            "neighbors": neighbors, "sensitivity": sensitivity, "property": properties, "against": against, "pmf-precision": precision,
            "outcomes": outcomes, "rho": rho, "range": range, "delta": delta, "confidence": confidence, "budget": budget, "until": until, "seed": seed,
            "timeout": None if timeout is None else f"{timeout}s", "time-limit": None if time_limit is None else f"{time_limit}s", "children": children,
            "max-questions": max_questions, "html": html,
        }
        args = [program, "audit", "--json"]
        for name, value in flags.items():
            if value is not None:
                args.append(("--" if len(name) > 1 else "-") + f"{name}={_text(value)}")
        code, out, problems = _run(args, server)
        if server.fatal is not None:
            raise server.fatal
    finally:
        server.close()
        shown.done()
    if code == 130:
        raise KeyboardInterrupt
    try:
        document = json.loads(out)
        if code not in (0, 1, 3) or "properties" not in document:
            raise ValueError
    except ValueError:
        message = problems.strip().removeprefix("optratio: ") or f"the program ended with code {code}"
        raise (UsageError if code == 2 else RuntimeError)(message) from None
    document["mechanism"] = getattr(f, "__qualname__", None) or " ".join(repr(f).split())
    return Report(document, ok=code == 0, exception=server.error, message=problems.strip(), labels=labels.of)


def _run(args, server):
    """Runs the program and serves it until it ends. Returns its exit code and what it wrote."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as problems:
        # In a session of its own: Ctrl-C comes here first, and is passed on.
        process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out, stderr=problems, start_new_session=True)
        try:
            server.serve(lambda: process.poll() is None)
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
