"""Make the weights small: activation-aware smoothing, then symmetric int8 with one scale per row.

The order of the floating-point operations is part of the recipe. Another order moves a few of the roundings that sit on
a tie, and since the activations are quantised anew at each product, that alone moves a vector by a cosine of about 0.001.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float32]
Bytes: TypeAlias = npt.NDArray[np.int8]

# How much of the difficulty moves from activations into weights (SmoothQuant's alpha), per place in a layer: the joint
# query-key-value product, the attention's output, the two halves of the feed-forward block. Found on neutral text.
ALPHA = {"qkv": 1.0, "o": 0.8, "f1": 0.7, "f2": 0.7}

# Weights stay within +-64 instead of +-127: processors without VNNI multiply uint8 by int8 in pairs into 16 bits, and
# 2 * 255 * 64 still fits there. Beyond it they saturate silently, and a vector would depend on the machine.
LINEAR_LIMIT = 64
TABLE_LIMIT = 127  # rows that are only looked up, never multiplied as integers

_SMALLEST = 1e-4  # channels that never fire must not ask for an infinite factor


def smoothing(activation_maxima: Floats, weight: Floats, alpha: float) -> Floats:
    """Give the factor per input channel by which activations are divided and weights multiplied.

    ``factor = max|activation|^alpha / max|weight|^(1 - alpha)`` as in SmoothQuant (Xiao et al. 2022), scaled to a geometric
    mean of one, so that it moves range between channels and adds none.

    Args:
        activation_maxima: the largest absolute activation seen per input channel, (inputs,).
        weight: (outputs, inputs).
        alpha: 0 leaves activations as they are, 1 makes all their channels equally wide.
    """
    activations = np.maximum(activation_maxima, _SMALLEST)
    weights = np.maximum(np.abs(weight).max(axis=0), _SMALLEST)
    raw = activations**alpha / weights ** (1 - alpha)
    factor: Floats = (raw / np.exp(np.log(raw).mean())).astype(np.float32)
    return factor


def rows_to_int8(weight: Floats, limit: int) -> tuple[Bytes, Floats]:
    """Round each row to whole numbers within +-``limit``; gives them and the scale per row, so that ``row = int8 * scale``."""
    scale = (np.abs(weight).max(axis=1) / limit).astype(np.float32)
    scale[scale == 0] = 1e-8  # an all-zero row: any scale will do but zero
    whole = np.clip(np.rint(weight / scale[:, None]), -limit, limit).astype(np.int8)
    return whole, scale
