"""Losses: over an arranged sequence, and over independent labels."""

from orderless.loss.binary import asymmetric_loss, binary_cross_entropy
from orderless.loss.ranking import log_sum_exp_pairwise
from orderless.loss.sequence import sequence_loss
from orderless.loss.stepwise import stepwise_loss

__all__ = ["asymmetric_loss", "binary_cross_entropy", "log_sum_exp_pairwise", "sequence_loss", "stepwise_loss"]
