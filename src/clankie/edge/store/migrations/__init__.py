"""The edge's schema, step by step. A released step is never edited; a new one follows it."""

from pathlib import Path

from clankie.runtime.migrations import Schema

SCHEMA = Schema(
    name="an edge's store",
    scripts=Path(__file__).parent,
    version_table="edge_schema",
    head="0001",
)
