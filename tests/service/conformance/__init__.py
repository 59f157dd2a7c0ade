"""Every operation and rule of the specification as a row with a check against a live service.

``tests/service/test_conformance.py`` runs them as tests; ``benchmarks/service_conformance.py`` prints them as a table.
"""

from tests.service.conformance import document, tasks, tokens, webhooks

ROWS = (*document.rows, *tokens.rows, *tasks.rows, *webhooks.rows)
