"""A command on a terminal of its own: what a person would type and see."""

import codecs
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

PROGRAM = "import os; os.login_tty(0); from clankie.cli.main import run; run({arguments!r})"
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """Types, and reads what appears."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self._process = process
        self._master = master
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, text: str, seconds: float = 30) -> str:
        """What appears up to and with the text. Fails when it does not."""
        return self._read(seconds, text)

    def end(self, seconds: float = 30) -> int:
        """Everything to the end, and the exit code."""
        self._read(seconds, None)
        return self._process.wait(seconds)

    def interrupt(self) -> None:
        """As the kernel does for Ctrl-C, before the program reads its terminal."""
        self._process.send_signal(signal.SIGINT)

    def send_signal(self, number: signal.Signals) -> None:
        """As a supervisor, or a terminal that is closed, would."""
        self._process.send_signal(number)

    def _read(self, seconds: float, text: str | None) -> str:
        start, deadline = len(self.shown), time.monotonic() + seconds
        while text is None or text not in self.shown[start:]:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._master], [], [], left)[0]:
                raise AssertionError(f"{text!r} did not appear in:\n{self.shown}")
            try:
                part = os.read(self._master, 65_536)
            except OSError:  # Linux says EIO when the other end is closed
                part = b""
            if not part:
                if text is None:
                    break
                raise AssertionError(f"it ended without {text!r}:\n{self.shown}")
            self.shown += self._decoder.decode(part)
        return self.shown[start:]


@contextmanager
def terminal(
    arguments: Sequence[str], environ: Mapping[str, str], columns: int = 100
) -> Iterator[Terminal]:
    """Runs `clankie` with the arguments on a pseudo-terminal."""
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (50, columns))
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(arguments=list(arguments))],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=dict(environ),
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)
