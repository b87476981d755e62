"""An assertion for test suites.

    from optratio.testing import assert_dp

    def test_privacy():
        assert_dp(pmf=my_mechanism, eps=1, n=3)
"""
from __future__ import annotations

import difflib
import inspect
from typing import Any

from .auditing import audit
from .program import UsageError
from .report import Report, line

__all__ = ["assert_dp"]

_ARGUMENTS = list(inspect.signature(audit).parameters)


def assert_dp(**arguments: Any) -> Report:
    """Asserts that a function is ε-DP, or with delta (ε,δ)-DP: audit with these arguments finds nothing. Returns the report.

    A pmf must be proved on its domain; of a sample nothing must be found. Other properties are asserted too where properties names them.
    The message of the AssertionError has the smallest witness.
    """
    __tracebackhide__ = True  # pytest shows the test, not this function
    for name in arguments:
        if name not in _ARGUMENTS:
            meant = difflib.get_close_matches("eps" if name == "epsilon" else name, _ARGUMENTS, 1)
            raise UsageError(f"{name}: no such argument" + "".join(f"; did you mean {m}?" for m in meant))
    delta = arguments.get("delta")
    if "pmf" in arguments:
        arguments.setdefault("properties", ["dp" if delta is None else "approximate-dp"])
    arguments.setdefault("progress", False)
    report = audit(**arguments)
    if not report.ok:
        failed = report.violated or [p for p in report.properties.values() if p.verdict == "undecided"]
        claim = f"{report.claimed_eps}-DP" if delta is None else f"({report.claimed_eps}, {delta})-DP"
        lines = [f"{report.mechanism} is not proved to be {claim}" if not report.violated
                 else f"{report.mechanism} fails its audit at ε = {report.claimed_eps}"]
        raise AssertionError("\n".join([*map(line, lines), *map(str, failed), report.conclusion()])) from report.exception
    return report
