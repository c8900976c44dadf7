"""The message format of ``integrations/net/docs/protocol.md``."""

from __future__ import annotations

import dataclasses
import logging
import struct
import time

FORMATS = ["R8", "RG8", "RGBA8", "R32F", "RGBA16F", "RGBA32F", "R16", "R16F", "BGRA8", "RGB10A2", "RG16F", "RG32F"]
PIXEL_BYTES = dict(zip(FORMATS, [1, 2, 4, 4, 8, 16, 2, 2, 4, 4, 4, 8]))
TILE, PICTURE, JOB, INPUT, MARK, REPORT = 1, 2, 3, 4, 5, 6
NONE, LZ4, JPEG = 0, 1, 2
HEADER_BYTES = 128
MOST_ARGS = 1 << 20
#: The limit of a job's tile in bytes.
MOST_TILE = 64 << 20

_HEADER = struct.Struct("<4sHBBQQQQIIIIIIBBBBIQ48s")
_MASK = (1 << 64) - 1
_LIMIT = 1 << 30
_LOG = logging.getLogger("pixelferry_net")
_BY_JPEG = ("R8", "RGBA8", "BGRA8")


class Refused(ValueError):
    """A message that is not part of the protocol, or not for this scene."""


@dataclasses.dataclass(frozen=True)
class Header:
    """The first 128 bytes of a message. ``region`` is x, y, width, height in pixels."""

    kind: int
    size: tuple[int, int]
    region: tuple[int, int, int, int]
    format: str = "RGBA8"
    codec: int = NONE
    epoch: int = 0
    frame: int = 0
    time: int = 0
    sender: int = 0
    encoding: int = 0
    row_order: int = 0
    alpha: int = 0
    cost: int = 0
    payload: int = 0

    def pixel_bytes(self) -> int:
        """The size of the region's unpacked pixels in bytes."""
        return self.region[2] * self.region[3] * PIXEL_BYTES[self.format]

    def to_bytes(self) -> bytes:
        """The bytes of the header."""
        return _HEADER.pack(
            b"PXFY", 1, self.kind, self.codec, self.epoch, self.frame, self.time, self.sender, *self.size, *self.region,
            FORMATS.index(self.format), self.encoding, self.row_order, self.alpha, self.cost, self.payload, bytes(48),
        )  # fmt: skip

    @staticmethod
    def read(message: bytes, kind: int) -> Header:
        """Reads and checks the header of a whole message. Raises `Refused` for an invalid one."""
        if len(message) < HEADER_BYTES:
            raise Refused(f"{len(message)} bytes are too few for a header of {HEADER_BYTES}")
        values = _HEADER.unpack_from(message)
        magic, version, found, codec, epoch, frame, asked, sender, width, height, x, y, w, h = values[:14]
        pixel, encoding, row_order, alpha, cost, payload, reserved = values[14:]
        if magic != b"PXFY" or version != 1 or any(reserved):
            raise Refused("not a message of version 1")
        if found != kind:
            raise Refused(f"kind {found} instead of {kind}")
        if codec > 2 or pixel >= len(FORMATS) or encoding > 3 or row_order > 1 or alpha > 3:
            raise Refused("a field has a number that the protocol does not define")
        if not (0 < width <= 65536 and 0 < height <= 65536 and w and h and x + w <= width and y + h <= height):
            raise Refused("the size or the rectangle is invalid")
        header = Header(
            kind, (width, height), (x, y, w, h), FORMATS[pixel], codec, epoch, frame, asked, sender, encoding,
            row_order, alpha, cost, payload,
        )  # fmt: skip
        if payload != len(message) - HEADER_BYTES:
            raise Refused(f"the header announces {payload} bytes, but {len(message) - HEADER_BYTES} arrived")
        if kind == JOB and ((x, y, w, h) != (0, 0, width, height) or header.pixel_bytes() > _LIMIT):
            raise Refused("it holds only a part of a picture, or more pixels than the limit")
        if kind in (TILE, PICTURE):
            pixels = header.pixel_bytes()
            if pixels > _LIMIT or payload > pixels + pixels // 8 + 4096:
                raise Refused("the pixels exceed the limit")
            if codec == NONE and payload != pixels:
                raise Refused("the payload does not match the rectangle")
            if codec == JPEG and header.format not in _BY_JPEG:
                raise Refused(f"JPEG does not support {header.format}")
        elif payload > (MOST_ARGS if kind != MARK else 0):
            raise Refused("the payload exceeds the limit")
        return header


def message_bytes(beginning: bytes) -> int:
    """The size in bytes of the picture's whole message, of which this is the beginning. Raises `Refused` if it is
    invalid."""
    if len(beginning) < HEADER_BYTES:
        raise Refused(f"{len(beginning)} bytes are too few for a header of {HEADER_BYTES}")
    payload = struct.unpack_from("<Q", beginning, 72)[0]
    if payload > _LIMIT + _LIMIT // 8 + 4096:
        raise Refused("the pixels exceed the limit")
    return HEADER_BYTES + payload


def _mix(word: int) -> int:
    word = (word + 0x9E3779B97F4A7C15) & _MASK
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & _MASK
    return word ^ word >> 31


def score(node: int, tile: int) -> int:
    """The score of a node for a tile: the node with the highest one computes the tile."""
    return _mix(node ^ _mix(tile))


def tiles_of(size, tile):
    (width, height), (w, h) = size, tile
    return [(x, y, min(w, width - x), min(h, height - y)) for y in range(0, height, h) for x in range(0, width, w)]


def now() -> int:
    """The microseconds since 1970."""
    return time.time_ns() // 1000


def unpack(header: Header, payload: bytes) -> bytes:
    """Tight rows of the header's region. Raises `Refused` if the payload cannot be unpacked."""
    from . import _jpeg

    try:
        if header.codec == NONE:
            return payload
        pixels = _jpeg.unpack(header, payload) if header.codec == JPEG else _unpack_lz4(header, payload)
    except MemoryError as error:
        raise Refused("there is not enough memory for the pixels") from error
    except ImportError as error:
        # The sender chose the codec, so this is no reason to end.
        _LOG.warning("a message is refused: %s", error)
        raise Refused(str(error)) from error
    if len(pixels) != header.pixel_bytes():
        raise Refused("the payload unpacks to another size")
    return pixels


def _unpack_lz4(header: Header, payload: bytes) -> bytes:
    import lz4.block

    # LZ4 packs at most 255 to 1: a payload that claims more gets no memory.
    if len(payload) * 255 < header.pixel_bytes():
        raise Refused(f"{len(payload)} bytes cannot hold {header.pixel_bytes()}")
    try:
        return lz4.block.decompress(payload, uncompressed_size=header.pixel_bytes())
    except lz4.block.LZ4BlockError as error:
        raise Refused(f"cannot unpack the LZ4 payload: {error}") from error
