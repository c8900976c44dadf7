"""Checks of JPEG payloads, of which a few bytes could claim much memory."""

from __future__ import annotations

import io
import struct

from ._wire import Header, Refused

#: A block of 8x8 values takes at least two bits.
_PIXELS_PER_BYTE = 256
_BASELINE, _SCAN, _END = 0xC0, 0xDA, 0xD9
_OTHER_FRAMES = {0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF}


def check(payload: bytes, size: tuple[int, int]) -> None:
    """Raises `Refused` unless the payload is a baseline JPEG of the expected size with at most one scan for each
    component."""
    if len(payload) * _PIXELS_PER_BYTE < size[0] * size[1]:
        raise Refused(f"{len(payload)} bytes cannot hold {size[0]}x{size[1]} pixels as JPEG")
    found, components, scans, at = None, 0, 0, 0
    while (at := payload.find(b"\xff", at)) >= 0 and at + 1 < len(payload):
        marker = payload[at + 1]
        if marker in (0, 0xFF) or 0xD0 <= marker <= 0xD8:
            at += 1 if marker == 0xFF else 2
            continue
        if marker == _END:
            break
        if at + 4 > len(payload):
            break
        (length,) = struct.unpack_from(">H", payload, at + 2)
        if marker in _OTHER_FRAMES:
            raise Refused("not a baseline JPEG")
        if marker == _BASELINE:
            if found or length < 8 or at + 10 > len(payload):
                raise Refused("the JPEG has no frame, or more than one")
            _depth, height, width, components = struct.unpack_from(">BHHB", payload, at + 4)
            found = (width, height)
        if marker == _SCAN:
            scans += 1
        at += 2 + length
    if found != tuple(size):
        raise Refused(f"the JPEG has a size of {found} instead of {tuple(size)}")
    if not 1 <= components <= 4 or scans > components:
        raise Refused(f"the JPEG has {scans} scans of {components} components")


def unpack(header: Header, payload: bytes) -> bytes:
    """Tight rows of the header's region. Raises `Refused` if the payload cannot be decoded."""
    check(payload, header.region[2:])
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("pictures packed with JPEG need Pillow: pip install pillow") from error
    mode = "L" if header.format == "R8" else "RGBA"
    try:
        with Image.open(io.BytesIO(payload), formats=["JPEG"]) as image:
            pixels = bytearray(image.convert(mode).tobytes())
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise Refused(f"cannot decode the JPEG payload: {error}") from error
    if header.format == "BGRA8":
        pixels[0::4], pixels[2::4] = pixels[2::4], pixels[0::4]
    return bytes(pixels)
