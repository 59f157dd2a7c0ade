"""The first tables. A later change of ``database.py`` takes a revision of its own; this one stays as it is."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("webhook_secret", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text, primary_key=True),
        _account(),
        sa.Column("ends_with", sa.Text, nullable=False),
        sa.Column("issued_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_tokens_account_id", "tokens", ["account_id"])
    op.create_table(
        "tasks",
        sa.Column("id", sa.Text, primary_key=True),
        _account(),
        sa.Column("task", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("explain", sa.Boolean, nullable=False),
        sa.Column("transcribe", sa.Boolean, nullable=False),
        sa.Column("additional_info", sa.Text),
        sa.Column("url", sa.Text),
        sa.Column("upload", sa.Text),
        sa.Column("file_name", sa.Text),
        sa.Column("result", sa.Text),
        sa.Column("preview", sa.Text),
        sa.Column("error", sa.Text),
        sa.Column("error_code", sa.Text),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("started_at", sa.Double),
        sa.Column("finished_at", sa.Double),
        sa.Column("attempts", sa.Integer, nullable=False),
    )
    op.create_index("ix_tasks_account_id", "tasks", ["account_id"])
    op.create_index("ix_tasks_status_finished_at", "tasks", ["status", "finished_at"])
    op.create_index("ix_tasks_upload", "tasks", ["upload"])
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Text, primary_key=True),
        _account(),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
    )
    op.create_index("ix_webhooks_account_id_event", "webhooks", ["account_id", "event"])
    op.create_table(
        "deliveries",
        sa.Column("task_id", sa.Text, sa.ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("webhook_id", sa.Text, primary_key=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("last_status", sa.Integer),
        sa.Column("delivered_at", sa.Double),
    )
    op.create_index("ix_deliveries_webhook_id_delivered_at", "deliveries", ["webhook_id", "delivered_at"])
    op.create_table(
        "keys",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "workers",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.Column("heartbeat_at", sa.Double, nullable=False),
    )


def _account() -> sa.Column[str]:
    return sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False)
