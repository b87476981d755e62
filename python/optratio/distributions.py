"""Objects of other libraries as mechanisms: whatever has the methods of one of these kinds.

    randomise()       a mechanism of diffprivlib; of its input, where that is a parameter without a default
    invoke(input)     a Measurement of OpenDP, which has map too
    rvs(size=…)       a distribution of SciPy, of numbers; its probabilities where it has pmf and support too

None of these libraries is needed: only methods are looked at.
"""
from __future__ import annotations

import inspect
import math
from collections import Counter
from typing import Any, Callable, List, Optional

from .program import AnswerError, brief

Draws = Callable[[Any, int], List[Any]]


def drawer(x: Any) -> Optional[Draws]:
    """Returns a function (input, samples) that draws so many outcomes from such an object, and None where x is no such object."""
    if inspect.isclass(x):
        return None
    if hasattr(x, "rvs"):
        def rvs(asked: Any, samples: int) -> list[Any]:
            drawn = x.rvs(size=samples)
            if drawn.shape != (samples,):
                raise AnswerError(f"rvs of {brief(x)} drew an array of shape {drawn.shape}, not {samples} numbers")
            return list(drawn.tolist())
        return rvs
    if hasattr(x, "invoke") and hasattr(x, "map"):
        return lambda asked, samples: [x.invoke(asked) for _ in range(samples)]
    if hasattr(x, "randomise"):
        # Mechanisms that have their scores from the constructor refuse any argument but None.
        parameters = inspect.signature(x.randomise).parameters.values()
        takes = any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
        return lambda asked, samples: [x.randomise(asked) if takes else x.randomise() for _ in range(samples)]
    return None


def probabilities(x: Any) -> Optional[dict[Any, float]]:
    """Returns the outcomes of a discrete distribution with their probabilities, and None where x is none."""
    if inspect.isclass(x) or not (hasattr(x, "pmf") and hasattr(x, "support")):
        return None
    if hasattr(x, "xk"):  # rv_discrete(values=(xk, pk)), of any numbers
        stated: dict[Any, float] = Counter()  # type: ignore[assignment]
        for outcome, p in zip(x.xk.tolist(), x.pk.tolist()):
            stated[outcome] += p
        return stated
    if hasattr(getattr(x, "dist", None), "xk"):
        raise AnswerError("pmf returned a frozen rv_discrete(values=…); return it as it is, without the call that freezes it")
    low, high = map(float, x.support())
    if not (low.is_integer() and 0 <= high - low < 1e6):
        raise AnswerError(f"pmf returned a distribution on {low} to {high}; its support must be at most a million integers. Give it as sample")
    outcomes = range(int(low), int(high) + 1)
    stated = dict(zip(outcomes, map(float, x.pmf(list(outcomes)))))
    if not math.isclose(math.fsum(stated.values()), 1, abs_tol=1e-6):
        raise AnswerError(f"pmf returned a distribution whose probabilities on the integers from {low} to {high} do not add up to 1")
    return stated
