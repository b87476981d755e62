"""Answers the audit's questions with a function of this process.

The program optratio starts a command and talks to it by lines on its standard streams. Here that command is a relay, a few lines of
Python that pass these lines on to a Unix socket of this process, where the function is called.
"""
from __future__ import annotations

import contextlib
import inspect
import json
import operator
import os
import selectors
import shlex
import socket
import sys
import tempfile
import threading
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, Callable, Dict

from .distributions import drawer, probabilities
from .names import Inputs, Labels, as_text
from .program import AnswerError, Error, UsageError, brief

Answering = Callable[[Dict[str, Any]], Dict[str, Any]]

# Two threads, so that a question can go in while an answer comes out.
_RELAY = """
import os, socket, sys, threading
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
def questions():
    while True:
        data = os.read(0, 65536)
        if not data:
            break
        s.sendall(data)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=questions, daemon=True).start()
while True:
    data = s.recv(65536)
    if not data:
        break
    while data:
        data = data[os.write(1, data):]
os._exit(0)
"""


def _number(text: str | float) -> float:
    """A score of a question."""
    return float(Fraction(text)) if isinstance(text, str) else float(text)


def _probability(p: Any) -> str | float:
    """A probability of an answer: fractions and decimals are exact, floats stand for what is near them."""
    if isinstance(p, str):
        return p
    if isinstance(p, Rational):
        return f"{p.numerator}/{p.denominator}"
    if isinstance(p, Decimal):
        return str(p)
    return float(p)


_MEANINGS = {"epsilon": "epsilon", "eps": "epsilon", "sensitivity": "sensitivity", "samples": "samples"}


def _by_name(f: Callable[..., Any]) -> Callable[..., Any]:
    """f for calls (asked, epsilon, sensitivity): a parameter with one of these names gets what it says, and the others, but for those that have a
    default, get what is left, in this order."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # a function without a signature
        return f
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return f
    places = {p.name: _MEANINGS[p.name] for p in parameters if p.name in _MEANINGS}
    left = [x for x in ("asked", "epsilon", "sensitivity") if x not in places.values()]
    for p in parameters:
        if p.name not in places and left and p.kind is not p.VAR_KEYWORD and (p.default is p.empty or left[0] == "asked"):
            places[p.name] = left.pop(0)
    unknown = [p.name for p in parameters if p.name not in places and p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if unknown or "asked" in left:
        raise UsageError(f"{getattr(f, '__qualname__', repr(f))}{inspect.signature(f)}: it is called with (scores, epsilon, sensitivity), or with the first of "
                         "them; write lambda scores, epsilon, sensitivity: … around it")
    first = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in places]

    def call(asked: Any, epsilon: float, sensitivity: float, samples: int | None = None) -> Any:
        values = {"asked": asked, "epsilon": epsilon, "sensitivity": sensitivity, "samples": samples}
        return f(*(values[places[name]] for name in first), **{name: values[x] for name, x in places.items() if name not in first})
    return call


def answer_pmf(f: Callable[..., Any], outcomes: str | None, labels: Labels) -> Answering:
    """Makes of a function that returns probabilities, or a distribution that has them, one that answers a question. labels has the labels of the audit."""
    call = _by_name(f)

    def answer(q: dict[str, Any]) -> dict[str, Any]:
        p = call(_asked(q), q["epsilon"], q["sensitivity"])
        stated = probabilities(p)
        if stated is not None:
            p = stated if outcomes == "labels" else _places(stated, q)
        if (outcomes == "labels") != hasattr(p, "items"):
            raise AnswerError(f"pmf returned {brief(p)}; " + ("with outcomes='labels' it returns a dict of probabilities" if outcomes == "labels" else
                                                           "for a dict of labels give outcomes='labels'"))
        try:
            if hasattr(p, "items"):  # a dict of labels
                return {"pmf": labels.by_text((x, _probability(y)) for x, y in p.items())}
            return {"pmf": [_probability(x) for x in p]}
        except AnswerError:
            raise
        except TypeError as e:
            raise AnswerError(f"pmf returned {brief(p)}, which is not a list of probabilities (floats, fractions, or strings p/q)") from e
    return answer


def _asked(q: dict[str, Any]) -> Any:
    """What a question is about: scores, or any input."""
    return q["scores"] if "scores" in q else q["input"]


def _places(counts: dict[Any, Any], q: dict[str, Any]) -> list[Any]:
    """Counts or probabilities of candidates, as a list."""
    n = len(q["scores"]) if "scores" in q else max(counts) + 1
    out = [0] * n
    for r, times in counts.items():
        try:
            r = operator.index(r)
        except TypeError as e:
            raise AnswerError(f"{brief(r)} was drawn, which is not the place of a candidate; give outcomes='labels' or outcomes='real'") from e
        if not 0 <= r < n:
            raise ValueError(f"drew candidate {r} of {n}")
        out[r] += times
    return out


def answer_samples(f: Any, outcomes: str, labels: Labels) -> Answering:
    """Makes of a function that draws one that answers a question.

    Where f has a parameter named samples it is called once, draws that many and returns a list of outcomes or a dict of counts;
    otherwise it is called for each sample. Where it returns an object that draws, it is called once, and all are drawn from that object.
    f may be such an object itself.
    """
    draws, many = drawer(f), False
    if draws is None:
        with contextlib.suppress(TypeError, ValueError):  # a function without a signature
            many = "samples" in inspect.signature(f).parameters
    call = f if draws is not None else _by_name(f)

    def answer(q: dict[str, Any]) -> dict[str, Any]:
        arguments = (_asked(q), q["epsilon"], q["sensitivity"])
        if draws is not None:
            drawn = draws(arguments[0], q["samples"])
        else:
            drawn = call(*arguments, samples=q["samples"]) if many else call(*arguments)
            returned = drawer(drawn)
            if returned is not None:
                drawn = returned(arguments[0], q["samples"])
            elif not many:
                drawn = [drawn, *(call(*arguments) for _ in range(q["samples"] - 1))]
        if outcomes == "real":
            return {"values": [float(x) for x in drawn]}
        if outcomes == "mixed":
            return {"values": [labels.mixed(x) for x in drawn]}
        if isinstance(drawn, dict):
            counts = drawn
            if outcomes == "labels":
                return {"counts": labels.by_text((x, operator.index(times)) for x, times in drawn.items())}
        else:
            try:
                counts = Counter(map(labels.text, drawn) if outcomes == "labels" else drawn)
            except AnswerError:
                raise
            except TypeError as e:  # no list, or an outcome that is one
                raise AnswerError(f"sample returned {brief(drawn)}; it returns one outcome, or with a parameter named samples a list or "
                                  "a dict of counts; outcomes that are lists need outcomes='labels'") from e
        if outcomes == "labels":
            return {"counts": counts}
        return {"counts": _places({r: operator.index(times) for r, times in counts.items()}, q)}
    return answer


class Server:
    """A socket on which questions are answered, one after the other, in the thread that calls serve, or of each connection in one of its own."""

    def __init__(self, answer: Answering, asked: Callable[[int, int], None], threads: bool, inputs: Inputs) -> None:
        if not hasattr(socket, "AF_UNIX"):
            raise Error("audits of Python functions need Unix sockets, which this system does not have; "
                        "write the function as a program for optratio audit --pmf-exec")
        self.answer, self.asked, self.threads, self.inputs = answer, asked, threads, inputs
        self.lock = threading.Lock()
        self.questions = self.samples = 0
        self.error: Exception | None = None  # the first exception of the function
        self.fatal: BaseException | None = None  # such as an AnswerError, which ends the audit
        self.folder = tempfile.TemporaryDirectory(prefix="optratio")
        path = os.path.join(self.folder.name, "s")
        if len(os.fsencode(path)) > 100:  # the longest name of a socket is 103 bytes on macOS
            self.folder.cleanup()
            self.folder = tempfile.TemporaryDirectory(prefix="optratio", dir="/tmp")
            path = os.path.join(self.folder.name, "s")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(8)
        self.command = "exec " + shlex.join([sys.executable, "-S", "-E", "-c", _RELAY, path])
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, (self.listener, bytearray()))
        self.open = {self.listener}

    def close(self) -> None:
        """Closes the socket and all connections."""
        for connection in self.open:
            connection.close()
        self.selector.close()
        self.folder.cleanup()

    def serve(self, going: Callable[[], bool]) -> None:
        """Answers questions as long as going() is true."""
        while going() and self.fatal is None:
            for key, _ in self.selector.select(0.05):
                connection, buffer = key.data
                if connection is self.listener:
                    self._accept()
                elif not self._read(connection, buffer):
                    self.selector.unregister(connection)
                    self.open.discard(connection)
                    connection.close()

    def _accept(self) -> None:
        connection, _ = self.listener.accept()
        if self.threads:
            threading.Thread(target=self._converse, args=(connection,), daemon=True).start()
            return
        self.selector.register(connection, selectors.EVENT_READ, (connection, bytearray()))
        self.open.add(connection)

    def _converse(self, connection: socket.socket) -> None:
        """Answers one connection's questions to its end."""
        buffer = bytearray()
        with connection:
            try:
                while self.fatal is None and self._read(connection, buffer):
                    pass
            except BaseException as e:  # serve ends, and the audit raises it
                self.fatal = e

    def _read(self, connection: socket.socket, buffer: bytearray) -> bool:
        """Answers the questions that came. Returns whether there may be more."""
        try:
            data = connection.recv(65536)
            buffer += data
            while b"\n" in buffer and self.fatal is None:
                line, _, rest = bytes(buffer).partition(b"\n")
                buffer[:] = rest
                connection.sendall(self._reply(line))
        except (BrokenPipeError, ConnectionResetError):
            return False
        return bool(data)

    def _reply(self, line: bytes) -> bytes:
        q = json.loads(line)
        if "scores" in q:
            q["scores"] = [_number(s) for s in q["scores"]]
        else:
            q["input"] = self.inputs.asked(q["input"])
        q["epsilon"], q["sensitivity"] = float(q["epsilon"]), float(q["sensitivity"])
        with self.lock:
            self.questions += 1
            self.samples += q.get("samples", 0)
            self.asked(self.questions, self.samples)
        try:
            answer = self.answer(q)
        except AnswerError as e:
            self.fatal = e
            answer = {"error": as_text(str(e))}
        except Exception as e:  # an error of the mechanism is a finding, not an end; KeyboardInterrupt is none
            self.error = self.error or e
            answer = {"error": as_text(f"{type(e).__name__}: {e}")}
        return json.dumps(answer).encode() + b"\n"
