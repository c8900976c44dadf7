//! Tables of `docs/figures.md`: which samples a cell pools, and the floor of its ratio.

/// A field of a sample and its required value; after `~`, a text that it must contain.
pub type Want = (&'static str, &'static str);

/// A table of the page.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    pub files: &'static [&'static str],
    /// Factor from the files' unit of time to the page's.
    pub scale: f64,
    /// Title of the first column.
    pub head: &'static str,
    pub columns: &'static [Column],
    pub rows: &'static [(&'static str, &'static [Want])],
}

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    pub title: &'static str,
    pub wants: &'static [Want],
    /// Fields of the floor's samples that differ from those of the cell; empty without a floor.
    pub floor: &'static [Want],
}

const fn column(title: &'static str, wants: &'static [Want], floor: &'static [Want]) -> Column {
    Column { title, wants, floor }
}

const SHARE_NOTHING: &[Want] = &[("row", "floor: kernel, CPU sync, draw; nothing shared")];
const TORCH_FLOOR: &[Want] = &[("row", "floor: operation, wait, draw; nothing shared")];
const TEXTURE_FLOOR: &[Want] = &[("row", "floor: operation, wait, draw")];
const RESIZED: &[Want] = &[("of", "resize_ms"), ("access", "texture"), ("rule", "overwrite")];
const FIRST: &[Want] = &[("of", "first_ms"), ("access", "texture"), ("rule", "overwrite")];
const OPENED: &[Want] = &[("of", "open_ms"), ("access", "texture"), ("rule", "overwrite")];

const ONE_LINK: &[Want] = &[("links", "1")];
const ON_ONE: Want = ("own_displays", "false");
const ON_MANY: Want = ("own_displays", "true");
const BY_HAND: Want = ("compute", "by hand");
const THREADS: Want = ("compute", "~CPU");
const OPENCL: Want = ("compute", "~OpenCL");
const WGSL: Want = ("compute", "~wgpu");

/// Every table.
pub const TABLES: &[Table] = &[
    Table {
        name: "frame",
        files: &["bench/samples/opencl-h200.jsonl"],
        scale: 1.0,
        head: "path",
        columns: &[
            column("CUDA, 1080p", &[("api", "CUDA"), ("size", "1080p"), ("mode", "latency")], SHARE_NOTHING),
            column("CUDA, 4K", &[("api", "CUDA"), ("size", "4K"), ("mode", "latency")], SHARE_NOTHING),
            column("OpenCL, 1080p", &[("api", "OpenCL"), ("size", "1080p"), ("mode", "latency")], SHARE_NOTHING),
            column("OpenCL, 4K", &[("api", "OpenCL"), ("size", "4K"), ("mode", "latency")], SHARE_NOTHING),
        ],
        rows: &[
            ("floor", SHARE_NOTHING),
            ("`direct`", &[("row", "direct")]),
            ("`exported-texture`", &[("row", "exported-texture")]),
            ("`exported-in-place`", &[("row", "exported-in-place")]),
            ("`exported-upload`", &[("row", "exported-upload")]),
            ("`pbo-persistent`", &[("row", "pbo-persistent")]),
            ("`host-round-trip`", &[("row", "host-round-trip")]),
            ("read, upload, draw", &[("row", "naive: read by the host, upload, draw")]),
        ],
    },
    Table {
        name: "queue",
        files: &["bench/samples/queue-h100.jsonl"],
        scale: 1.0,
        head: "frame",
        columns: &[
            column("OpenGL", &[("row", "~pixelferry on OpenGL")], &[("row", "~by hand on OpenGL")]),
            column("by hand", &[("row", "~by hand on OpenGL")], &[]),
            column("wgpu", &[("row", "~pixelferry on wgpu")], &[("row", "~by hand on wgpu")]),
            column("by hand", &[("row", "~by hand on wgpu")], &[]),
            column("Vulkan", &[("row", "~pixelferry on Vulkan")], &[("row", "~by hand on Vulkan")]),
            column("by hand", &[("row", "~by hand on Vulkan")], &[]),
        ],
        rows: &[
            ("1080p, drawn", &[("size", "1080p"), ("mode", "latency"), ("row", "~kernel and draw by compute")]),
            ("1080p, straight", &[("size", "1080p"), ("mode", "latency"), ("row", "~straight")]),
            ("4K, drawn", &[("size", "4K"), ("mode", "latency"), ("row", "~kernel and draw by compute")]),
            ("4K, straight", &[("size", "4K"), ("mode", "latency"), ("row", "~straight")]),
            ("8K, straight", &[("size", "8K"), ("mode", "latency"), ("row", "~straight")]),
            ("1080p, straight, throughput", &[("size", "1080p"), ("mode", "throughput"), ("row", "~straight")]),
            ("4K, straight, throughput", &[("size", "4K"), ("mode", "throughput"), ("row", "~straight")]),
        ],
    },
    Table {
        name: "torch",
        files: &["bench/samples/torch-h200.jsonl"],
        scale: 1.0,
        head: "way",
        columns: &[
            column("uint8 RGBA", &[("kind", "uint8 RGBA"), ("mode", "latency")], TORCH_FLOOR),
            column("uint8, throughput", &[("kind", "uint8 RGBA"), ("mode", "throughput")], TORCH_FLOOR),
            column("float32 RGB", &[("kind", "float32 RGB"), ("mode", "latency")], TORCH_FLOOR),
        ],
        rows: &[
            ("floor", TORCH_FLOOR),
            ("`show(tensor)`", &[("row", "pixelferry")]),
            ("`path=\"direct\"`", &[("row", "pixelferry, path=\"direct\"")]),
            ("PyImageCUDA 0.1.5", &[("row", "PyImageCUDA, PyTorch writes its image")]),
            ("`show(tensor.cpu())`", &[("row", "pixelferry, given .cpu().numpy()")]),
            ("`.cpu()`, `glTexSubImage2D`", &[("row", ".cpu().numpy(), glTexSubImage2D")]),
        ],
    },
    Table {
        name: "texture",
        files: &["bench/samples/tensor-to-texture-h200.jsonl"],
        scale: 1.0,
        head: "way",
        columns: &[
            column("uint8 RGBA", &[("kind", "uint8 RGBA")], TEXTURE_FLOOR),
            column("float32 RGB", &[("kind", "float32 RGB")], TEXTURE_FLOOR),
        ],
        rows: &[
            ("`gl.Texture`", &[("row", "pixelferry.gl.Texture")]),
            ("`gl.Texture`, `stable=False`", &[("row", "pixelferry.gl.Texture, stable=False")]),
            ("cuda-python", &[("row", "cuda-python, cudaGraphicsGLRegisterImage")]),
            ("PyImageCUDA 0.1.5", &[("row", "PyImageCUDA, GLResource")]),
            ("`.cpu()`, `Texture.write`", &[("row", "bytes on the host, Texture.write")]),
        ],
    },
    Table {
        name: "host-arrays",
        files: &["bench/samples/host-arrays-h200.jsonl", "bench/samples/host-arrays-2cores.jsonl"],
        scale: 1.0,
        head: "array",
        columns: &[
            column(
                "memory, 16 cores",
                &[("file", "~h200"), ("row", "pixelferry, display='memory'")],
                &[("row", "memcpy, the array, 16 threads")],
            ),
            column(
                "OpenGL, 16 cores",
                &[("file", "~h200"), ("row", "pixelferry, display='gl'")],
                &[("row", "memcpy, the array, 16 threads")],
            ),
            column(
                "memory, 2 cores",
                &[("file", "~2cores"), ("row", "pixelferry, display='memory'")],
                &[("row", "memcpy, the array, 2 threads")],
            ),
        ],
        rows: &[
            ("float32 RGB", &[("kind", "float32 RGB")]),
            ("float16 RGB", &[("kind", "float16 RGB")]),
            ("uint8 RGBA", &[("kind", "uint8 RGBA")]),
        ],
    },
    Table {
        name: "resize",
        files: &[
            "bench/samples/resize-gl-h200.json",
            "bench/samples/resize-wgpu-h200.json",
            "bench/samples/resize-external-upload-gl-h200.json",
            "bench/samples/resize-external-upload-wgpu-h200.json",
        ],
        scale: 1.0,
        head: "path",
        columns: &[
            column("resize", RESIZED, &[("of", "open_ms")]),
            column("first frame", FIRST, &[("of", "alone_ms")]),
            column("opening again", OPENED, &[]),
        ],
        rows: &[
            ("OpenGL, `direct`", &[("file", "~resize-gl")]),
            ("OpenGL, `external-upload`", &[("file", "~external-upload-gl")]),
            ("wgpu, `exported-texture`", &[("file", "~resize-wgpu")]),
            ("wgpu, `external-upload`", &[("file", "~external-upload-wgpu")]),
        ],
    },
    Table {
        name: "many",
        files: &["bench/samples/many-2cores.jsonl"],
        scale: 1.0,
        head: "links",
        columns: &[
            column("opening, ms", &[("of", "open_ms")], ONE_LINK),
            column("a frame, us", &[("of", "frame_us")], ONE_LINK),
            column("a resize, ms", &[("of", "resize_ms")], ONE_LINK),
        ],
        rows: &[
            ("by hand on OpenGL, 1", &[ON_ONE, BY_HAND, ("links", "1")]),
            ("by hand on OpenGL, 256", &[ON_ONE, BY_HAND, ("links", "256")]),
            ("threads to OpenGL, 1", &[ON_ONE, THREADS, ("links", "1")]),
            ("threads to OpenGL, 8", &[ON_ONE, THREADS, ("links", "8")]),
            ("threads to OpenGL, 64", &[ON_ONE, THREADS, ("links", "64")]),
            ("threads to OpenGL, 256", &[ON_ONE, THREADS, ("links", "256")]),
            ("OpenCL to Vulkan, 1", &[ON_ONE, OPENCL, ("links", "1")]),
            ("OpenCL to Vulkan, 256", &[ON_ONE, OPENCL, ("links", "256")]),
            ("WGSL to wgpu, 1", &[ON_ONE, WGSL, ("links", "1")]),
            ("WGSL to wgpu, 256", &[ON_ONE, WGSL, ("links", "256")]),
            ("threads to OpenGL, 1 display each, 1", &[ON_MANY, THREADS, ("links", "1")]),
            ("threads to OpenGL, 1 display each, 256", &[ON_MANY, THREADS, ("links", "256")]),
        ],
    },
    Table {
        name: "peers",
        files: &["integrations/net/benches/samples/peers-2cores.jsonl"],
        scale: 1e-3,
        head: "way",
        columns: &[
            column(
                "a picture is served",
                &[("of", "samples_us"), ("row", "~pixelferry, serve and view")],
                &[("row", "~Zenoh, put and subscribe")],
            ),
            column(
                "a tile is computed",
                &[("of", "samples_us"), ("row", "~pixelferry, tile and show")],
                &[("row", "~Zenoh, ask and answer")],
            ),
        ],
        rows: &[
            ("TCP", &[("part", "raw 1080p"), ("viewers", "1"), ("row", "~TCP")]),
            ("shared memory", &[("part", "raw 1080p"), ("viewers", "1"), ("row", "~shared memory")]),
        ],
    },
    Table {
        name: "browser",
        files: &["integrations/net/benches/samples/browser-2cores.jsonl"],
        scale: 1.0,
        head: "codec",
        columns: &[
            column("gateway", &[("what", "~gateway")], &[("what", "~bare page")]),
            column("bare page", &[("what", "~bare page")], &[]),
        ],
        rows: &[("none", &[("what", "~raw,")]), ("JPEG", &[("what", "~JPEG,")]), ("H.264", &[("what", "~H.264,")])],
    },
];
