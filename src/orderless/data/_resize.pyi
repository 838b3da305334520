import numpy as np
from numpy.typing import NDArray

def resize(
    pixels: NDArray[np.uint8],
    out: NDArray[np.uint8],
    first_across: NDArray[np.intc],
    weights_across: NDArray[np.int16],
    precision_across: int,
    first_down: NDArray[np.intc],
    weights_down: NDArray[np.int16],
    precision_down: int,
    /,
) -> None: ...
