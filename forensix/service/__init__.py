"""The HTTP service: the specification, word for word, over the library.

``api`` answers requests and only ever stores and queues; ``work`` analyses and delivers; ``data`` is what both share.
Here lie settings, logs, refusals and the commands. Importing this package loads nothing: it needs the extra
``forensix[service]``. README has the commands and the settings.

A rejected request gets ``{"success": false, "error": "<a sentence>", "code": "<slug>"}``:

    400  bad_form bad_field bad_url file_or_url_missing file_and_url broken_media too_many
    401  unauthorized
    404  not_found, also for what belongs to another account
    405  method_not_allowed
    413  too_large
    415  unsupported_media unsupported_form
    429  rate_limited, with Retry-After
    500  internal
    503  busy unavailable

More than one machine: ``FORENSIX_DATABASE_URL`` and ``FORENSIX_STORAGE_URL`` are the same for every host. The API
leaves a mark in the storage, and a worker that finds none there ends with a sentence. A worker is one process with one
analysis at a time: start as many as there are cores. Told to stop, it finishes its analysis within
``FORENSIX_SHUTDOWN_S`` or gives it back. Object stores that speak S3 come with ``forensix[service,s3]`` and take keys
and address from where all clients of S3 look (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, ``AWS_ENDPOINT_URL``;
tested on moto's server). Other storage needs fsspec's package for it, and was not tried. The memory limit needs Linux.

PostgreSQL and systemd: make a role ``forensix`` and a database that it owns (``createuser --pwprompt forensix``,
``createdb --owner forensix forensix``), and give every process the same environment::

    FORENSIX_HOME=/var/lib/forensix
    FORENSIX_DATABASE_URL=postgresql://forensix:PASSWORD@127.0.0.1/forensix
    FORENSIX_STORAGE_URL=file:///var/lib/forensix/files
    FORENSIX_WORKERS=0

Then ``forensix account add NAME``, ``forensix serve`` once and ``forensix worker`` as often as wanted, as simple
services with ``KillMode=mixed``, ``TimeoutStopSec=60`` and ``Restart=always``.

A worker holds about ten connections to PostgreSQL and the API up to 34: its ``max_connections``, 100 unless set, is
enough for six workers. A resting worker takes up to a tenth of a core; with ``FORENSIX_POLL_S=0.5``
less than half of that, and tasks wait a third of a second.
"""
