"""Where the program optratio is."""
import os
import pathlib
import shutil
import subprocess
import sys


class ProgramNotFound(FileNotFoundError):
    """There is no program optratio to do the work."""


class UsageError(ValueError):
    """The program refused its arguments; the message says which and what to give instead."""


def find_program() -> str:
    """Returns the path of the program: what the environment variable OPTRATIO names, else the one in this package, else one on PATH."""
    named = os.environ.get("OPTRATIO")
    if named:
        found = shutil.which(named)
        if not found:
            raise ProgramNotFound(f"OPTRATIO={named}: there is no such program; name the optratio that `make build` leaves in bin/")
        return os.path.abspath(found)
    packaged = pathlib.Path(__file__).resolve().parent / "bin" / ("optratio.exe" if os.name == "nt" else "optratio")
    if packaged.is_file():
        return str(packaged)
    found = shutil.which("optratio")
    if not found:
        raise ProgramNotFound("the program optratio is not in this package and not on PATH; install the wheel that `make wheel` writes, "
                              "or set the environment variable OPTRATIO to the program that `make build` leaves in bin/")
    return found


def main():
    """Runs the program: the command that the wheel installs."""
    program = find_program()
    if os.name == "nt":  # which has no exec
        sys.exit(subprocess.run([program, *sys.argv[1:]]).returncode)
    os.execv(program, [program, *sys.argv[1:]])
