"""What API and workers share: tables, migrations, durable queue, stored files, accounts, tokens, reports."""
