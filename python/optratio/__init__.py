"""Audits of differentially private selection mechanisms that are Python functions.

    import optratio
    report = optratio.audit(pmf=f, eps=1)

decides whether f(scores, epsilon, sensitivity), which returns a probability for each score, is ε-DP on a domain of score vectors,
and shows the smallest witness where it is not. audit(sample=f, eps=1) tests a function that draws. ratio, verify, recommend and pmf ask about
the mechanisms of the program. The work is done by the program optratio; this package only calls f for it.
"""
from .auditing import audit
from .program import AnswerError, Error, ProgramFailed, ProgramNotFound, UsageError, find_program
from .questions import Answer, pmf, ratio, recommend, verify
from .report import Finding, Number, Property, Report, Witness
from .testing import assert_dp

__version__ = "0.1.0"
__all__ = ["Answer", "AnswerError", "Error", "Finding", "Number", "ProgramFailed", "ProgramNotFound", "Property", "Report", "UsageError", "Witness",
           "assert_dp", "audit", "find_program", "pmf", "ratio", "recommend", "verify"]
