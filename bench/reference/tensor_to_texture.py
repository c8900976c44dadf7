"""A tensor of PyTorch into a texture of moderngl's context: pixelferry.gl, the graphics calls of cuda-python and cuda.core by
hand, PyImageCUDA, and by way of the host.

In every row an operation changes the whole tensor, the way brings it into a texture, and moderngl draws that into an RGBA8
framebuffer of the same size; glFinish ends a frame. Rows take turns, so that drift hits all alike. Every row's pixels are
compared with the tensor. What is not installed is said and left out. With no GPU (--host) NumPy stands in for PyTorch, and the
rows that need CUDA are left out.
"""

import argparse
import json
import sys
import time

import numpy

SIZES = {"720p": (1280, 720), "1080p": (1920, 1080), "4K": (3840, 2160)}
KINDS = ("uint8 RGBA", "float32 RGB")
TEXTURE_2D = 0x0DE1


def quantile(values, part):
    values = sorted(values)
    return values[min(int(part * len(values)), len(values) - 1)]


class Arrays:
    """The tensors of one library: an operation makes each frame, the same in every row."""

    def __init__(self, torch):
        self.torch = torch

    def make(self, kind, width, height):
        y, x = numpy.mgrid[:height, :width]
        channels = numpy.stack([x % 256, y % 256, (x + y) % 256, numpy.full_like(x, 255)], -1)
        # Multiples of 1/256: the bytes they become are the same however sums and products are rounded.
        host = channels.astype("u1") if kind == "uint8 RGBA" else channels[:, :, :3].astype("f4") / 256
        host = numpy.ascontiguousarray(host, host.dtype)
        return host if self.torch is None else self.torch.from_numpy(host).cuda()

    def advance(self, tensor, kind):
        if kind != "uint8 RGBA":
            tensor *= -1
            tensor += 1
        elif self.torch is None:
            numpy.bitwise_xor(tensor, numpy.array([1, 2, 4, 0], "u1"), out=tensor)
        else:
            tensor.bitwise_xor_(self.torch.tensor([1, 2, 4, 0], dtype=self.torch.uint8, device="cuda"))

    def host(self, tensor):
        return tensor if self.torch is None else tensor.cpu().numpy()

    def bytes(self, tensor, kind, out):
        """RGBA bytes in `out`, by the library's own operations."""
        if kind == "uint8 RGBA":
            return tensor
        if self.torch is None:
            out[:, :, :3] = numpy.clip(tensor, 0, 1) * numpy.float32(255) + numpy.float32(0.5)
        else:
            out[:, :, :3] = tensor.clamp(0, 1).mul_(255).add_(0.5)
        return out

    def opaque(self, width, height):
        if self.torch is None:
            return numpy.full((height, width, 4), 255, "u1")
        return self.torch.full((height, width, 4), 255, dtype=self.torch.uint8, device="cuda")


class Row:
    """Brings `self.tensor` into a texture."""

    on_host = False

    def __init__(self, arrays, context, kind, width, height):
        self.arrays, self.context, self.kind, self.size = arrays, context, kind, (width, height)
        self.tensor = arrays.make(kind, width, height)
        self.opaque = arrays.opaque(width, height)
        self.texture = context.texture(self.size, 4)
        self.open()

    def open(self):
        pass

    def close(self):
        pass

    def bytes(self):
        return self.arrays.bytes(self.tensor, self.kind, self.opaque)

    def seen(self):
        return self.texture

    def told(self):
        return ""


class Floor(Row):
    """What no way can do without: the operation, a wait for it, and a draw of something else."""

    name, on_host = "floor: operation, wait, draw", True

    def bring(self):
        if self.arrays.torch:
            self.arrays.torch.cuda.synchronize()


class Pixelferry(Row):
    name, on_host, options = "pixelferry.gl.Texture", True, {}

    def open(self):
        import pixelferry.gl
        self.ours = pixelferry.gl.Texture(self.tensor, **self.options)
        self.views = {}

    def bring(self):
        self.ours.update(self.tensor)

    def seen(self):
        name = self.ours.name
        if name not in self.views:
            self.views[name] = self.context.external_texture(name, self.size, 4, 0, "f1")
        return self.views[name]

    def told(self):
        return f"{self.ours.path}, {len(self.views)} name(s)"

    def close(self):
        self.ours.close()


class PixelferryAnyName(Pixelferry):
    name, options = "pixelferry.gl.Texture, stable=False", {"stable": False}


class CudaPython(Row):
    """The calls of the CUDA runtime."""

    def call(self, name, *arguments):
        error, *values = getattr(self.cuda, name)(*arguments)
        if int(error):
            raise RuntimeError(f"{name}: {error}")
        return values[0] if values else None

    def open(self):
        try:
            from cuda.bindings import runtime
        except ImportError:
            from cuda import cudart as runtime
        self.cuda = runtime
        self.width = self.size[0] * 4
        self.stream = self.arrays.torch.cuda.current_stream().cuda_stream
        self.register(runtime.cudaGraphicsRegisterFlags.cudaGraphicsRegisterFlagsWriteDiscard)

    def bring(self):
        self.kept = self.bytes()
        self.call("cudaGraphicsMapResources", 1, self.resource, self.stream)
        self.copy(self.kept.data_ptr())
        self.call("cudaGraphicsUnmapResources", 1, self.resource, self.stream)

    def close(self):
        self.call("cudaGraphicsUnregisterResource", self.resource)


class RegisterImage(CudaPython):
    name = "cuda-python, cudaGraphicsGLRegisterImage"

    def register(self, flags):
        self.resource = self.call("cudaGraphicsGLRegisterImage", self.texture.glo, TEXTURE_2D, flags)

    def copy(self, address):
        array = self.call("cudaGraphicsSubResourceGetMappedArray", self.resource, 0, 0)
        kind = self.cuda.cudaMemcpyKind.cudaMemcpyDeviceToDevice
        self.call("cudaMemcpy2DToArrayAsync", array, 0, 0, address, self.width, self.width, self.size[1], kind, self.stream)


class RegisterBuffer(CudaPython):
    name = "cuda-python, cudaGraphicsGLRegisterBuffer"

    def register(self, flags):
        self.buffer = self.context.buffer(reserve=self.width * self.size[1])
        self.resource = self.call("cudaGraphicsGLRegisterBuffer", self.buffer.glo, flags)

    def copy(self, address):
        error, target, count = self.cuda.cudaGraphicsResourceGetMappedPointer(self.resource)
        if int(error) or count != self.buffer.size:
            raise RuntimeError(f"cudaGraphicsResourceGetMappedPointer: {error}, {count} bytes")
        kind = self.cuda.cudaMemcpyKind.cudaMemcpyDeviceToDevice
        self.call("cudaMemcpyAsync", target, address, count, kind, self.stream)

    def bring(self):
        super().bring()
        self.texture.write(self.buffer)


class CudaCore(Row):
    name = "cuda.core, GraphicsResource.from_gl_buffer"

    def open(self):
        from cuda.core import Device, GraphicsResource, Stream
        Device(self.arrays.torch.cuda.current_device()).set_current()
        self.stream = Stream.from_handle(self.arrays.torch.cuda.current_stream().cuda_stream)
        self.buffer = self.context.buffer(reserve=self.size[0] * self.size[1] * 4)
        self.resource = GraphicsResource.from_gl_buffer(self.buffer.glo, flags="write_discard")

    def bring(self):
        kept = self.bytes()
        with self.resource.map(stream=self.stream) as mapped:
            self.arrays.torch.from_dlpack(mapped).view(self.arrays.torch.uint8).copy_(kept.view(-1))
        self.texture.write(self.buffer)

    def close(self):
        self.resource.close()


class PyImageCuda(Row):
    name = "PyImageCUDA, GLResource"

    def open(self):
        from pyimagecuda_loop import import_pyimagecuda
        pic, torch = import_pyimagecuda(), self.arrays.torch
        self.image = pic.ImageU8(*self.size)
        self.view = torch.as_tensor(self.image, device="cuda").view(self.size[1], self.size[0], 4)
        self.buffer = self.context.buffer(reserve=self.size[0] * self.size[1] * 4)
        self.resource = pic.GLResource(self.buffer.glo)

    def bring(self):
        self.view.copy_(self.bytes())
        self.resource.copy_from(self.image)
        self.texture.write(self.buffer)

    def close(self):
        self.resource.free()


class ByHost(Row):
    name, on_host = "bytes on the host, Texture.write", True

    def bring(self):
        self.texture.write(numpy.ascontiguousarray(self.arrays.host(self.bytes())))


ROWS = (Floor, Pixelferry, PixelferryAnyName, RegisterImage, RegisterBuffer, CudaCore, PyImageCuda, ByHost)


class Drawn:
    """moderngl's framebuffer and the draw into it."""

    def __init__(self, moderngl, context, size):
        self.moderngl, self.context, self.size = moderngl, context, size
        self.target = context.framebuffer([context.texture(size, 4)])
        self.program = context.program(
            vertex_shader="#version 330\nvoid main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0, 1); }",
            fragment_shader="#version 330\nuniform sampler2D picture; out vec4 colour;\n"
                            "void main() { colour = texelFetch(picture, ivec2(gl_FragCoord.xy), 0); }")
        self.array = context.vertex_array(self.program, [])

    def frame(self, row):
        row.arrays.advance(row.tensor, row.kind)
        row.bring()
        row.seen().use(0)
        self.target.use()
        self.array.render(self.moderngl.TRIANGLES, vertices=3)
        self.context.finish()

    def check(self, row):
        for _ in range(5):
            self.frame(row)
        if isinstance(row, Floor):
            return "draws nothing of it"
        found = numpy.frombuffer(self.target.read(components=4), "u1").reshape(self.size[1], self.size[0], 4)
        wanted = numpy.full_like(found, 255)
        host = row.arrays.host(row.tensor)
        if row.kind != "uint8 RGBA":
            host = (numpy.clip(host, 0, 1) * numpy.float32(255) + numpy.float32(0.5)).astype("u1")
        wanted[:, :, : host.shape[2]] = host
        off = numpy.abs(found.astype("i2") - wanted)
        # A byte may tip where sums and products are contracted.
        right = off.max() <= (0 if row.kind == "uint8 RGBA" else 1)
        return "pixels right" if right else f"WRONG: {numpy.count_nonzero(off)} bytes"


def main():
    arguments = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n")[0].split()))
    arguments.add_argument("--json", metavar="FILE", help="raw samples")
    arguments.add_argument("--size", choices=SIZES, default="4K")
    arguments.add_argument("--frames", type=int, default=30, help="of a row's turn")
    arguments.add_argument("--rounds", type=int, default=8)
    arguments.add_argument("--host", action="store_true", help="arrays of NumPy, no GPU")
    options = arguments.parse_args()
    torch = None
    if not options.host:
        try:
            import torch
            torch.zeros(1, device="cuda")
        except Exception as why:
            sys.exit(f"no PyTorch on a CUDA device ({why}); --host runs without")
    try:
        import moderngl
    except ImportError as why:
        sys.exit(f"{why}: pip install moderngl")
    context = moderngl.create_context(standalone=True, backend="egl")
    size = SIZES[options.size]
    device = f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}" if torch else f"NumPy {numpy.__version__}"
    print(f"{device}; moderngl {moderngl.__version__} on {context.info['GL_RENDERER']}, {context.info['GL_VERSION']}")
    drawn, arrays, out, wrong = Drawn(moderngl, context, size), Arrays(torch), None, False
    if options.json:
        out = open(options.json, "w", encoding="utf-8")
    for kind in KINDS:
        rows = []
        for made in ROWS:
            if torch is None and not made.on_host:
                print(f"{kind:<12} {made.name:<42} left out: it needs CUDA")
                continue
            try:
                row = made(arrays, context, kind, *size)
                rows.append((row, drawn.check(row), []))
            except Exception as why:
                print(f"{kind:<12} {made.name:<42} left out: {type(why).__name__}: {why}")
        for _ in range(options.rounds):
            for row, _, samples in rows:
                drawn.frame(row)
                for _ in range(options.frames):
                    start = time.perf_counter()
                    drawn.frame(row)
                    samples.append((time.perf_counter() - start) * 1e6)
        floor = quantile(rows[0][2], 0.5)
        for row, pixels, samples in rows:
            wrong = wrong or "WRONG" in pixels
            median, worst = quantile(samples, 0.5), quantile(samples, 0.99)
            print(f"{kind:<12} {row.name:<42} median {median:9.1f} us, p99 {worst:9.1f}, n {len(samples):4}, "
                  f"{median / floor:5.2f} x floor  {pixels}  {row.told()}", flush=True)
            if out:
                out.write(json.dumps({"kind": kind, "row": row.name, "size": options.size, "pixels": pixels, "told": row.told(),
                                      "median_us": round(median, 1), "p99_us": round(worst, 1),
                                      "samples": [round(value, 1) for value in samples]}) + "\n")
            row.close()
        if context.error != "GL_NO_ERROR":
            sys.exit("OpenGL reports an error")
    if out:
        out.close()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
