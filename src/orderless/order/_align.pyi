import numpy as np
from numpy.typing import NDArray

def align(
    logits: NDArray[np.float32],
    labels: NDArray[np.bool_],
    targets: NDArray[np.int64],
    batch: int,
    steps: int,
    m: int,
    pin: bool,
    /,
) -> int: ...
