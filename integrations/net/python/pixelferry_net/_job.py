"""The payload of a job: the tiles that are requested, and the arguments."""

from __future__ import annotations

import dataclasses
import struct

from ._wire import HEADER_BYTES, JOB, MOST_TILE, PIXEL_BYTES, Header, Refused, tiles_of

_FIXED = struct.Struct("<6I")
_MOST_TILES = 65536


@dataclasses.dataclass(frozen=True)
class JobMessage:
    """What a display requests of its workers. An empty list of tiles requests all of them."""

    header: Header
    tile: tuple[int, int]
    wanted: tuple[int, ...] = ()
    weights: dict[int, int] = dataclasses.field(default_factory=dict)
    args: bytes = b""

    def check(self) -> None:
        """Raises `Refused` if there are more tiles, or larger ones, than workers accept."""
        (width, height), (w, h) = self.header.size, self.tile
        if not (w and h) or -(-width // w) * -(-height // h) > _MOST_TILES:
            raise Refused("too many tiles")
        if min(w, width) * min(h, height) * PIXEL_BYTES[self.header.format] > MOST_TILE:
            raise Refused("the tiles are larger than workers accept")

    def tiles(self) -> list[tuple[int, int, int, int]]:
        """The rectangles of all tiles."""
        return tiles_of(self.header.size, self.tile)

    def to_bytes(self) -> bytes:
        """The bytes of the message."""
        payload = _FIXED.pack(*self.tile, len(self.wanted), len(self.weights), len(self.args), 0)
        payload += struct.pack(f"<{len(self.wanted)}I", *self.wanted)
        payload += b"".join(struct.pack("<2Q", *row) for row in sorted(self.weights.items())) + self.args
        return dataclasses.replace(self.header, payload=len(payload)).to_bytes() + payload

    @staticmethod
    def read(message: bytes) -> JobMessage:
        """Reads a whole message. Raises `Refused` for an invalid one."""
        header = Header.read(message, JOB)
        if header.payload < _FIXED.size:
            raise Refused("the payload is not a job")
        width, height, wanted, weights, args, reserved = _FIXED.unpack_from(message, HEADER_BYTES)
        if reserved or _FIXED.size + 4 * wanted + 16 * weights + args != header.payload:
            raise Refused("the payload is not a job")
        at = HEADER_BYTES + _FIXED.size
        indices = struct.unpack_from(f"<{wanted}I", message, at)
        rows = {}
        for node, weight in struct.iter_unpack("<2Q", message[at + 4 * wanted : len(message) - args]):
            if weight >= 1 << 32:
                raise Refused("a weight exceeds 32 bits")
            # If a node has two rows, the first one counts.
            rows.setdefault(node, weight)
        job = JobMessage(header, (width, height), indices, rows, message[len(message) - args :])
        job.check()
        columns, lines = -(-header.size[0] // width), -(-header.size[1] // height)
        if any(index >= columns * lines for index in indices):
            raise Refused("it requests a tile that its picture does not have")
        return job
