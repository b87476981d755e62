"""Audits of differentially private selection mechanisms that are Python functions.

    import optratio
    report = optratio.audit(pmf=f, eps=1)

decides whether f(scores, epsilon, sensitivity), which returns a probability for each score, is ε-DP on a domain of score vectors,
and shows the smallest witness where it is not. audit(sample=f, eps=1) tests a function that draws. The work is done by the program
optratio; this package only calls f for it.
"""
from .auditing import audit
from .program import ProgramNotFound, UsageError, find_program
from .report import Finding, Number, Property, Report, Witness

__all__ = ["audit", "find_program", "Finding", "Number", "ProgramNotFound", "Property", "Report", "UsageError", "Witness"]
