"""How high a score has to be to come among the best, while the scores are still being read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

_GROUPS = 1024
_DEPTH = 16
_HIGHEST = 1.0
_LOWEST = -1.0 + 1e-4


class Floor:
    """A bound that rises: scores that lie wholly below it cannot be among the best ``most``, for that many lie wholly above.

    Scores are cosines. They are cut to [-1, 1], so what lies beyond 1 ties with what is 1, and what is hardly above -1 may tie with all.

    Args:
        most: how many are wanted; ``None`` for all.
        least: the smallest score that counts.
    """

    def __init__(self, most: int | None, least: float | None = None) -> None:
        import numpy as np

        self._most = most
        self.value = -np.inf if least is None or least <= _LOWEST else least
        self._lows: Floats = np.zeros(0)

    def raise_to(self, low: float) -> None:
        """So many scores as are wanted are at least this."""
        if low > _LOWEST:
            self.value = max(self.value, min(low, _HIGHEST))

    def take(self, lows: Floats) -> None:
        """Note what further scores are at least."""
        import numpy as np

        if self._most is None or not len(lows):
            return
        self._lows = np.concatenate([self._lows, lows])
        if len(self._lows) >= self._most:
            self._lows = np.partition(self._lows, len(self._lows) - self._most)[len(self._lows) - self._most :]
            self.raise_to(float(self._lows[0]))


def greatest(scores: Floats, most: int) -> float:
    """A number that at least ``most`` of some scores reach, near the greatest such; minus infinity if there are fewer."""
    import numpy as np

    if most > len(scores):
        return -np.inf
    if most * 4 <= _GROUPS and len(scores) >= 4 * _GROUPS:
        # The best of groups belong to as many scores, and few of the very best share one. The first so many will do.
        scores = scores[: min(len(scores) // _GROUPS, _DEPTH) * _GROUPS].reshape(-1, _GROUPS).max(axis=0)
    return float(np.partition(scores, len(scores) - most)[len(scores) - most])
