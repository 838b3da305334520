"""What the service counts, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

disable_created_metrics()  # type: ignore[no-untyped-call]  # a line more for every line, which no one asks for

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """A registry of its own for every app."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("orderless_requests", "Requests answered.", ["route", "status"], registry=self.registry)
        self.latency = Histogram(
            "orderless_request_seconds",
            "From a request's head to the end of its answer.",
            ["route"],
            buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
            registry=self.registry,
        )
        self.image_seconds = Histogram(
            "orderless_image_seconds",
            "From an image's place in the queue to its tags.",
            buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
            registry=self.registry,
        )
        self.batch_size = Histogram(
            "orderless_batch_images",
            "Images tagged together.",
            buckets=(1, 2, 4, 8, 16, 32, 64),
            registry=self.registry,
        )
        self.queue_length = Gauge("orderless_queue_images", "Images that wait.", registry=self.registry)
        self.held_bytes = Gauge("orderless_held_bytes", "Bytes of uploads in memory.", registry=self.registry)
        self.rejected = Counter("orderless_rejected", "Requests turned away.", ["reason"], registry=self.registry)
        self.images = Counter("orderless_images", "Images, tagged or failed.", ["outcome"], registry=self.registry)
        self.withdrawn = Counter(
            "orderless_withdrawn_images",
            "Images dropped unseen: their client left or waited too long.",
            registry=self.registry,
        )

    def text(self) -> bytes:
        return generate_latest(self.registry)
