"""Short names for types that stand in many signatures."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
