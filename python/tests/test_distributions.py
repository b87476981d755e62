"""Objects of SciPy, diffprivlib and OpenDP under audit: each audit takes stand-ins with the methods of the library, and the library's own objects
where it is installed."""
import importlib
import math
import os
import pathlib
import random
import sys
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("OPTRATIO", str(HERE.parent.parent / "bin" / "optratio"))

import optratio  # noqa: E402
from optratio.testing import assert_dp  # noqa: E402

SAMPLED = {"eps": 1, "n": 2, "k": 1, "budget": 20_000}


def em(scores, epsilon, factor=2):
    """The exponential mechanism at sensitivity 1; without the factor 2 its privacy is 2ε."""
    w = [math.exp(epsilon * (q - max(scores)) / factor) for q in scores]
    return [x / sum(w) for x in w]


class Array(list):
    """What audits use of a NumPy array."""
    shape = property(lambda self: (len(self),))

    def tolist(self):
        return list(self)


class Values:
    """scipy.stats.rv_discrete(values=(xk, pk)), or with support a frozen distribution on integers."""

    rng = random.Random(1)  # of all: one for each would draw the same again and again, as an audit notices

    def __init__(self, pk, xk=None, support=None):
        self.p, self.low = list(pk), 0
        if support is None:
            self.pk, self.xk = Array(pk), Array(range(len(pk)) if xk is None else xk)
        else:
            self.low, self.high = support
        self.support = lambda: support or (min(self.xk), max(self.xk))

    def pmf(self, outcomes):
        return [self.p[x - self.low] for x in outcomes]

    def rvs(self, size):
        return Array(self.rng.choices(getattr(self, "xk", range(self.low, self.low + len(self.p))), self.p, k=size))


class Randomises:
    """diffprivlib's Exponential: the scores are the constructor's, and randomise refuses any value but None."""

    def __init__(self, *, epsilon, sensitivity, utility, rng=random.Random(2)):
        self.p, self.rng = em(utility, epsilon / sensitivity), rng

    def randomise(self, value=None):
        if value is not None:
            raise ValueError("the value must be None")
        return self.rng.choices(range(len(self.p)), self.p)[0]


class Noise:
    """diffprivlib's Laplace: randomise takes the value."""

    def __init__(self, *, epsilon, sensitivity, rng=random.Random(3)):
        self.scale, self.rng = sensitivity / epsilon, rng

    def randomise(self, value):
        return value + self.rng.choice((-1, 1)) * self.rng.expovariate(1 / self.scale)


class Measurement:
    """OpenDP's Measurement, here Laplace noise or noisy max: called with its argument alone."""

    def __init__(self, function):
        self.function = function

    def __call__(self, arg):
        return self.function(arg)

    invoke = __call__

    def map(self, d_in):
        return d_in

    def __repr__(self):
        return "Measurement(\n    input_metric = AbsoluteDistance\n)"


def noisy_max(scale, rng=random.Random(4)):
    return Measurement(lambda scores: max(range(len(scores)), key=lambda r: scores[r] + scale * rng.expovariate(1)))


class Kinds:
    """What all of a library's objects show; a subclass names them: exponential and laplace of (ε, scores) and ε, or stated(p)."""

    def test_selection(self):
        self.assertTrue(optratio.audit(sample=lambda scores, epsilon, _: self.exponential(epsilon, scores), **SAMPLED).ok)
        report = optratio.audit(sample=lambda scores, epsilon, _: self.exponential(3 * epsilon, scores), until="refuted", **SAMPLED)
        self.assertEqual(report.dp.verdict, "violated", report)
        self.assertGreaterEqual(float(report.eps_lower_bound), 1)

    def test_numbers(self):
        arguments = {"inputs": [0.0, 1.0], "neighbors": [(0, 1)], "outcomes": "real", "eps": 1, "budget": 20_000}
        self.assertTrue(optratio.audit(sample=self.laplace(1), **arguments).ok)
        with self.assertRaisesRegex(AssertionError, "dp: violated"):
            assert_dp(sample=self.laplace(3), until="refuted", **arguments)


class StandInsForDiffprivlib(Kinds, unittest.TestCase):
    exponential = staticmethod(lambda epsilon, scores: Randomises(epsilon=epsilon, sensitivity=1, utility=scores))
    laplace = staticmethod(lambda epsilon: Noise(epsilon=epsilon, sensitivity=1))


class StandInsForOpenDP(Kinds, unittest.TestCase):
    exponential = staticmethod(lambda epsilon, scores: noisy_max(2 / epsilon))
    laplace = staticmethod(lambda epsilon: Measurement(Noise(epsilon=epsilon, sensitivity=1).randomise))

    def test_name(self):
        report = optratio.audit(sample=noisy_max(2), **SAMPLED)
        self.assertEqual(report.mechanism, "Measurement( input_metric = AbsoluteDistance )")


class Probabilities:
    """Audits of discrete distributions with their stated probabilities; a subclass has values, as rv_discrete(values=…) takes them, and coin, which is
    binomial."""

    def test_candidates(self):
        for factor, verdict in ((2, "proved"), (1, "violated")):
            report = optratio.audit(pmf=lambda scores, epsilon, _: self.values(range(len(scores)), em(scores, epsilon, factor)), eps=1, n=3, k=1,
                                    properties=["dp"])
            self.assertEqual(report.dp.verdict, verdict)
            self.assertAlmostEqual(float(report.tight_eps), 2 / factor, places=6)

    def test_integers_and_labels(self):
        # (1-p)² and p² at p = 1/2 and 2/3: 1/4, 1/2, 1/4 and 1/9, 4/9, 4/9; the largest ratio is 9/4
        arguments = {"inputs": [1 / 2, 2 / 3], "neighbors": [(0, 1)], "properties": ["dp"], "eps": 0.5}
        for outcomes in (None, "labels"):
            report = optratio.audit(pmf=lambda p, *_: self.coin(p), outcomes=outcomes, **arguments)
            self.assertAlmostEqual(float(report.tight_eps), math.log(9 / 4), places=6)
            self.assertEqual(report.dp.witness.candidate, 0)

    def test_any_numbers(self):
        # Mass off the integers counts: the ratio at -0.5 is 3.
        report = optratio.audit(pmf=lambda p, *_: self.values([-0.5, 0, 1], [p, 1 / 4, 3 / 4 - p]), inputs=[1 / 8, 3 / 8], neighbors=[(0, 1)],
                                outcomes="labels", properties=["dp"], eps=1)
        self.assertAlmostEqual(float(report.tight_eps), math.log(3), places=6)
        self.assertEqual(report.dp.verdict, "violated")

    def test_samples(self):
        self.assertTrue(optratio.audit(sample=lambda scores, epsilon, _: self.values([0, 1], em(scores, epsilon)), **SAMPLED).ok)
        report = optratio.audit(sample=lambda scores, epsilon, _: self.values([0, 1], em(scores, 3 * epsilon)), until="refuted", **SAMPLED)
        self.assertEqual(report.dp.verdict, "violated")

    def test_outside(self):
        report = optratio.audit(pmf=lambda *_: self.values([0, 1, 2], [1 / 2, 1 / 4, 1 / 4]), eps=1, domain=[(0, 0)], neighbors=[((0, 0), (0, 1))],
                                properties=["dp"])
        self.assertFalse(report.ok)
        self.assertIn("drew candidate 2 of 2", str(report))


class StandInsForSciPy(Probabilities, unittest.TestCase):
    values = staticmethod(lambda xk, pk: Values(pk, xk))
    coin = staticmethod(lambda p: Values([(1 - p) ** 2, 2 * p * (1 - p), p * p], support=(0, 2)))

    def test_refused(self):
        endless = Values([1], support=(0, math.inf))
        halves = Values([1 / 2, 1 / 2], support=(0.5, 1.5))
        missing = Values([1 / 2, 1 / 4], support=(0, 1))
        frozen = mock.Mock(spec=["pmf", "support", "dist"], dist=mock.Mock(spec=["xk"], xk=Array([0, 1])))
        for x, message in ((endless, "Give it as sample"), (halves, "integers"), (missing, "do not add up to 1"), (frozen, "as it is")):
            with self.assertRaisesRegex(TypeError, message):
                optratio.audit(pmf=lambda *_, x=x: x, eps=1, n=2, k=1)
        rows = mock.Mock(spec=["rvs"], rvs=lambda size: mock.Mock(shape=(size, 3)))
        with self.assertRaisesRegex(TypeError, "array of shape"):
            optratio.audit(sample=lambda *_: rows, **SAMPLED)


def package(name):
    """A package, or a reason to skip."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name.split('.')[0]} is not there") from None


class SciPy(Probabilities, Kinds, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stats = package("scipy.stats")
        package("numpy").random.seed(5)

    def values(self, xk, pk):
        return self.stats.rv_discrete(values=(list(xk), pk))

    def coin(self, p):
        return self.stats.binom(2, p)

    def exponential(self, epsilon, scores):
        return self.values(range(len(scores)), em(scores, epsilon))

    def laplace(self, epsilon):
        return lambda x, *_: self.stats.laplace(x, 1 / epsilon)

    def test_refused(self):
        several = self.stats.multivariate_normal([0, 0])
        for x, message in ((self.stats.poisson(1), "Give it as sample"), (self.values([0, 1], [1 / 2, 1 / 2])(), "as it is")):
            with self.assertRaisesRegex(TypeError, message):
                optratio.audit(pmf=lambda *_, x=x: x, eps=1, n=2, k=1)
        with self.assertRaisesRegex(TypeError, "array of shape"):
            optratio.audit(sample=lambda *_: several, **SAMPLED)


class Diffprivlib(Kinds, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mechanisms = package("diffprivlib.mechanisms")

    def exponential(self, epsilon, scores):
        return self.mechanisms.Exponential(epsilon=epsilon, sensitivity=1, utility=scores)

    def laplace(self, epsilon):
        return self.mechanisms.Laplace(epsilon=epsilon, sensitivity=1)


class OpenDP(Kinds, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dp = package("opendp.prelude")
        cls.dp.enable_features("contrib", "floating-point")

    def exponential(self, epsilon, scores):
        space = self.dp.vector_domain(self.dp.atom_domain(T=float, nan=False)), self.dp.linf_distance(T=float)
        return self.dp.m.make_noisy_max(*space, self.dp.max_divergence(), scale=2 / epsilon)

    def laplace(self, epsilon):
        return self.dp.m.make_laplace(self.dp.atom_domain(T=float, nan=False), self.dp.absolute_distance(T=float), scale=1 / epsilon)


if __name__ == "__main__":
    unittest.main()
