"""Products of many rows with one vector, in the calling thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

PIECE = 1 << 18
"""So many numbers at a time are multiplied by the calling thread alone. For more, the library beneath numpy wakes threads of its own, which
wait for each other in loops: where the processors have other work to do, that takes a hundred times as long as the product itself."""


def product(rows: npt.NDArray[np.float32], query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The product of each row with a vector, within the usual bound of single precision; not always the same to the last bit."""
    import numpy as np

    step = max(1, PIECE // max(1, len(query)))
    found = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), step):
        np.dot(rows[start : start + step], query, out=found[start : start + step])
    return found
