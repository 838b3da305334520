"""Losses: over an arranged sequence, and over independent labels."""

from orderless.loss.binary import binary_cross_entropy
from orderless.loss.sequence import sequence_loss

__all__ = ["binary_cross_entropy", "sequence_loss"]
