"""pixelferry's network in Python: workers, displays and viewers that speak the protocol of
``integrations/net/docs/protocol.md``.

Needs ``eclipse-zenoh`` and ``numpy``. Pictures packed with LZ4 also need ``lz4``, and those packed with JPEG need
Pillow.
"""

from ._assembly import Assembly
from ._session import hub, join
from ._tile import Job, Tile
from ._view import Picture, View
from ._wire import FORMATS, PIXEL_BYTES, Header, Refused, score

__all__ = [
    "FORMATS", "PIXEL_BYTES", "Assembly", "Header", "Job", "Picture", "Refused", "Tile", "View", "hub", "join",
    "score",
]
