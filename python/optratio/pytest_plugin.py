"""The plugin of pytest, which the wheel registers.

    @pytest.mark.dp(eps=1, n=3, pmf=my_mechanism)
    def test_privacy(): ...

asserts what optratio.testing.assert_dp asserts of these arguments, after the body of the test. In a test that takes the fixture
assert_dp, the arguments of the mark are those of the fixture's calls where they are left out.
"""
from __future__ import annotations

from typing import Any, Callable

import pytest

from . import testing
from .report import Report


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "dp(eps, pmf=…, sample=…, …): the mechanism is private; the arguments are those of optratio.audit")


def _marked(node: Any) -> dict[str, Any]:
    """The arguments of a test's marks; those nearest to the test count."""
    arguments: dict[str, Any] = {}
    for mark in node.iter_markers("dp"):
        arguments = {**mark.kwargs, **arguments}
    return arguments


@pytest.fixture
def assert_dp(request: Any) -> Callable[..., Report]:
    """optratio.testing.assert_dp with the arguments of the test's mark dp as defaults."""
    def check(**arguments: Any) -> Report:
        __tracebackhide__ = True
        return testing.assert_dp(**{**_marked(request.node), **arguments})
    return check


@pytest.hookimpl(trylast=True)  # type: ignore[misc]  # after the body of the test, and only where that has not failed
def pytest_runtest_call(item: Any) -> None:
    arguments = _marked(item)
    if any(item.iter_markers("dp")) and "assert_dp" not in getattr(item, "fixturenames", ()):
        if not {"pmf", "sample"} & arguments.keys():
            pytest.fail("the mark dp audits nothing here: give it pmf=… or sample=…, or let the test take the fixture assert_dp"
                        f" (its arguments: {', '.join(arguments) or 'none'})", pytrace=False)
        witness = ""
        try:
            testing.assert_dp(**arguments)
        except AssertionError as failed:
            witness = str(failed)
        if witness:  # it says all; frames of the plugin, and the exception that it comes from, say nothing more
            pytest.fail(witness, pytrace=False)
