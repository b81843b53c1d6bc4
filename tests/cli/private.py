"""`clankie up` as a process, and `clankie say` beside it. It tests nothing, and signals only what it started."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

CLANKIE = str(Path(sys.executable).with_name("clankie"))
START_SECONDS = 60.0
"""For a start on a machine that does much else; it takes about a second."""
PORTS = ("FLEET_PORT", "FLEET_LOCAL_PORT", "GATEWAY_PORT", "GATEWAY_LOCAL_PORT", "BODY_PORT")


def free_port() -> int:
    """A port of loopback that is free, and that the system gives to no outgoing connection."""
    while True:
        port = random.SystemRandom().randrange(15_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def environ(home: Path, **settings: str) -> dict[str, str]:
    """A person's environment, with a home and ports of its own."""
    ports = {f"CLANKIE_{name}": str(free_port()) for name in PORTS}
    ours = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "CLANKIE_HOME": str(home),
        "CLANKIE_CAPTAIN_OPTIONS_SCRIPT": "messages",
        "CLANKIE_CAPTAIN_OPTIONS_JOURNAL": str(home / "journal"),
    }
    return ours | ports | settings


def clankie(environ: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Another command, to its end."""
    return subprocess.run(
        [CLANKIE, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environ,
        timeout=START_SECONDS,
        check=False,
    )


class Up:
    """`clankie up`. `start` returns once it said that it is ready."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.environ = environ
        self.lines: list[str] = []
        self._heard = threading.Condition()
        self._process: subprocess.Popen[str] | None = None
        self._reading: threading.Thread | None = None

    def start(self, *options: str) -> None:
        self._process = subprocess.Popen(
            [CLANKIE, "up", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environ,
        )
        self._reading = threading.Thread(target=self._read, args=(self._process,))
        self._reading.start()
        self.until("Ready.")

    def until(self, text: str) -> None:
        """Wait for a line with the text."""
        with self._heard:
            there = self._heard.wait_for(lambda: self._said(text) or self._ended(), START_SECONDS)
        assert there, f"not said in time: {text}: {self.lines}"
        assert self._said(text), f"it ended without {text}: {self.lines}"

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Signal it; its exit code."""
        assert self._process is not None
        assert self._reading is not None
        self._process.send_signal(number)
        try:
            return self._process.wait(START_SECONDS)
        finally:
            self._process.kill()
            self._reading.join()

    def until_a_turn_runs(self) -> None:
        """Wait until the captain wrote down that it began one."""
        journal = Path(self.environ["CLANKIE_HOME"]) / "journal"
        deadline = time.monotonic() + START_SECONDS
        while not journal.read_bytes().startswith(b"start "):
            assert time.monotonic() < deadline, "no turn began"
            time.sleep(0.01)  # a file announces nothing

    def end(self) -> None:
        """Kill it if it still runs."""
        if self._process is not None and self._reading is not None:
            self._process.kill()
            self._process.wait()
            self._reading.join()

    def json_lines(self) -> list[str]:
        """Its log, but for what it says to people."""
        return [line for line in self.lines if line.startswith("{")]

    def _said(self, text: str) -> bool:
        return any(text in line for line in self.lines)

    def _ended(self) -> bool:
        return self._reading is not None and not self._reading.is_alive()

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                with self._heard:
                    self.lines.append(line)
                    self._heard.notify_all()
        with self._heard:
            self._heard.notify_all()
