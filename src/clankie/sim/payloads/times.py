"""Times as Discord writes them. Must not know whose."""

from datetime import UTC, datetime


def iso(ms: int) -> str:
    """Wall-clock milliseconds as `2026-01-02T03:04:05.678000+00:00`."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="microseconds")


def iso_or_none(ms: int | None) -> str | None:
    """The same, of what may not have happened."""
    return None if ms is None else iso(ms)
