"""PyImageCUDA's display loop, timed off screen as `gl_interop` times its rows.

The loop is the one its documentation describes: a float image is generated, converted to 8 bits, copied into a
registered pixel buffer by `GLResource.copy_from`, uploaded by glTexSubImage2D, drawn. A second row leaves the first
two steps out: a kernel writes the 8-bit image itself, the same frame as every other row's.
"""

import argparse
import json
import sys
import time
import types

from headless_gl import (PIXEL_UNPACK_BUFFER, RGBA, STREAM_DRAW, TEXTURE_2D, UNSIGNED_BYTE, GL, Screen)

SIZES = {"1080p": (1920, 1080), "4K": (3840, 2160)}

KERNEL = """extern "C" __global__ void write_frame(uchar4* out, int w, int h, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = make_uchar4((unsigned char)(x + n), (unsigned char)y, (unsigned char)n, 255);
}"""


def import_pyimagecuda():
    """pyvips serves its file input and text alone; an empty module stands in where it is not installed."""
    try:
        import pyvips  # noqa: F401
    except Exception:
        sys.modules["pyvips"] = types.ModuleType("pyvips")
    import pyimagecuda
    if not hasattr(pyimagecuda, "GLResource"):
        raise RuntimeError("pyimagecuda's native module did not load; see its message above")
    return pyimagecuda


class Loop:
    """The registered pixel buffer and the steps from an 8-bit image to the screen."""

    def __init__(self, pic, gl, screen):
        self.pic, self.gl, self.screen = pic, gl, screen
        self.image = pic.ImageU8(screen.width, screen.height)
        self.buffer = gl.new("Buffers")
        gl.BindBuffer(PIXEL_UNPACK_BUFFER, self.buffer)
        gl.BufferData(PIXEL_UNPACK_BUFFER, screen.width * screen.height * 4, None, STREAM_DRAW)
        gl.BindBuffer(PIXEL_UNPACK_BUFFER, 0)
        self.resource = pic.GLResource(self.buffer)

    def show(self):
        gl, screen = self.gl, self.screen
        self.resource.copy_from(self.image)
        gl.BindBuffer(PIXEL_UNPACK_BUFFER, self.buffer)
        gl.BindTexture(TEXTURE_2D, screen.texture)
        gl.TexSubImage2D(TEXTURE_2D, 0, 0, 0, screen.width, screen.height, RGBA, UNSIGNED_BYTE, None)
        gl.BindBuffer(PIXEL_UNPACK_BUFFER, 0)
        screen.draw()

    def close(self):
        self.resource.free()
        self.gl.delete("Buffers", self.buffer)
        self.image.free()


class Documented(Loop):
    row = "PyImageCUDA: Fill, convert_float_to_u8, copy_from, TexSubImage, draw"

    def __init__(self, pic, gl, screen):
        super().__init__(pic, gl, screen)
        self.float_image = pic.Image(screen.width, screen.height)

    def frame(self, n):
        self.pic.Fill.color(self.float_image, ((n & 255) / 255, 64 / 255, 128 / 255, 1.0))
        self.pic.convert_float_to_u8(self.image, self.float_image)
        self.show()

    def expected(self, n):
        return bytes((n & 255, 64, 128, 255)) * (self.screen.width * self.screen.height)

    def close(self):
        super().close()
        self.float_image.free()


class SameKernel(Loop):
    row = "PyImageCUDA: kernel into ImageU8, copy_from, TexSubImage, draw"

    def __init__(self, pic, gl, screen):
        import cupy
        import numpy
        super().__init__(pic, gl, screen)
        self.kernel = cupy.RawKernel(KERNEL, "write_frame")
        self.array = cupy.asarray(self.image)
        self.extent = numpy.int32(screen.width), numpy.int32(screen.height)
        self.int32 = numpy.int32

    def frame(self, n):
        w, h = self.extent
        grid = ((self.screen.width + 31) // 32, (self.screen.height + 7) // 8)
        self.kernel(grid, (32, 8), (self.array, w, h, self.int32(n)))
        self.show()

    def expected(self, n):
        row = bytearray(self.screen.width * 4)
        row[0::4] = bytes((x + n) & 255 for x in range(self.screen.width))
        row[2::4] = bytes([n & 255]) * self.screen.width
        row[3::4] = b"\xff" * self.screen.width
        rows = []
        for y in range(self.screen.height):
            row[1::4] = bytes([y & 255]) * self.screen.width
            rows.append(bytes(row))
        return b"".join(rows)

    def close(self):
        del self.array
        super().close()


def wrong_pixels(loop):
    last = 19
    for n in range(last + 1):
        loop.frame(n)
    loop.gl.Finish()
    seen, wanted = memoryview(loop.screen.pixels()).cast("I"), memoryview(loop.expected(last)).cast("I")
    return 0 if seen == wanted else sum(a != b for a, b in zip(seen, wanted))


def quantile(values, q):
    return sorted(values)[min(int(q * len(values)), len(values) - 1)]


def measure(loop, frames, repeats):
    """Samples in microseconds a frame, by mode."""
    latency, throughput = [], []
    for n in range(frames + 20):
        start = time.perf_counter()
        loop.frame(n)
        loop.gl.Finish()
        if n >= 20:
            latency.append((time.perf_counter() - start) * 1e6)
    for _ in range(repeats):
        start = time.perf_counter()
        for n in range(frames):
            loop.frame(n)
        loop.gl.Finish()
        throughput.append((time.perf_counter() - start) * 1e6 / frames)
    loop.gl.check(loop.row)
    return {"latency": latency, "throughput": throughput}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", metavar="FILE")
    arguments.add_argument("--size", choices=[*SIZES, "both"], default="both")
    arguments.add_argument("--frames", type=int, default=320)
    arguments.add_argument("--repeats", type=int, default=5)
    options = arguments.parse_args()
    gl = GL()
    pic = import_pyimagecuda()
    who = f"PyImageCUDA {pic.__version__}"
    print(f"{who}; GL: {gl.GetString(0x1F01).decode()}, {gl.GetString(0x1F02).decode()}")
    print(f"{'row':<74} {'size':<5} {'mode':<10} {'median us':>9} {'p99 us':>9} {'n':>5}  pixels")
    out = open(options.json, "w", encoding="utf-8") if options.json else None
    for size in SIZES if options.size == "both" else [options.size]:
        screen = Screen(gl, *SIZES[size])
        for kind in (SameKernel, Documented):
            try:
                loop = kind(pic, gl, screen)
            except Exception as why:
                print(f"{kind.row:<74} {size:<5} unavailable: {why}")
                continue
            wrong = wrong_pixels(loop)
            pixels = "right" if wrong == 0 else f"WRONG {wrong}"
            for mode, samples in measure(loop, options.frames, options.repeats).items():
                middle, p99 = quantile(samples, 0.5), quantile(samples, 0.99)
                print(f"{kind.row:<74} {size:<5} {mode:<10} {middle:9.1f} {p99:9.1f} {len(samples):5}  {pixels}")
                if out:
                    row = {"who": who, "row": kind.row, "size": size, "mode": mode, "median_us": round(middle, 2),
                           "p99_us": round(p99, 2), "n": len(samples),
                           "frames_per_sample": options.frames if mode == "throughput" else 1, "age_frames": 0,
                           "pixels": "right" if wrong == 0 else "WRONG", "samples": [round(s, 2) for s in samples]}
                    out.write(json.dumps(row) + "\n")
            loop.close()
        screen.close()
    if out:
        out.close()


if __name__ == "__main__":
    main()
