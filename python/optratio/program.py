"""Where the program optratio is."""
import html
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


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


def pictures(document) -> str:
    """The page that `optratio report` draws of a document, in a frame for notebooks, and nothing where it draws none.

    The frame runs no scripts. Without allow-same-origin Chromium left it blank.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "document.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(document, f)
        try:
            drawn = subprocess.run([find_program(), "report", "--from", path, "-o", path + ".html"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        if drawn.returncode != 0:
            return ""
        with open(path + ".html", encoding="utf-8") as f:
            page = html.escape(f.read())
    return f'<details open><summary>report</summary><iframe sandbox="allow-same-origin" srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe></details>'


def main():
    """Runs the program: the command that the wheel installs."""
    program = find_program()
    if os.name == "nt":  # which has no exec
        sys.exit(subprocess.run([program, *sys.argv[1:]]).returncode)
    os.execv(program, [program, *sys.argv[1:]])
