import numpy as np
from numpy.typing import NDArray

def memory(arrow_array: object, pixels: int, /) -> memoryview: ...
def normalise(
    pixels: NDArray[np.uint8],
    place: NDArray[np.float32],
    factor: NDArray[np.float32],
    shift: NDArray[np.float32],
    /,
) -> None: ...
