"""From a PyTorch tensor on the GPU to the screen, off screen: pixelferry, PyImageCUDA, and by way of the host.

In every row an operation of PyTorch makes a new frame in the same tensor, the way brings it to OpenGL, and a full-screen
draw puts it into an RGBA8 framebuffer of the same size. latency: frame and glFinish, one at a time. throughput: many
frames, then one glFinish. Rows take turns, so that drift hits all alike.
"""

import argparse
import json
import sys
import time

import numpy

from headless_gl import (PIXEL_UNPACK_BUFFER, RGBA, STREAM_DRAW, TEXTURE_2D, UNSIGNED_BYTE, GL, Screen)
from pyimagecuda_loop import SIZES, import_pyimagecuda, quantile

RGB = 0x1907
KINDS = ("uint8 RGBA", "float32 RGB")


class Way:
    """One row. `tensor` is what PyTorch writes."""

    def __init__(self, torch, kind, width, height):
        self.torch, self.kind, self.width, self.height = torch, kind, width, height
        self.tensor = self.make()
        self.mask = torch.tensor([1, 2, 4, 0], dtype=torch.uint8, device="cuda")
        rows = torch.arange(height, device="cuda")[:, None]
        self.tensor[:] = self.pattern(rows, torch.arange(width, device="cuda")[None, :])
        torch.cuda.synchronize()

    def make(self):
        if self.kind == "uint8 RGBA":
            return self.torch.empty(self.height, self.width, 4, dtype=self.torch.uint8, device="cuda")
        return self.torch.empty(self.height, self.width, 3, dtype=self.torch.float32, device="cuda")

    def pattern(self, y, x):
        channels = [(x + 0 * y) % 256, (y + 0 * x) % 256, (x + y) % 256, 255 + 0 * (x + y)]
        if self.kind == "uint8 RGBA":
            return self.torch.stack(channels, -1).to(self.torch.uint8)
        # Multiples of 1/256: the bytes they become are the same however sums and products are rounded.
        return self.torch.stack(channels[:3], -1).float() / 256

    def advance(self):
        """The next frame: one pass over the tensor, with the same result in every row."""
        if self.kind == "uint8 RGBA":
            self.tensor.bitwise_xor_(self.mask)
        else:
            self.tensor.neg_().add_(1.0)

    def frame(self):
        self.advance()
        self.show()

    def expected(self):
        """Bytes of the frame on show."""
        host = self.tensor.cpu().numpy()
        out = numpy.full((self.height, self.width, 4), 255, "u1")
        if self.kind == "uint8 RGBA":
            out[:] = host
        else:
            out[:, :, :3] = (numpy.clip(host, 0, 1) * numpy.float32(255) + numpy.float32(0.5)).astype("u1")
        return out

    def close(self):
        pass


class Pixelferry(Way):
    name = "pixelferry"
    options = {}

    def __init__(self, torch, kind, width, height, gl=None, screen=None):
        super().__init__(torch, kind, width, height)
        import pixelferry
        self.viewer = pixelferry.Viewer(width, height, headless=True, display="gl", **self.options)

    def show(self):
        self.viewer.show(self.tensor)

    def finish(self):
        self.viewer.finish()

    def pixels(self):
        return numpy.asarray(self.viewer.screenshot())

    def close(self):
        self.viewer.close()


class PixelferryThroughput(Pixelferry):
    name = "pixelferry, mode=\"throughput\""
    options = {"mode": "throughput"}


class PixelferryDirect(Pixelferry):
    name = "pixelferry, path=\"direct\""
    options = {"path": "direct"}


class PixelferryByHost(Pixelferry):
    name = "pixelferry, given .cpu().numpy()"

    def show(self):
        self.viewer.show(self.tensor.cpu().numpy())


class ByHand(Way):
    """OpenGL of this thread."""

    def __init__(self, torch, kind, width, height, gl, screen):
        super().__init__(torch, kind, width, height)
        self.gl, self.screen = gl, screen

    def finish(self):
        self.gl.Finish()

    def pixels(self):
        return numpy.frombuffer(self.screen.pixels(), "u1").reshape(self.height, self.width, 4)


class Floor(ByHand):
    """What no way can do without: the operation, a wait for it, a draw of something else."""

    name = "floor: operation, wait, draw; nothing shared"

    def show(self):
        self.torch.cuda.synchronize()
        self.screen.draw()

    def pixels(self):
        return self.expected()


class Usual(ByHand):
    name = ".cpu().numpy(), glTexSubImage2D"

    def show(self):
        if self.kind == "uint8 RGBA":
            host, pixel = self.tensor.cpu().numpy(), RGBA
        else:
            host, pixel = self.tensor.mul(255).add_(0.5).clamp_(0, 255).byte().cpu().numpy(), RGB
        gl, screen = self.gl, self.screen
        gl.BindTexture(TEXTURE_2D, screen.texture)
        gl.TexSubImage2D(TEXTURE_2D, 0, 0, 0, self.width, self.height, pixel, UNSIGNED_BYTE, host.ctypes.data)
        screen.draw()


class PyImageCuda(ByHand):
    name = "PyImageCUDA, its 8-bit image"

    def __init__(self, torch, kind, width, height, gl, screen):
        self.pic = import_pyimagecuda()
        self.image = self.pic.ImageU8(width, height)
        self.bytes = torch.as_tensor(self.image, device="cuda").view(height, width, 4)
        if kind != "uint8 RGBA":
            self.floats = self.pic.Image(width, height)
            self.colour = torch.as_tensor(self.floats, device="cuda").view(height, width, 4)
            self.colour.fill_(1.0)
        super().__init__(torch, kind, width, height, gl, screen)
        self.buffer = gl.new("Buffers")
        gl.BindBuffer(PIXEL_UNPACK_BUFFER, self.buffer)
        gl.BufferData(PIXEL_UNPACK_BUFFER, width * height * 4, None, STREAM_DRAW)
        gl.BindBuffer(PIXEL_UNPACK_BUFFER, 0)
        self.resource = self.pic.GLResource(self.buffer)

    def bring(self):
        """The tensor into the image."""
        if self.kind == "uint8 RGBA":
            self.bytes.copy_(self.tensor)
        else:
            self.colour[:, :, :3].copy_(self.tensor)
            self.pic.convert_float_to_u8(self.image, self.floats)

    def show(self):
        self.bring()
        gl, screen = self.gl, self.screen
        self.resource.copy_from(self.image)
        gl.BindBuffer(PIXEL_UNPACK_BUFFER, self.buffer)
        gl.BindTexture(TEXTURE_2D, screen.texture)
        gl.TexSubImage2D(TEXTURE_2D, 0, 0, 0, self.width, self.height, RGBA, UNSIGNED_BYTE, None)
        gl.BindBuffer(PIXEL_UNPACK_BUFFER, 0)
        screen.draw()

    def close(self):
        self.resource.free()
        self.gl.delete("Buffers", self.buffer)


class PyImageCudaInPlace(PyImageCuda):
    """PyTorch writes the image's own memory: the tensor is a view of it."""

    name = "PyImageCUDA, PyTorch writes its image"

    def make(self):
        return self.bytes if self.kind == "uint8 RGBA" else self.colour[:, :, :3]

    def bring(self):
        if self.kind != "uint8 RGBA":
            self.pic.convert_float_to_u8(self.image, self.floats)


WAYS = (Floor, Pixelferry, PixelferryDirect, PixelferryThroughput, PyImageCuda, PyImageCudaInPlace, Usual,
        PixelferryByHost)


def check(way):
    for _ in range(9):
        way.frame()
    way.finish()
    seen, expected = way.pixels(), way.expected()
    off = numpy.abs(seen.astype("i2") - expected.astype("i2"))
    # A byte may tip where sums and products are contracted.
    return "right" if off.max() <= (0 if way.kind == "uint8 RGBA" else 1) else f"WRONG {numpy.count_nonzero(off)}"


def latency(way, frames):
    samples = []
    for _ in range(frames):
        start = time.perf_counter()
        way.frame()
        way.finish()
        samples.append((time.perf_counter() - start) * 1e6)
    return samples


def throughput(way, frames):
    start = time.perf_counter()
    for _ in range(frames):
        way.frame()
    way.finish()
    return [(time.perf_counter() - start) * 1e6 / frames]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", metavar="FILE")
    arguments.add_argument("--size", choices=SIZES, default="4K")
    arguments.add_argument("--frames", type=int, default=60, help="of a row's turn")
    arguments.add_argument("--rounds", type=int, default=6)
    options = arguments.parse_args()
    import torch
    width, height = SIZES[options.size]
    gl = GL()
    screen = Screen(gl, width, height)
    print(f"{torch.__version__}, {torch.cuda.get_device_name()}; GL {gl.GetString(0x1F02).decode()}")
    out = open(options.json, "w", encoding="utf-8") if options.json else None
    for kind in KINDS:
        rows = []
        for made in WAYS:
            try:
                way = made(torch, kind, width, height, gl, screen)
                rows.append((way, check(way), {"latency": [], "throughput": []}))
            except Exception as why:
                print(f"{kind:<12} {made.name:<44} unavailable: {type(why).__name__}: {why}")
        for _ in range(options.rounds):
            for way, _, samples in rows:
                way.frame()
                way.finish()
                samples["latency"] += latency(way, options.frames)
                samples["throughput"] += throughput(way, options.frames)
        gl.check("rows")
        for way, pixels, samples in rows:
            for mode, values in samples.items():
                row = {"kind": kind, "row": way.name, "size": options.size, "mode": mode, "pixels": pixels,
                       "median_us": round(quantile(values, 0.5), 1), "p99_us": round(quantile(values, 0.99), 1),
                       "n": len(values), "path": way.viewer.path if isinstance(way, Pixelferry) else None,
                       "samples": [round(v, 1) for v in values]}
                print(f"{kind:<12} {way.name:<44} {mode:<10} median {row['median_us']:9.1f} p99 {row['p99_us']:9.1f} "
                      f"n {row['n']:4}  {pixels}  {row['path'] or ''}", flush=True)
                if out:
                    out.write(json.dumps(row) + "\n")
            way.close()
    if out:
        out.close()


if __name__ == "__main__":
    sys.exit(main())
