"""Freed memory that is kept for the next tensor, instead of going back to the system.

The C library gives large blocks back as soon as they are freed, and the system finds and clears new pages for the next
one. The maps of a training step are such blocks: a step of ResNet-50 on a CPU spends a fifth of its time on that. The
commands of this package keep what they freed. It is a setting of the whole process, so the library leaves it alone;
programs of your own have it with MALLOC_MMAP_THRESHOLD_=134217728 and MALLOC_TRIM_THRESHOLD_=-1 in their environment.
"""

from __future__ import annotations

import sys

# Of <malloc.h>.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
# Bytes. What is kept lies in pieces, and one of just the right size may not do for aligned memory: a process may come
# to hold its largest block several times. So the very largest are given back as ever.
_LARGEST_KEPT = 1 << 27

_kept = False


def keep_freed_memory() -> None:
    """Do so from now on in this process; does nothing where the C library is not glibc."""
    global _kept
    if sys.platform != "linux":
        return
    from ctypes import CDLL

    mallopt = getattr(CDLL(None), "mallopt", None)
    if mallopt is not None:
        _kept = bool(mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)) and bool(mallopt(_TRIM_THRESHOLD, -1))


def freed_memory_is_kept() -> bool:
    """Whether large tensors come from memory that was used before."""
    return _kept
