"""Run by Alembic: migrations go through the connection that ``database.migrate`` hands over."""

from alembic import context

from forensix.service.data.database import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,
)
context.run_migrations()
