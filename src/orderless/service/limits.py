"""What the service grants a client, in one place; `orderless serve` has an option for each."""

from __future__ import annotations

from dataclasses import dataclass

from orderless.errors import UsageError

MEGABYTE = 1_000_000

# Pillow's names. Formats that cameras, phones and browsers write; every one more is another decoder open to strangers.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")


@dataclass(frozen=True)
class Limits:
    """Defaults fit a small machine."""

    batch_size: int = 16  # images tagged together
    batch_wait_ms: float = 5.0  # how long an idle model waits for company
    queue: int = 64  # images that wait; one more is answered with 429
    timeout: float = 30.0  # seconds from a whole upload to its answer, else 504
    max_images: int = 16  # in a request
    max_upload_mb: float = 20.0  # of a request, else 413
    max_held_mb: float = 256.0  # of all requests together, else 429
    max_pixels: int = 50_000_000  # of an image
    head_seconds: float = 10.0  # to send a request's head, else 408
    body_seconds: float = 30.0  # to send its body, else 408; and to take an answer

    def __post_init__(self) -> None:
        if self.max_images > self.queue:
            raise UsageError(f"--max-images {self.max_images} would never fit into --queue {self.queue}")
        if self.max_upload_mb > self.max_held_mb:
            raise UsageError(
                f"--max-upload-mb {self.max_upload_mb:g} would never fit into --max-held-mb {self.max_held_mb:g}"
            )

    @property
    def upload_bytes(self) -> int:
        return int(self.max_upload_mb * MEGABYTE)

    @property
    def held_bytes(self) -> int:
        return int(self.max_held_mb * MEGABYTE)
