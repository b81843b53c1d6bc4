"""The store's cursors, with the channels they are of: direct conversations are found by nothing else.

Discord lists a server's channels with each session, and a bot's direct ones never. Owns that one question.
"""

from collections.abc import Iterable

from clankie.edge.cursors import Cursors


class KnownCursors(Cursors):
    """Cursors that can be listed (`ports.Cursors`)."""

    def known(self) -> Iterable[str]:
        """Every channel that has one."""
        return list(self._seen)
