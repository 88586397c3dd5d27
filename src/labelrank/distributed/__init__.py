"""Learning from data in pieces, on a Dask cluster or on one machine that cannot hold them.

The client never sees the data: parts are read where their rows will stay. `WAYS` says which
learner goes which way, and what its result has in common with that of one machine.
"""

from labelrank.distributed.fitting import DaskRunner, fit
from labelrank.distributed.ways import WAYS, way_of

__all__ = ["WAYS", "DaskRunner", "fit", "way_of"]
