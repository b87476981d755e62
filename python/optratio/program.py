"""Where the program optratio is, and how it is run."""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys


class Error(Exception):
    """Every exception of this package is one of these. What your function raises is not."""


class ProgramNotFound(Error, FileNotFoundError):
    """There is no program optratio to do the work."""


class UsageError(Error, ValueError):
    """Arguments that make no sense; the message says which and what to give instead."""


class ProgramFailed(Error, RuntimeError):
    """The program ended without an answer; the message is what it said."""


class AnswerError(Error, TypeError):
    """The function returned what audits do not understand. This ends the audit: it says nothing about the mechanism."""


def find_program() -> str:
    """Returns the path of the program: what the environment variable OPTRATIO names, else the one in this package, else one on PATH."""
    named = os.environ.get("OPTRATIO")
    if named:
        found = shutil.which(named)
        if not found:
            raise ProgramNotFound(f"OPTRATIO={named}: this program does not exist; name the optratio that `make build` leaves in bin/")
        return os.path.abspath(found)
    packaged = pathlib.Path(__file__).resolve().parent / "bin" / "optratio"
    if packaged.is_file():
        return str(packaged)
    found = shutil.which("optratio")
    if not found:
        raise ProgramNotFound("the program optratio is not in this package and not on PATH; install the wheel that `make wheel` writes, "
                              "or set the environment variable OPTRATIO to the program that `make build` leaves in bin/")
    return found


# Arguments of functions whose flags have other names.
_NAMES = {"property": "properties", "range": "bounded_range", "pmf-precision": "precision", "pmf-exec": "pmf", "sample-exec": "sample", "against-exec": "against"}


def problem(code: int, stderr: str) -> Error:
    """The exception for a run that gave no answer. What the program calls by its flag, it calls by the name of the argument."""
    message = stderr.strip().removeprefix("optratio: ") or f"the program ended with code {code}"
    if code != 2:
        return ProgramFailed(message)
    flags = re.compile(r"(?<![^ (])(?:--([a-z]+(?:-[a-z]+)*)|-([nkT]))(?![^ :,;)])")
    return UsageError(flags.sub(lambda m: _NAMES.get(m[1], m[1] or m[2]).replace("-", "_"), message))


def brief(x: object) -> str:
    """The repr of an object, cut where it is long."""
    text = repr(x)
    return text if len(text) <= 80 else text[:79] + "…"


def main() -> None:
    """Runs the program: the command optratio that the wheel installs, and python -m optratio."""
    try:
        program = find_program()
    except ProgramNotFound as e:
        sys.exit(f"optratio: {e}")
    if os.name == "nt":  # which has no exec
        sys.exit(subprocess.run([program, *sys.argv[1:]]).returncode)
    os.execv(program, [program, *sys.argv[1:]])
