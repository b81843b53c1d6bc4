"""Reading a doctor's report, and seeing that it touched nothing."""

from pathlib import Path
from typing import NamedTuple

from clankie.body.doctor.findings import Finding, Level


class Report(NamedTuple):
    """The findings of one examination."""

    findings: list[Finding]

    def at(self, level: Level) -> list[Finding]:
        return [finding for finding in self.findings if finding.level is level]

    def only_failure(self) -> Finding:
        """The one line that failed; there must be one."""
        [finding] = self.at(Level.FAIL)
        assert finding.next_step
        return finding

    def only_warning(self) -> Finding:
        """The one line that warned; nothing may have failed."""
        assert self.at(Level.FAIL) == []
        [finding] = self.at(Level.WARN)
        assert finding.next_step
        return finding

    def texts(self, subject: str) -> list[str]:
        return [finding.text for finding in self.findings if finding.subject == subject]


def snapshot(home: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every path under the home with its mode, time of change and content."""
    found = {}
    for path in sorted(home.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found
