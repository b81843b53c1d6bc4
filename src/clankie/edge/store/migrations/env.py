"""Alembic's environment. The connection and its transaction are the caller's (clankie.runtime.migrations)."""

from alembic import context

context.configure(**context.config.attributes["environment"])
context.run_migrations()
