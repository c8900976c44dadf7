#!/usr/bin/env python3
"""The operations of `cargo bench -p pixelferry-measure --bench bandwidth` by CuPy and PyOpenCL, measured in the same way:
2^26 floats, a sample is a batch of launches and one wait, operations in turns, bytes counted alike. A library that is
missing is left out with a word about it. One JSON object a line goes to --json."""

import argparse
import json
import statistics
import sys
import time


def cupy_operations(n):
    import cupy

    rng = cupy.random.default_rng(1)
    x, y, out = rng.random(n, dtype=cupy.float32), rng.random(n, dtype=cupy.float32), cupy.empty(n, cupy.float32)
    one = cupy.empty((), cupy.float32)
    axpy = cupy.ElementwiseKernel("T x, T a", "T y", "y = a * x + y", "axpy")
    dot = cupy.ReductionKernel("T x, T y", "T out", "x * y", "a + b", "out = a", "0", "dot")
    operations = {
        "copy": (8, lambda: cupy.copyto(out, x)),
        "sum": (4, lambda: cupy.sum(x, out=one)),
        "max": (4, lambda: cupy.max(x, out=one)),
        "dot": (8, lambda: dot(x, y, one)),
        "dot, cuBLAS": (8, lambda: cupy.dot(x, y)),
        "scan": (8, lambda: cupy.cumsum(x, out=out)),
        "axpy": (12, lambda: axpy(x, cupy.float32(0.5), y)),
        "uniform": (4, lambda: rng.random(out=out, dtype=cupy.float32)),
        "normal": (4, lambda: rng.standard_normal(out=out, dtype=cupy.float32)),
    }
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return f"CuPy {cupy.__version__}, {name}", operations, cupy.cuda.Device().synchronize


def pyopencl_operations(n, device):
    import numpy
    import pyopencl
    import pyopencl.array
    import pyopencl.clrandom
    from pyopencl.elementwise import ElementwiseKernel
    from pyopencl.reduction import ReductionKernel
    from pyopencl.scan import GenericScanKernel

    context = pyopencl.Context([device])
    queue = pyopencl.CommandQueue(context)
    random = pyopencl.clrandom.PhiloxGenerator(context)
    x, y = random.uniform(queue, n, numpy.float32), random.uniform(queue, n, numpy.float32)
    out = pyopencl.array.empty(queue, n, numpy.float32)
    axpy = ElementwiseKernel(context, "float *x, float a, float *y", "y[i] = a * x[i] + y[i]", "axpy")

    def reduction(neutral, combine, value, arguments):
        return ReductionKernel(context, numpy.float32, neutral, combine, value, arguments)

    total = reduction("0", "a + b", "x[i]", "__global const float *x")
    most = reduction("-INFINITY", "fmax(a, b)", "x[i]", "__global const float *x")
    dot = reduction("0", "a + b", "x[i] * y[i]", "__global const float *x, __global const float *y")
    scan = GenericScanKernel(
        context,
        numpy.float32,
        arguments="__global float *x, __global float *out",
        input_expr="x[i]",
        scan_expr="a + b",
        neutral="0",
        output_statement="out[i] = item;",
    )
    operations = {
        "copy": (8, lambda: pyopencl.enqueue_copy(queue, out.data, x.data)),
        "sum": (4, lambda: total(x, queue=queue)),
        "max": (4, lambda: most(x, queue=queue)),
        "dot": (8, lambda: dot(x, y, queue=queue)),
        "scan": (8, lambda: scan(x, out, queue=queue)),
        "axpy": (12, lambda: axpy(x, numpy.float32(0.5), y, queue=queue)),
        "uniform": (4, lambda: random.fill_uniform(out, queue=queue)),
        "normal": (4, lambda: random.fill_normal(out, queue=queue)),
    }
    version = pyopencl.VERSION_TEXT
    return f"PyOpenCL {version}, {device.name} ({device.platform.name})", operations, queue.finish


def measure(who, operations, wait, n, options, file):
    samples = {name: [] for name in operations}
    failed = {}
    for turn in range(options.samples + 2):
        for name, (_, run) in operations.items():
            if name in failed:
                continue
            try:
                wait()
                start = time.perf_counter()
                for _ in range(options.batch):
                    run()
                wait()
            except Exception as error:  # an operation that a library or driver refuses is reported, not fatal
                failed[name] = error
                continue
            if turn >= 2:
                samples[name].append((time.perf_counter() - start) * 1e6 / options.batch)
    print(f"{who}, {n} floats")
    for name, error in failed.items():
        print(f"  {name:<20} failed: {error}".split("\n")[0])
    floor = 8 * n / statistics.median(samples["copy"])
    for name, (bytes_each, _) in operations.items():
        if name in failed:
            continue
        median = statistics.median(samples[name])
        p99 = sorted(samples[name])[round(0.99 * (len(samples[name]) - 1))]
        rate = bytes_each * n / median
        print(f"  {name:<20} {median:>10.1f} us  p99 {p99:>10.1f} us  {rate / 1e3:>8.1f} GB/s  {100 * rate / floor:>5.1f} % of copy")
        if file:
            row = {"device": who, "operation": name, "elements": n, "bytes": bytes_each * n, "median_us": median}
            row |= {"p99_us": p99, "gigabytes_per_second": rate / 1e3, "ratio": rate / floor, "samples_us": samples[name]}
            file.write(json.dumps(row) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--exponent", type=int, default=26)
    parser.add_argument("--json")
    options = parser.parse_args()
    n = 1 << options.exponent
    file = open(options.json, "w") if options.json else None
    try:
        measure(*cupy_operations(n), n, options, file)
    except Exception as error:
        print(f"CuPy left out: {error}", file=sys.stderr)
    try:
        import pyopencl

        devices = [device for platform in pyopencl.get_platforms() for device in platform.get_devices()]
    except Exception as error:
        print(f"PyOpenCL left out: {error}", file=sys.stderr)
        devices = []
    for device in devices:
        try:
            measure(*pyopencl_operations(n, device), n, options, file)
        except Exception as error:
            print(f"PyOpenCL on {device.name} left out: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
