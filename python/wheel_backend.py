"""Builds the wheel: the package, and the program optratio for this machine. It needs Go and nothing from the network. Names and entry points are
those of pyproject.toml.

pip calls build_wheel (PEP 517); `python3 wheel_backend.py FOLDER` does the same without pip, and with SYSTEM PROGRAM behind it, such as
linux-arm64 dist/optratio, it packs a program that is there already.
"""
import base64
import configparser
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = configparser.ConfigParser()  # which reads such simple TOML; tomllib came with Python 3.11
PROJECT.read(HERE / "pyproject.toml", encoding="utf-8")
NAME, VERSION = (json.loads(PROJECT["project"][key]) for key in ("name", "version"))

# The platforms of releases, as Go names them, and their tags. The programs need no C library. An audit asks its function over a Unix socket,
# which Windows has not: there is no wheel for it.
PLATFORMS = {
    "linux-amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64",
    "darwin-amd64": "macosx_12_0_x86_64",
    "darwin-arm64": "macosx_12_0_arm64",
}


def metadata(platform):
    """The files of the folder .dist-info, but for RECORD."""
    project = {key: json.loads(PROJECT["project"][key]) for key in ("description", "requires-python", "classifiers")}
    points = "".join(f"[{group}]\n" + "".join(f"{name} = {json.loads(place)}\n" for name, place in PROJECT[section].items()) + "\n"
                     for group, section in (("console_scripts", "project.scripts"), ("pytest11", "project.entry-points.pytest11")))
    return {
        "METADATA": f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nRequires-Python: {project['requires-python']}\nLicense: Apache-2.0\n"
                    f"Summary: {project['description']}\n" + "".join(f"Classifier: {c}\n" for c in project["classifiers"]),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: optratio\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{t}\n" for t in platform.split(".")),
        "entry_points.txt": points,
    }


def go_build(path):
    """Builds the program without cgo, so that it needs no library of the machine that runs it. On a terminal it shows how many packages are compiled."""
    command = [os.environ.get("GO", "go"), "build", "-v", "-trimpath", "-o", str(path), "./cmd/optratio"]
    compiled, shown = 0, sys.stderr.isatty()
    with subprocess.Popen(command, cwd=HERE.parent, env={**os.environ, "CGO_ENABLED": "0"}, stderr=subprocess.PIPE, text=True) as build:
        for line in build.stderr:
            if re.fullmatch(r"[\w./~-]+\n", line):  # -v prints each package that is compiled
                compiled += 1
                if shown:
                    print(f"\r\033[Kbuilding the program: {compiled} packages, {line.strip()}", end="", file=sys.stderr, flush=True)
            else:
                print(line, end="", file=sys.stderr)
    if shown and compiled:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    if build.returncode != 0:
        raise subprocess.CalledProcessError(build.returncode, command)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the program for this machine, writes the wheel into a folder and returns its name."""
    if os.name == "nt":
        raise SystemExit("optratio's Python package needs Unix sockets, which Windows has not; install it in WSL, or use the program optratio.exe, which needs no Python")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "optratio"
        go_build(program)
        return write_wheel(wheel_directory, sysconfig.get_platform().replace("-", "_").replace(".", "_"), program)


def write_wheel(wheel_directory, platform, program):
    """Writes the wheel with a program for a platform, whose tag is given, and returns its name."""
    info = f"{NAME}-{VERSION}.dist-info"
    name = f"{NAME}-{VERSION}-py3-none-{platform}.whl"
    files = {f"{NAME}/{p.name}": (p.read_bytes(), 0o644) for p in sorted((HERE / NAME).iterdir()) if p.suffix == ".py" or p.name == "py.typed"}
    files[f"{NAME}/bin/optratio"] = (pathlib.Path(program).read_bytes(), 0o755)
    files.update({f"{info}/{file}": (text.encode(), 0o644) for file, text in metadata(platform).items()})
    record = []
    for path, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(content)}\n")
    files[f"{info}/RECORD"] = ("".join(record) + f"{info}/RECORD,,\n").encode(), 0o644
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same bytes whenever it is built
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
            wheel.writestr(entry, content)
    return name


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    print(target / (build_wheel(target) if len(sys.argv) == 2 else write_wheel(target, PLATFORMS[sys.argv[2]], sys.argv[3])))
