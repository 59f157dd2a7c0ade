"""The HTTP service: the specification, word for word, over the library.

``api`` answers requests and only ever stores and queues; ``work`` analyses and delivers; ``data`` is what both share.
Here lie settings, logs, refusals and the commands. Importing this package loads nothing: it needs the extra
``forensix[service]``.
"""
