"""Alembic's scripts: one module a revision in ``versions``; ``database.migrate`` runs them."""
