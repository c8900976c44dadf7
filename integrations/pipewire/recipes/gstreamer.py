#!/usr/bin/python3
"""A stream of pixelferry in a pipeline of GStreamer, without PipeWire: each newest frame goes into an `appsrc`.

    pixelferry demo --publish try &
    python3 gstreamer.py try "videoconvert ! autovideosink"
    python3 gstreamer.py try "videoconvert ! x264enc ! mp4mux ! filesink location=try.mp4" --frames 300

Needs the package `pixelferry` and PyGObject with GStreamer (Debian: python3-gi gir1.2-gst-plugins-base-1.0, and the plugins of the
pipeline). Frames are 8-bit RGBA, which publishers of three or four channels have, or grey in 8 or 16 bits. It ends with the
publisher, after so many frames, or by Ctrl-C; the file is whole then.
"""

import argparse
import sys
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import GLib, Gst, GstApp  # noqa: E402,F401 (GstApp gives appsrc its methods)

import pixelferry  # noqa: E402

# Names that GStreamer has for an array's item type and channels.
FORMATS = {("B", 4): "RGBA", ("B", 1): "GRAY8", ("H", 1): f"GRAY16_{'LE' if sys.byteorder == 'little' else 'BE'}"}


def caps(frame):
    """Returns GStreamer's caps for a frame. The rate is the publisher's, which may vary."""
    height, width, *channels = frame.shape
    kind = (frame.format.lstrip("@=<|"), channels[0] if channels else 1)
    if kind not in FORMATS:
        raise SystemExit(f"frames of {kind[1]} channels of '{kind[0]}' have no format here; publish 8-bit RGBA")
    return Gst.Caps.from_string(
        f"video/x-raw,format={FORMATS[kind]},width={width},height={height},framerate=0/1,colorimetry=sRGB")


def rows(frame):
    """Bytes of a frame as GStreamer wants them: rows of a multiple of four bytes."""
    tight = frame.tobytes()
    length = len(tight) // frame.shape[0]
    gap = bytes(-length % 4)
    if not gap:
        return tight
    return b"".join(tight[at:at + length] + gap for at in range(0, len(tight), length))


def ended(bus, patience):
    """Ends with what a part of the pipeline reports, if it does so or comes to its end in this time."""
    message = bus.timed_pop_filtered(patience, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    if message is not None and message.type == Gst.MessageType.ERROR:
        error, details = message.parse_error()
        raise SystemExit(f"{error.message}\n{details}")


def feed(stream, most, frames, bus):
    """Gives frames to the pipeline until the publisher ends, or after so many; tells how many there were."""
    count, began, told = 0, time.monotonic_ns(), None
    try:
        with pixelferry.Subscriber(stream) as subscriber:
            for array in subscriber:
                frame = memoryview(array)
                # A change of the size is announced in between.
                if told is None or not told.is_equal(caps(frame)):
                    told = caps(frame)
                    frames.set_caps(told)
                buffer = Gst.Buffer.new_wrapped(rows(frame))
                buffer.pts = time.monotonic_ns() - began
                # Waits while the pipeline is behind; what is published meanwhile is passed over.
                if frames.push_buffer(buffer) != Gst.FlowReturn.OK:
                    break
                ended(bus, 0)
                count += 1
                if count == most:
                    break
    except KeyboardInterrupt:
        pass
    return count


def play(stream, pipeline, most):
    """Feeds a pipeline, and waits until all of it is written."""
    parts = Gst.parse_launch(f"appsrc name=frames is-live=true format=time block=true max-buffers=2 ! {pipeline}")
    frames, bus = parts.get_by_name("frames"), parts.get_bus()
    parts.set_state(Gst.State.PLAYING)
    try:
        count = feed(stream, most, frames, bus)
        frames.end_of_stream()
        ended(bus, 60 * Gst.SECOND)
    finally:
        parts.set_state(Gst.State.NULL)
    return count


def main():
    parser = argparse.ArgumentParser(description="A stream of pixelferry in a pipeline of GStreamer")
    parser.add_argument("stream", help="its name, as `pixelferry streams` lists it")
    parser.add_argument("pipeline", help="the elements behind the frames")
    parser.add_argument("--frames", type=int, default=0, metavar="N", help="end after so many")
    given = parser.parse_args()
    Gst.init(None)
    try:
        count = play(given.stream, given.pipeline, given.frames)
    except (pixelferry.Error, GLib.Error) as why:
        raise SystemExit(str(why)) from why
    print(f"{count} frames")


if __name__ == "__main__":
    main()
