"""Turns of tasks: those that wait already come first."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column."""
    op.add_column("tasks", sa.Column("turn", sa.Integer, nullable=False, server_default="0"))
