import numpy as np
from numpy.typing import NDArray

def linear(
    inputs: NDArray[np.float32],
    weight: NDArray[np.float32],
    bias: NDArray[np.float32] | None,
    outputs: NDArray[np.float32],
    /,
) -> None: ...
