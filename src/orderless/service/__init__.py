"""The HTTP service: a tagger behind limits, and the page that shows it.

A request's way: `protocol` (sockets, slow clients) -> `guard` (token, host, headers) -> `routes` -> `uploads` (body,
within limits) -> `batching` (queue, one thread with the model) -> `schema` (what is answered).
"""
