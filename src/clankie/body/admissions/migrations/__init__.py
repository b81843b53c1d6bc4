"""The store's schema, step by step. A released step is never edited; a new one follows it."""

from pathlib import Path

from clankie.runtime.migrations import Schema

SCHEMA = Schema(
    name="an admission store",
    scripts=Path(__file__).parent,
    version_table="body_schema",
    head="0002",
)
