"""The HTTP service: the specification, word for word, over the library.

``settings`` and ``database`` are what everything shares; ``app`` answers requests and only ever stores and queues;
``worker`` analyses and delivers. Importing this package loads nothing: it needs the extra ``forensix[service]``.
"""
