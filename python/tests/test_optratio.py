"""Run by pytest, or by python3 -m unittest where there is none. The program is named by OPTRATIO or is bin/optratio."""
import builtins
import contextlib
import functools
import html
import inspect
import io
import json
import math
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import zipfile
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("OPTRATIO", str(HERE.parent.parent / "bin" / "optratio"))

import optratio  # noqa: E402
from optratio.testing import assert_dp  # noqa: E402


def weights(scores, epsilon, sensitivity, factor=1):
    best = max(scores)
    return [math.exp(factor * epsilon * (q - best) / (2 * sensitivity)) for q in scores]


def permute_and_flip(scores, epsilon, sensitivity, factor=1):
    """Pr[r] = w_r ∫ Π_{s≠r} (1 - t w_s) dt over [0,1], integrated exactly by a Gauss-Legendre rule of four nodes for up to eight candidates."""
    nodes = [((1 + s * x) / 2, c / 2) for x, c in ((0.3399810435848563, 0.6521451548625461), (0.8611363115940526, 0.3478548451374538)) for s in (-1, 1)]
    w = weights(scores, epsilon, sensitivity, factor)
    return [w[r] * sum(c * math.prod(1 - t * x for s, x in enumerate(w) if s != r) for t, c in nodes) for r in range(len(w))]


def forgotten(scores, epsilon, sensitivity):
    """Permute-and-flip without the factor 2: its privacy is 2ε."""
    return permute_and_flip(scores, epsilon, sensitivity, 2)


def draw(scores, epsilon, sensitivity, factor=1, rng=random):
    w = weights(scores, epsilon, sensitivity, factor)
    for r in rng.sample(range(len(w)), len(w)):
        if rng.random() < w[r]:
            return r
    raise AssertionError("the best candidate is always taken")


# Five candidates at most, where the three nodes are exact; the side set of an audit asks about more, so these say what they can.
PMF = {"n": 3, "k": 1, "properties": ["dp"]}


class Probabilities(unittest.TestCase):
    def test_right(self):
        report = optratio.audit(pmf=permute_and_flip, eps=1, n=3, k=1, properties=["dp", "symmetry", "shift", "monotone"])
        self.assertTrue(report.ok, report)
        self.assertEqual(report.dp.verdict, "proved")
        self.assertAlmostEqual(float(report.tight_eps), 1, places=7)  # permute-and-flip uses all of its ε
        self.assertEqual(report.mechanism, "permute_and_flip")
        self.assertIsNone(report.witness)
        self.assertIsNone(report.exception)

    def test_factor_forgotten(self):
        report = optratio.audit(pmf=forgotten, eps=1, **PMF)
        self.assertFalse(report.ok)
        self.assertEqual(report.dp.verdict, "violated")
        self.assertAlmostEqual(float(report.tight_eps), 2, places=7)
        w = report.dp.witness
        p = forgotten(w.scores, 1, 1)[w.candidate]
        q = forgotten(w.neighbor, 1, 1)[w.candidate]
        self.assertGreater(abs(math.log(p / q)), 1.0001)
        self.assertAlmostEqual(float(w.p), p, places=8)
        self.assertAlmostEqual(float(w.p_neighbor), q, places=8)
        self.assertLessEqual(max(abs(a - b) for a, b in zip(w.scores, w.neighbor)), 1)
        self.assertEqual([p.name for p in report.violated], ["dp"])

    def test_exact_numbers(self):
        def uniform(scores, epsilon, sensitivity):
            n = len(scores)
            return [f"1/{n}", Decimal("0.5")] if n == 2 else [Fraction(1, n)] * n
        report = optratio.audit(pmf=uniform, eps=1, n=2, k=1, properties="dp,sum")
        self.assertEqual((report.dp.verdict, report.sum.verdict), ("proved", "proved"))
        self.assertEqual(report.tight_eps.exact, "0")

    def test_domain_and_neighbors(self):
        asked = []

        def f(scores, epsilon, sensitivity):
            asked.append(tuple(scores))
            return permute_and_flip(scores, epsilon, sensitivity)
        optratio.audit(pmf=f, eps=0.5, domain=[[0, -0.25, 0]], neighbors=[([0, -0.25, 0], [0.5, 0.25, 0])], sensitivity=0.5, properties=["dp"])
        self.assertIn((0, -0.25, 0), asked)
        self.assertIn((0.5, 0.25, 0), asked)

    def test_targets(self):
        # permute-and-flip is not claimed to have the zCDP of the exponential mechanism, ε²/8
        report = optratio.audit(pmf=permute_and_flip, eps=1, n=2, k=2, rho=0.125, bounded_range=1, properties=["zcdp", "bounded-range"])
        self.assertEqual(report.bounded_range.verdict, "violated")
        self.assertEqual(report.zcdp.verdict, "violated")
        self.assertGreater(float(report.zcdp.rho), 0.125)

    def test_profile(self):
        report = optratio.audit(pmf=permute_and_flip, eps=1, n=2, k=2, properties=["rdp"], order=[2, float("inf")], claimed=[0.3, 1], profile=True)
        self.assertEqual([p.name for p in report.violated], ["rdp:2"])
        self.assertTrue(report.properties["rdp:2"].witness)
        self.assertIn("ε(2) 0.", str(report.properties["rdp:2"]))
        self.assertAlmostEqual(float(report.profile[4][0]), 1)
        self.assertAlmostEqual(float(report.renyi[1][1]), 1, 6)
        self.assertEqual(optratio.verify("pf", n=2, k=2, eps=1).profile, [])
        self.assertEqual(float(optratio.verify("pf", n=2, k=2, eps=1, profile=True, order="2").renyi[0][0]), 2)

    def test_exception(self):
        def f(scores, epsilon, sensitivity):
            if scores[0] < scores[-1]:
                raise ValueError("descending scores only")
            return permute_and_flip(scores, epsilon, sensitivity)
        report = optratio.audit(pmf=f, eps=1, **PMF)
        self.assertFalse(report.ok)
        self.assertEqual(report.answers.verdict, "violated")
        self.assertIn("ValueError: descending scores only", str(report.findings[0]))
        self.assertIsInstance(report.exception, ValueError)
        self.assertEqual(report.dp.verdict, "violated")  # an error is an output like any other
        self.assertEqual(report.dp.witness.candidate, "error")

    def test_nan(self):
        report = optratio.audit(pmf=lambda scores, epsilon, sensitivity: [math.nan] * len(scores), eps=1, **PMF)
        self.assertFalse(report.ok)
        self.assertIn("NaN", str(report))

    def test_no_list(self):
        with self.assertRaisesRegex(TypeError, "not a list of probabilities"):
            optratio.audit(pmf=lambda *_: 0.5, eps=1, **PMF)


class Samples(unittest.TestCase):
    def test_right(self):
        rng = random.Random(1)
        report = optratio.audit(sample=lambda *q: draw(*q, rng=rng), eps=1, n=2, k=1, budget=20_000)
        self.assertTrue(report.ok, report)
        self.assertEqual(report.dp.verdict, "undecided")
        self.assertTrue(20_000 - 3 < report.samples <= 20_000, report.samples)  # as many of each of the three calls
        self.assertLess(float(report.eps_lower_bound), 1)
        self.assertIn("confidence 0.95", str(report))

    def test_factor_forgotten(self):
        rng = random.Random(2)

        def many(scores, epsilon, sensitivity, samples):
            return [draw(scores, epsilon, sensitivity, 2, rng) for _ in range(samples)]
        report = optratio.audit(sample=many, eps=1, n=2, k=1, budget=200_000, until="refuted")
        self.assertFalse(report.ok)
        self.assertEqual(report.dp.verdict, "violated")
        self.assertGreater(float(report.eps_lower_bound), 1)

    def test_delta_of_samples(self):
        rng = random.Random(3)

        def many(scores, epsilon, sensitivity, samples):
            return [draw(scores, epsilon, sensitivity, 3, rng) for _ in range(samples)]
        report = optratio.audit(sample=many, eps=1, n=2, k=1, delta="0.01", budget=20_000)
        self.assertEqual(report.approximate_dp.verdict, "violated")
        self.assertGreater(float(report.delta_lower_bound), 0.01)
        self.assertEqual(report.confidence, 0.95)
        self.assertIn(f"δ at ε = 1 is at least {report.delta_lower_bound} with confidence 0.95", str(report))

    def test_children(self):
        together, most, lock = 0, 0, threading.Lock()

        def many(scores, epsilon, sensitivity, samples):
            nonlocal together, most
            with lock:
                together += 1
                most = max(most, together)
            time.sleep(0.01)
            drawn = [draw(scores, epsilon, sensitivity, 0.5) for _ in range(samples)]  # half of ε: at ε itself, some runs refute by chance
            with lock:
                together -= 1
            return drawn
        report = optratio.audit(sample=many, eps=1, n=2, k=1, budget=20_000, children=3)
        self.assertTrue(report.ok, report)
        self.assertTrue(20_000 - 3 < report.samples <= 20_000, report.samples)  # as many of each of the three calls
        self.assertEqual(most, 3)

        def broken(scores, epsilon, sensitivity):
            raise ZeroDivisionError("nothing")
        report = optratio.audit(sample=broken, eps=1, n=2, k=1, budget=20_000, children=2)
        self.assertFalse(report.ok)
        self.assertIsInstance(report.exception, ZeroDivisionError)
        with self.assertRaises(TypeError):
            optratio.audit(sample=lambda *q: None, eps=1, n=2, k=1, budget=20_000, children=2)
        with self.assertRaises(optratio.UsageError):
            optratio.audit(pmf=permute_and_flip, eps=1, children=2)

    def test_delta(self):
        def response(scores, epsilon, sensitivity):
            best = Fraction(3, 4) if max(scores) > min(scores) else Fraction(1, 2)
            return [best if q == max(scores) else 1 - best for q in scores]
        for delta, verdict in (("3/16", "proved"), ("0.18", "violated")):  # 1/2 - 5/4 1/4
            report = optratio.audit(pmf=response, exp_eps="5/4", domain=[(0, 0), (0, -2)], neighbors=[((0, 0), (0, -2))], delta=delta)
            found = report.approximate_dp
            self.assertEqual(found.verdict, verdict)
            self.assertEqual(found.tight_delta.exact, "3/16")

    def test_labels(self):
        def votes(scores, epsilon, sensitivity, samples):
            return {"winner " + str(scores.index(max(scores))): samples - 1, "nobody": 1}
        report = optratio.audit(sample=votes, eps=1, n=2, k=1, budget=20_000, outcomes="labels", until="refuted")
        self.assertFalse(report.ok, report)

    def test_stated_labels(self):
        def response(scores, epsilon, sensitivity):
            return {"yes": Fraction(3, 4), "no": Fraction(1, 4)} if max(scores) == min(scores) else {"no": Fraction(3, 4), "yes": Fraction(1, 4)}
        report = optratio.audit(pmf=response, exp_eps="3", n=2, k=1, outcomes="labels", properties=["dp"])
        self.assertEqual(report.dp.verdict, "proved")
        report = optratio.audit(pmf=response, eps=1, n=2, k=1, outcomes="labels", properties=["dp"])
        self.assertEqual(report.dp.verdict, "violated")

    def test_properties_of_samples(self):
        def first(scores, epsilon, sensitivity, samples):
            return {0: samples}
        report = optratio.audit(sample=first, eps=1, n=2, k=1, budget=20_000, properties=["symmetry", "shift"])
        self.assertEqual([report.properties[p].verdict for p in ("symmetry", "shift")], ["violated", "undecided"])

    def test_outcomes_that_fit_nothing(self):
        for returned in ("nobody", None, 0.5):
            with self.assertRaisesRegex(TypeError, "labels"):
                optratio.audit(sample=lambda *_, r=returned: r, eps=1, n=2, k=1, budget=1000)
        report = optratio.audit(sample=lambda *_: 7, eps=1, n=2, k=1, budget=1000)
        self.assertIn("drew candidate 7 of 2", str(report))


class References(unittest.TestCase):
    def test_functions_are_compared(self):
        def wrong(scores, epsilon, sensitivity):  # the least score in place of the greatest
            return permute_and_flip([-q for q in scores], epsilon, sensitivity)
        same = optratio.audit(pmf=permute_and_flip, against=permute_and_flip, eps=1, n=3, k=1, properties=["same"])
        self.assertEqual("proved", same.properties["same"].verdict)
        r = optratio.audit(pmf=wrong, against=permute_and_flip, eps=1, n=3, k=1, properties=["dp", "same"])
        self.assertFalse(r.ok)
        self.assertEqual(("proved", "violated"), (r.properties["dp"].verdict, r.properties["same"].verdict))
        self.assertIn("compared with the reference", r.properties["same"].reason)

    def test_samplers_are_compared(self):
        def first(scores, epsilon, sensitivity):
            return 0
        r = optratio.audit(sample=first, against=draw, eps=1, n=2, k=1, properties="same", budget=3000)
        self.assertEqual("violated", r.properties["same"].verdict)
        with self.assertRaisesRegex(optratio.AnswerError, "not the place of a candidate"):
            optratio.audit(sample=draw, against=lambda scores: "x", eps=1, n=2, k=1, properties="same", budget=3000)
        with self.assertRaisesRegex(optratio.UsageError, "neither a mechanism's name nor a function"):
            optratio.audit(sample=draw, against=3, eps=1)
        with self.assertRaisesRegex(optratio.UsageError, "call audit for each"):
            optratio.audit(sample=draw, eps="0.5,1")


class Errors(unittest.TestCase):
    def test_missing_program(self):
        with mock.patch.dict(os.environ, {"OPTRATIO": "/nowhere/optratio"}):
            with self.assertRaisesRegex(optratio.ProgramNotFound, "OPTRATIO=/nowhere/optratio"):
                optratio.audit(pmf=permute_and_flip, eps=1)
        with mock.patch.dict(os.environ, {"OPTRATIO": "", "PATH": ""}):
            with self.assertRaisesRegex(optratio.ProgramNotFound, "make wheel"):
                optratio.audit(pmf=permute_and_flip, eps=1)

    def test_usage(self):
        for arguments, message in [({"eps": -1}, "^eps "), ({}, "epsilon is missing"), ({"eps": 1, "n": 0}, "^n is missing or 0"), ({"eps": 1, "properties": ["nice"]}, "^properties: .*nice"),
                                   ({"eps": 1, "bounded_range": -1}, "^bounded_range "), ({"eps": 1, "monotonic_scores": True, "neighbors": "shifted"}, "^neighbors shifted: .* pmf_file")]:
            with self.assertRaisesRegex(optratio.UsageError, message):  # names are those of the arguments, not of the flags
                optratio.audit(pmf=permute_and_flip, **arguments)
        for arguments in ({}, {"pmf": permute_and_flip, "sample": draw}, {"pmf": 3}):
            with self.assertRaises(optratio.UsageError):
                optratio.audit(eps=1, **arguments)

    def test_words_of_python(self):
        for arguments, message in (({"pmf": lambda *_: {"a": 1}}, "pmf returned {'a': 1}; for a dict of labels give outcomes='labels'"),
                                   ({"pmf": lambda *_: [1], "outcomes": "labels"}, "with outcomes='labels' it returns a dict"),
                                   ({"pmf": lambda *_: {"a": 1}, "outcomes": "labels", "inputs": [1, 2], "neighbors": [(0, 7)]}, "^(?!.*/tmp).*neighbors.*7"),
                                   ({"pmf": permute_and_flip, "epsilon": 1}, "^epsilon: no such argument; did you mean eps[?]"),
                                   ({"pmf": permute_and_flip, "neighbours": 1}, "did you mean neighbors[?]")):
            with self.assertRaisesRegex(optratio.Error, message):
                assert_dp(**{"eps": 1, "n": 2, "k": 1, **arguments})

    def test_arguments_go_by_their_names(self):
        def other_way(scores, sensitivity, epsilon):
            return permute_and_flip(scores, epsilon, sensitivity)
        report = optratio.audit(pmf=other_way, eps=0.5, **PMF)
        self.assertAlmostEqual(float(report.tight_eps), 0.5, places=7)
        drawn = optratio.audit(sample=lambda scores, s, eps, samples: [0 if s == 1 and eps == 0.5 else 1] * samples, eps=0.5, n=2, k=1, budget=100, outcomes="labels")
        self.assertEqual(drawn.findings, [])

    def test_functions_take_fewer_arguments_or_have_more(self):
        def positions(q, eps, d, /):
            return permute_and_flip(q, eps, d)

        def keywords(q, rng=None, *, sensitivity, eps):
            assert rng is None
            return permute_and_flip(q, eps, sensitivity)
        for f in (lambda scores, eps: permute_and_flip(scores, eps, 1), lambda q, budget: permute_and_flip(q, budget, 1), positions, keywords,
                  lambda epsilon, utility: permute_and_flip(utility, epsilon, 1), lambda q, *rest: permute_and_flip(q, *rest),
                  functools.partial(permute_and_flip, sensitivity=1), lambda scores, **more: permute_and_flip(scores, 0.5, 1)):
            report = optratio.audit(pmf=f, eps=0.5, **PMF)
            self.assertEqual(report.findings, [])
            self.assertAlmostEqual(float(report.tight_eps), 0.5, places=7)
        self.assertEqual(optratio.audit(sample=lambda scores: 0, eps=0.5, n=2, k=1, budget=100).findings, [])
        for f in (lambda q, e, d, more: [1], lambda: [1], lambda eps: [1]):
            with self.assertRaisesRegex(optratio.UsageError, r"<lambda>\(.*\): it is called with \(scores, epsilon, sensitivity\)"):
                optratio.audit(pmf=f, eps=1)

    def test_one_base(self):
        for error in (optratio.AnswerError, optratio.ProgramFailed, optratio.ProgramNotFound, optratio.UsageError):
            self.assertTrue(issubclass(error, optratio.Error))

    def test_interrupt_in_function(self):
        def f(*_):
            raise KeyboardInterrupt
        started = []

        class Popen(subprocess.Popen):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                started.append(self)
        with mock.patch.object(subprocess, "Popen", Popen), self.assertRaises(KeyboardInterrupt):
            optratio.audit(pmf=f, eps=1)
        self.assertEqual([p.returncode is None for p in started], [False])  # it was waited for

    def test_ctrl_c(self):
        # A process that a shell started in the background ignores the signal; so would its children.
        code = ("import signal, sys, time, optratio\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
                "def f(scores, *_):\n    print('asked', flush=True)\n    time.sleep(60)\n"
                "try:\n    optratio.audit(pmf=f, eps=1, timeout=100)\n"
                "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n")
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                                       env={**os.environ, "PYTHONPATH": str(HERE.parent), "TMPDIR": folder})
            self.assertEqual(process.stdout.readline(), "asked\n")
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=100)
            self.assertEqual(out, "interrupted\n")
            self.assertEqual(process.returncode, 0)
            self.assertEqual(os.listdir(folder), [])

    def test_long_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = os.path.join(folder, "x" * 120)
            os.mkdir(deep)
            with mock.patch.object(tempfile, "tempdir", deep):
                self.assertTrue(optratio.audit(pmf=permute_and_flip, eps=1, **PMF).ok)

    def test_time_limit(self):
        with self.assertRaisesRegex(optratio.UsageError, "score vectors .* more than 500000; give a smaller"):
            optratio.audit(pmf=permute_and_flip, eps=1, n=10, k=5)
        report = optratio.audit(pmf=permute_and_flip, eps=1, n=5, k=4, time_limit=0.2)
        if report.dp.checked:
            self.assertRegex(str(report), f"ε at least [0-9.]+, after {report.dp.checked} of [0-9]+ comparisons")
        self.assertNotIn("tight", str(report))
        self.assertFalse(report.ok)
        self.assertEqual(report.violated, [])
        self.assertIn("time limit", report.message + str(report))


class Shown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = optratio.audit(pmf=forgotten, eps=1, **PMF)

    def test_text(self):
        lines = str(self.report).split("\n")
        self.assertRegex(lines[0], "^forgotten on the .* vectors")
        self.assertRegex(lines[1], "^dp .*violated .*tight ε 2")
        self.assertRegex(lines[2], r"fails at scores \(.*\) and \(.*\), candidate \d: probability .*, a ratio of e\^2$")
        self.assertRegex(lines[-1], "claimed: 1$")

    def test_html(self):
        text = self.report._repr_html_()
        for part in ("<table>", "violated", "fails at scores"):
            self.assertIn(part, text)
        odd = optratio.Report.of({**self.report.document, "mechanism": "<lambda>"})
        self.assertIn("&lt;lambda&gt;", odd._repr_html_())

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            optratio.audit(pmf=forgotten, eps=1, html=path, **PMF)
            with open(path, encoding="utf-8") as f:
                page = f.read()
            self.assertIn("The dashed frame is where the lower bar would end if this were ε-DP", html.unescape(page))
            self.assertEqual(page.count("<svg"), page.count("<figure>"))
            optratio.ratio(3, 2, eps=1, html=path)
            with open(path, encoding="utf-8") as f:
                self.assertIn("pf is optimal", f.read())

    def test_json(self):
        document = json.loads(self.report.to_json(indent=1))
        self.assertEqual(document["mechanism"], "forgotten")
        self.assertEqual(str(optratio.Report.of(document)), str(self.report))

    def test_attributes(self):
        self.assertIn("dp", dir(self.report))
        with self.assertRaisesRegex(AttributeError, "the properties are dp, answers"):
            self.report.symmetry
        self.assertFalse(hasattr(optratio.Report.__new__(optratio.Report), "dp"))

    def test_progress(self):
        told = []
        err = io.StringIO()
        with contextlib.redirect_stderr(err):
            optratio.audit(pmf=forgotten, eps=1, progress=lambda questions, samples: told.append(questions), **PMF)
            self.assertEqual(err.getvalue(), "")
            optratio.audit(pmf=forgotten, eps=1, progress=True, **PMF)
        self.assertEqual(told, list(range(1, len(told) + 1)))
        self.assertRegex(err.getvalue(), "audit: [0-9,]+ questions")

    def test_no_distribution(self):
        """What says nothing is left out, and a finding stands once."""
        report = optratio.audit(pmf=lambda scores, *_: [0.9 / len(scores)] * len(scores), eps=1, n=2, k=1)
        self.assertEqual(report.dp.remark(), "probabilities do not sum to 1")
        self.assertEqual(report.conclusion(), "claimed: ε = 1")
        self.assertEqual(str(report).count("the probabilities sum to 0.9"), 1)
        self.assertIn("see the finding below", report._repr_html_())

    def test_foreign_text(self):
        """What a function and its labels are called writes no lines and no commands of a build server, and hides nothing."""
        evil = "::error::a\n::warning::b\x1b[31m\u202e\u2028##[error]\tc"
        document = json.loads(json.dumps(self.report.document))
        document["mechanism"] = evil
        document["properties"][0].update(verdict="violated", reason=evil, witness={"input": evil, "candidate": evil, "p": {"exact": "1", "lower": "1", "upper": "1"}})
        document["findings"] = [{"event": "error", "detail": evil, "scores": None, "times": 1}]
        report = optratio.Report.of(document, ok=False)
        with mock.patch("optratio.testing.audit", return_value=report):
            with self.assertRaises(AssertionError) as failed:
                assert_dp(sample=len, eps=1)
        for text in (str(report), repr(report.properties), report._repr_html_().split("<details")[0], str(failed.exception), repr(optratio.Answer({"a": evil, "b": [evil]}))):
            self.assertFalse([c for c in text if c != "\n" and not c.isprintable()], text)
            self.assertNotIn("##[", text)
            self.assertNotRegex(text, r"(?m)^\s*::|^[a-z]*::warning")


class Assertion(unittest.TestCase):
    def test_right(self):
        self.assertEqual(assert_dp(pmf=permute_and_flip, eps=1, n=3, k=1).dp.verdict, "proved")

    def test_witness(self):
        with self.assertRaisesRegex(AssertionError, r"forgotten fails its audit at ε = 1\ndp: violated.*\n  fails at scores \(.*\) and \(.*\), candidate 0: probability"):
            assert_dp(pmf=forgotten, eps=1, n=3, k=1)

    def test_undecided(self):
        with self.assertRaisesRegex(AssertionError, "not proved to be 1-DP\ndp: undecided"):
            assert_dp(pmf=permute_and_flip, eps=1, n=5, k=4, time_limit=0.2)

    def test_delta(self):
        # At ε = 1 a candidate has 1/2 at (0, 0) and e^-2/2 at (1, -1): the lattice's least δ is 1/2 - e·e^-2/2 = 0.316.
        # Of gaps x, and 2 - x the other way, it is 1 - e^-x/2 - e^(x-1)/2, at most 1 - e^-(1/2) = 0.3935. The side set has such gaps.
        arguments = {"pmf": forgotten, "eps": 1, "n": 2, "k": 1}
        found = assert_dp(**arguments, delta=0.394)
        self.assertGreater(float(found.approximate_dp.tight_delta), 0.5 - math.exp(-1) / 2)
        self.assertLess(float(found.approximate_dp.tight_delta), 1 - math.exp(-0.5))
        self.assertEqual((list(found.properties)[0], found.approximate_dp.verdict), ("approximate-dp", "proved"))
        self.assertNotIn("dp", found.properties)
        with self.assertRaisesRegex(AssertionError, "forgotten fails its audit at ε = 1\napproximate-dp: violated"):
            assert_dp(**arguments, delta=0.3)
        with self.assertRaisesRegex(AssertionError, "\ndp: violated"):
            assert_dp(**arguments)
        with self.assertRaisesRegex(AssertionError, r"not proved to be \(1, 0.3\)-DP\napproximate-dp: undecided"):
            assert_dp(pmf=permute_and_flip, eps=1, n=5, k=4, delta=0.3, time_limit=0.2)

    def test_cause(self):
        def f(*_):
            raise ValueError("no such thing")
        with self.assertRaisesRegex(AssertionError, "ValueError: no such thing") as caught:
            assert_dp(pmf=f, eps=1, n=2, k=1)
        self.assertIsInstance(caught.exception.__cause__, ValueError)


class Guide(unittest.TestCase):
    def test_example(self):
        text = (HERE.parent.parent / "docs" / "use" / "how-to.md").read_text(encoding="utf-8")
        code = text.split("## Audit a Python function\n")[1].split("```python\n")[1].split("```")[0]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, {})
        lines = out.getvalue().split("\n")
        self.assertRegex(lines[0], "^mechanism on ")
        self.assertEqual(lines[-3], "violated")
        self.assertRegex(lines[-2], r"^scores \(.*\) and \(.*\), candidate \d: probability")


class Questions(unittest.TestCase):
    def test_ratio(self):
        answer = optratio.ratio(4, 4, eps=0.5, mechanism=["pf", "em"])
        self.assertTrue(answer.ok)
        self.assertEqual([m.name for m in answer.mechanisms], ["pf", "em"])
        self.assertTrue(answer.mechanisms[0].ratio.lower.startswith("1.00858032288"))  # as `optratio ratio` prints it
        exact = optratio.ratio(3, 2, exp_eps=2)  # permute-and-flip is best there
        self.assertEqual(exact["optimum"].exact, exact.mechanisms[0].error.exact)
        self.assertIn("<td>1.0085803228", answer._repr_html_())
        self.assertIn("\n  ratio: 1.0085803228", str(answer))
        late = optratio.ratio(9, 9, eps=0.5, method="lp", time_limit="1ms")
        self.assertFalse(late.ok)
        self.assertIn("time limit", late.message)
        with self.assertRaisesRegex(optratio.UsageError, "mechanism"):
            optratio.ratio(3, 2, eps=1, mechanism="none")
        with self.assertRaisesRegex(AttributeError, "the fields are"):
            answer.nothing

    def test_verify(self):
        self.assertEqual(optratio.verify("pf", n=3, k=2, eps=1).dp.verdict, "proved")
        report = optratio.verify("krr", n=3, k=2, eps=0.5, properties=["dp", "dominates-em"])
        self.assertFalse(report.ok)
        self.assertIn("Pr[error >= 4]", str(report.dominates_em.witness))

    def test_scores_of_every_kind(self):
        class Series:  # what NumPy arrays and pandas Series have
            def tolist(self):
                return [0.0, -1.0, -2.5]
        want = optratio.pmf("0,-1,-2.5", mechanism="em", eps=1).pmf
        kinds = [[0, -1, -2.5], (Decimal(0), Fraction(-1), "-5/2"), Series(), iter([0, -1, -2.5])]
        with contextlib.suppress(ImportError):
            import numpy
            kinds += [numpy.array([0, -1, -2.5]), [numpy.float64(0), numpy.int64(-1), numpy.float32(-2.5)]]
        with contextlib.suppress(ImportError):
            import pandas
            kinds.append(pandas.Series([0, -1, -2.5], index=list("abc")))
        for scores in kinds:
            got = optratio.pmf(scores, mechanism="em", eps=1).pmf
            self.assertEqual([p.lower for p in got], [p.lower for p in want])
        self.assertAlmostEqual(sum(map(float, want)), 1, places=15)
        best = optratio.recommend(Series(), sensitivities=[1, 2, 1], eps=1)
        self.assertEqual(best.mechanisms[0].name, optratio.recommend([0, -1, -2.5], sensitivities="1,2,1", eps=1).mechanisms[0].name)


    def test_version(self):
        root = HERE.parent.parent
        self.assertIn(f'Version = "{optratio.__version__}"', (root / "cli" / "version.go").read_text())
        self.assertIn(f'version = "{optratio.__version__}"', (root / "python" / "pyproject.toml").read_text())
        self.assertIn(f"version: {optratio.__version__}\n", (root / "CITATION.cff").read_text())


class Plugin(unittest.TestCase):
    TESTS = """
        import math, pytest
        def em(scores, epsilon, sensitivity, factor=2):
            w = [math.exp(epsilon * (q - max(scores)) / (factor * sensitivity)) for q in scores]
            return [x / sum(w) for x in w]
        def forgotten(scores, epsilon, sensitivity):
            return em(scores, epsilon, sensitivity, 1)
        @pytest.mark.dp(eps=1, n=3, k=2, pmf=em)
        def test_private(): pass
        @pytest.mark.dp(eps=1, n=3, k=2, pmf=forgotten)
        def test_forgotten(): pass
        @pytest.mark.dp(eps=1, n=3, k=2, pmf=em)
        def test_body_fails(): assert 1 + 1 == 3
        @pytest.mark.dp(eps=1, n=3, pfm=em)
        def test_misspelled(): pass
        @pytest.mark.dp
        def test_bare(): pass
        @pytest.mark.dp(eps=1, n=3, k=2)
        class TestFixture:
            def test_private(self, assert_dp): assert assert_dp(pmf=em).dp.verdict == "proved"
            def test_more(self, assert_dp): assert_dp(pmf=lambda q, e, d: forgotten(q, e / 2, d), eps=2)
            def test_forgotten(self, assert_dp): assert_dp(pmf=forgotten)
        """

    def test_plugin(self):
        try:
            import pytest  # noqa: F401
        except ImportError:
            self.skipTest("pytest is not there")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "test_mechanism.py"
            path.write_text(textwrap.dedent(self.TESTS))
            run = subprocess.run([sys.executable, "-m", "pytest", "-p", "optratio.pytest_plugin", "-p", "no:cacheprovider", "--strict-markers", "-v", str(path)],
                                 cwd=folder, env={**os.environ, "PYTHONPATH": str(HERE.parent)}, stdout=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 1, run.stdout)
        outcomes = dict(re.findall(r"test_mechanism\.py::(\S+) (PASSED|FAILED)", run.stdout.split("= FAILURES =")[0]))
        self.assertEqual(outcomes, {"test_private": "PASSED", "test_forgotten": "FAILED", "test_body_fails": "FAILED", "test_misspelled": "FAILED", "test_bare": "FAILED",
                                    "TestFixture::test_private": "PASSED", "TestFixture::test_more": "PASSED", "TestFixture::test_forgotten": "FAILED"})
        shown = run.stdout.split("_ test_forgotten _")[1].split("\n", 1)[1].split("\n___")[0].strip()
        self.assertLessEqual(len(shown.split("\n")), 10, shown)
        self.assertEqual(shown.count("fails its audit"), 1, shown)
        self.assertRegex(shown, r"^forgotten fails its audit at ε = 1\ndp: violated, .* tight ε 2\S*.*\n  fails at scores \(.*\) and \(.*\), candidate \d: probability ")
        self.assertIn("assert (1 + 1) == 3", run.stdout)
        self.assertIn("audits nothing here: give it pmf=… or sample=…, or let the test take the fixture assert_dp (its arguments: eps, n, pfm)", run.stdout)


@unittest.skipUnless(shutil.which(os.environ.get("GO", "go")), "Go is not installed")
class Wheel(unittest.TestCase):
    def test_wheel(self):
        with tempfile.TemporaryDirectory() as folder:
            # By another process, as pip does.
            built = subprocess.run([sys.executable, str(HERE.parent / "wheel_backend.py"), folder], stdout=subprocess.PIPE, text=True, check=True)
            wheel = pathlib.Path(built.stdout.strip())
            self.assertRegex(wheel.name, r"^optratio-[0-9.]+-py3-none-\w+\.whl$")
            subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), folder], check=True)
            program = pathlib.Path(folder) / "optratio" / "bin" / "optratio"
            program.chmod(0o755)  # pip keeps the mode, python3 -m zipfile does not
            code = "import optratio; print(optratio.find_program()); print(optratio.audit(pmf=lambda s, *_: ['1/%d' % len(s)] * len(s), eps=1, n=2, k=1).dp.verdict)"
            points = (pathlib.Path(folder) / f"optratio-{optratio.__version__}.dist-info" / "entry_points.txt").read_text()
            self.assertIn("[pytest11]\noptratio = optratio.pytest_plugin\n", points)
            self.assertTrue((pathlib.Path(folder) / "optratio" / "py.typed").exists())
            env = {**os.environ, "PYTHONPATH": folder}
            del env["OPTRATIO"]
            out = subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout
            self.assertEqual(out.split(), [str(program.resolve()), "proved"])


class Types(unittest.TestCase):
    def test_mypy(self):
        for python in (sys.executable, "/usr/bin/python3"):
            with contextlib.suppress(FileNotFoundError):
                run = subprocess.run([python, "-m", "mypy", "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                if run.returncode == 0:
                    break
        else:
            self.skipTest("mypy is not there")
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([python, "-m", "mypy", "--strict", "--cache-dir", folder, "--python-version", "3.9", str(HERE.parent / "optratio")],
                                 stdout=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_no_builtin_is_shadowed(self):
        for function in (optratio.audit, optratio.ratio, optratio.verify, optratio.recommend, optratio.pmf):
            parameters = inspect.signature(function).parameters
            self.assertFalse(set(parameters) & set(dir(builtins)))
            self.assertFalse([p for p in parameters.values() if p.kind is p.VAR_KEYWORD])


class Main(unittest.TestCase):
    def test_python_m(self):
        run = subprocess.run([sys.executable, "-m", "optratio", "--version"], env={**os.environ, "PYTHONPATH": str(HERE.parent)}, stdout=subprocess.PIPE, text=True)
        self.assertEqual((run.returncode, run.stdout.split()[:1]), (0, ["optratio"]), run.stdout)
        gone = subprocess.run([sys.executable, "-m", "optratio"], env={**os.environ, "PYTHONPATH": str(HERE.parent), "OPTRATIO": "/nowhere/optratio"},
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual((gone.returncode, len(gone.stderr.splitlines())), (1, 1), gone.stderr)


class Wheels(unittest.TestCase):
    def test_tags_of_every_platform(self):
        try:
            from packaging.tags import mac_platforms, parse_tag, platform_tags
            from packaging.utils import parse_wheel_filename
        except ImportError:
            self.skipTest("packaging is not there")
        try:
            from wheel.wheelfile import WheelFile  # which compares each file that it reads with RECORD
        except ImportError:
            WheelFile = zipfile.ZipFile
        sys.path.insert(0, str(HERE.parent))
        import wheel_backend
        platforms = set()
        with tempfile.TemporaryDirectory() as folder:
            for system, tag in wheel_backend.PLATFORMS.items():
                program = pathlib.Path(folder) / "program"
                program.write_text(system)
                name = wheel_backend.write_wheel(folder, tag, program)
                with WheelFile(pathlib.Path(folder) / name) as wheel:
                    files = {file: wheel.read(file).decode() for file in wheel.namelist()}
                self.assertEqual(files["optratio/bin/optratio"], system)
                inside = re.findall("^Tag: (.*)$", files[f"optratio-{optratio.__version__}.dist-info/WHEEL"], re.M)
                tags = parse_wheel_filename(name)[3]
                self.assertEqual({t for text in inside for t in parse_tag(text)}, tags)
                platforms |= {t.platform for t in tags}
        self.assertEqual(len(platforms), 6)  # two of the four have an older name beside the newer one
        for machine in ("x86_64", "arm64"):
            self.assertTrue(platforms & set(mac_platforms((12, 0), machine)))
            self.assertFalse(platforms & set(mac_platforms((11, 0), machine)))  # Go's programs need macOS 12
        self.assertTrue(platforms & set(platform_tags()), "no wheel for this machine")


class Inputs(unittest.TestCase):
    def test_pairs_one_way_and_at_a_distance(self):
        table = {0: {"low": "4/7", "high": "3/7"}, 1: {"low": "2/7", "high": "5/7"}, 2: {"low": "1/7", "high": "6/7"}}

        def tight(*neighbors, oneway=False):
            r = optratio.audit(pmf=lambda x, epsilon, sensitivity: table[x["count"]], inputs=({"count": i} for i in range(3)),
                               neighbors=neighbors, oneway=oneway, outcomes="labels", exp_eps=2, properties="dp")
            pairs = [({"count": a}, {"count": b}, *d) for a, b, *d in neighbors]
            self.assertEqual(r.tight_eps, optratio.audit(pmf=lambda x, *_: table[x["count"]], inputs=pairs, oneway=oneway, outcomes="labels", exp_eps=2, properties="dp").tight_eps)
            return r.ok, float(r.tight_eps)

        self.assertEqual(tight((0, 1), (1, 2), (0, 2, 2))[0], True)
        self.assertAlmostEqual(tight((0, 2, 4))[1], math.log(4) / 4)
        self.assertAlmostEqual(tight((1, 0), oneway=True)[1], math.log(5 / 3))
        self.assertFalse(tight((0, 2))[0])
        r = optratio.audit(pmf=lambda x, epsilon, sensitivity: table[x["count"]], inputs=[{"count": 0}, {"count": 2}], neighbors=[(0, 1)],
                           outcomes="labels", exp_eps=2, properties="dp")
        self.assertEqual((r.witness.input, r.witness.neighbor_input, r.witness.scores), ({"count": 0}, {"count": 2}, None))

    def test_any_values(self):
        """What f gets is what was given, whatever JSON makes of it; equal texts of different objects are held apart."""
        class Table:  # as a data frame: == is no bool, and the repr is an abridgement
            def __init__(self, rows):
                self.rows = rows

            def __eq__(self, other):
                raise ValueError("the truth value is ambiguous")

            __hash__ = None

            def __repr__(self):
                return "Table(…)"

        pairs = [((1, 2), [1, 2]), ({1: 2}, {"1": 2}), ("\udc80", "\\udc80"), (math.nan, None), (Table([1]), Table([2])), (b"a", "b'a'"), ([0] * 300, [0] * 300 + [1]),
                 ({1, 2}, frozenset({1, 2})), (Fraction(1, 3), "Fraction(1, 3)"), ("input 1", "input 2")]
        for x, y in pairs:
            got = []

            def f(value, *_):
                got.append(value)
                if isinstance(value, list):
                    value.append("changed")  # a copy
                return {"a": 1}
            report = optratio.audit(pmf=f, inputs=[(x, y), (y, x)], eps=1, outcomes="labels", properties="dp")
            self.assertEqual(report.dp.verdict, "proved", (x, y))
            self.assertEqual({type(value) for value in got}, {type(x), type(y)})
            first = []
            report = optratio.audit(pmf=lambda value, *_: {str(type(value)) + repr(getattr(value, "rows", value)): 1}, inputs=[(x, y)], eps=1, outcomes="labels", properties="dp")
            self.assertEqual(report.dp.verdict, "violated", (x, y))
            self.assertTrue(report.witness.input is x or report.witness.input is y, report.witness)

    def test_refused(self):
        for inputs, neighbors, message in (([1, 2], None, r"inputs\[0\] is 1; without neighbors, inputs are pairs"), ([(1, 2, 3, 4)], None, "pairs"),
                                           ([], None, "inputs is empty"), ([1, 2], "linf", "pairs of places"), ([1, 2], [(0, 2)], "2")):
            with self.assertRaisesRegex(optratio.UsageError, message):
                optratio.audit(pmf=lambda *_: {"a": 1}, inputs=inputs, neighbors=neighbors, eps=1, outcomes="labels")
        with self.assertRaisesRegex(optratio.UsageError, "oneway goes with inputs"):
            optratio.audit(pmf=permute_and_flip, eps=1, oneway=True)

    def test_hypothesis(self):
        """hypothesis generates datasets, and shrinks the pair that refutes."""
        try:
            from hypothesis import given, settings, strategies
        except ImportError:
            self.skipTest("hypothesis is not there")

        def selection(rows, epsilon, sensitivity):  # of a partition, shown from its third row on: no noise where it matters
            return {"shown": 1} if len(rows) > 2 else {"hidden": 1}

        smallest = []

        @settings(max_examples=60, deadline=None, database=None, derandomize=True)
        @given(strategies.lists(strategies.integers(0, 9), min_size=1))
        def refuted(rows):
            smallest[:] = [rows]
            assert_dp(pmf=selection, inputs=[(rows, rows[:-1])], eps=1, outcomes="labels")
        with self.assertRaisesRegex(AssertionError, r"input \[0, 0, 0\] and \[0, 0\]|input \[0, 0\] and \[0, 0, 0\]"):
            refuted()
        self.assertEqual(smallest, [[0, 0, 0]])


class Color(Enum):
    RED = 1
    BLUE = 2


class Named:
    """Looks like all others, and is equal to itself alone."""

    def __repr__(self):
        return "Named"


class Names(unittest.TestCase):
    """Labels are compared as the keys of a dict are."""

    def audit(self, first, second, **more):
        return optratio.audit(pmf=lambda x, *_: (first, second)[x], inputs=[0, 1], neighbors=[(0, 1)], eps=0.1, outcomes="labels", properties="dp", **more)

    def test_equal(self):
        pairs = [(1, 1.0), (1, True), (Color.RED, Color.RED), ((1, "a"), (1.0, "a")), ("a", "a"), (None, None), (math.nan, math.nan), (Fraction(1, 2), 0.5)]
        with contextlib.suppress(ImportError):
            import numpy
            pairs += [(1, numpy.int64(1)), ("a", numpy.str_("a"))]
        for first, second in pairs:
            self.assertEqual(self.audit({first: 1}, {second: 1}).dp.verdict, "proved", (first, second))
        self.assertEqual(optratio.audit(sample=lambda *_: [1, {"a": (2,)}], n=2, k=1, eps=1, outcomes="labels", budget=1000).violated, [])

    def test_different(self):
        for first, second in ((1, "1"), ((1, 2), "(1, 2)"), ((1, 2), "[1, 2]"), (None, "None"), (None, "null"), ("\udc80", "\udc81"), ("\udc80", "'\\udc80'"), ("", "''"), ("", " "), (b"a", "b'a'"),
                              (Color.RED, Color.BLUE), (Color.RED, 1), ("\u00e9", "e\u0301"), ("\r\n", "\n"), (0, (0,)), (2**53, 2**53 + 1)):
            for a, b in ((first, second), (second, first)):
                report = self.audit({a: 1}, {b: 1})
                self.assertEqual(report.dp.verdict, "violated", (a, b))
                self.assertEqual(report.dp.witness.candidate, a)
                self.assertIn(f"output {a!r}:", str(report))
        half = {1: "1/2", "1": "1/2"}
        self.assertTrue(self.audit(half, half).ok)  # nothing of it is lost
        draws = [optratio.audit(sample=lambda x, *_: (1, "1")[x], inputs=[0, 1], neighbors=[(0, 1)], eps=1, outcomes=outcomes, budget=5000, until="refuted").dp.verdict
                 for outcomes in ("labels", "mixed")]
        self.assertEqual(draws, ["violated", "violated"])

    def test_refused(self):
        class Alone:
            pass
        for first, second, message in ((Named(), Named(), "labels Named and Named, of types Named and Named, are not equal"), (Alone(), Alone(), "equal to no other object"),
                                       (float("nan"), float("nan"), "labels nan and nan")):
            with self.assertRaisesRegex(TypeError, message):
                self.audit({first: 1}, {second: 1})

        class Series:  # of pandas, whose index may repeat
            def items(self):
                return [("a", 0.5), ("a", 0.5)]
        with self.assertRaisesRegex(TypeError, "the label 'a' is there twice"):
            self.audit(Series(), Series())
        for outcomes, drawn, message in (("labels", {1, 2}, "cannot be a key"), ("mixed", [{1: 2}], "strings for keys"), ("mixed", [b"a"], "not one of strings, numbers")):
            with self.assertRaisesRegex(TypeError, message):
                optratio.audit(sample=lambda *_, x=drawn: x, n=2, k=1, eps=1, outcomes=outcomes, budget=1000)

    def test_error_texts(self):
        def f(*_):
            raise ValueError("\udc80")
        self.assertIn("ValueError: \\\\udc80", str(optratio.audit(pmf=f, eps=1, n=2, k=1).findings[0]))


if __name__ == "__main__":
    unittest.main()
