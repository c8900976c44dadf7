//! Kernels of CUDA's in the queue of NVIDIA's Vulkan, on an NVIDIA GPU: `PIXELFERRY_GPU=1`. What backends there do alike; their suites have
//! this file.

use interop_core::{
    Arg, BufferView, ComputeBackend, ComputeMemory, Display, Error, Extent, ImageAccess, ImageDesc, ImageView, Kernel,
    KernelSource, Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc, Target, View,
};
use std::rc::Rc;
use std::sync::Arc;

/// All but what takes OpenCL's compiler or threads. `stranger`: of another device.
pub fn kernels_do_what_they_do_in_every_queue(backend: &dyn ComputeBackend, stranger: &dyn ComputeBackend) {
    pixels_of_every_size_in_any_view(backend);
    launches_keep_their_order_whatever_their_language(backend);
    what_is_dropped_early_harms_nothing(backend);
    what_cannot_run_here_is_refused_with_its_reason(backend, stranger);
}

pub fn cuda(name: &'static str, text: &'static str) -> KernelSource {
    // SAFETY: each kernel here checks its bounds and reads only what it is given.
    unsafe { KernelSource::new(name).cuda_cpp(text) }
}

pub const BYTES: &str = r#"
#ifndef PIXEL
#define PIXEL uchar4
#endif
extern "C" __global__ void bytes(PF_IMAGE(PIXEL, out), int seed) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out_width || y >= out_height) return;
  PIXEL pixel;
  unsigned char *p = (unsigned char *)&pixel;
  for (int i = 0; i < (int)sizeof(PIXEL); i++) p[i] = (unsigned char)(x * 7 + y * 13 + i * 31 + seed);
  PF_STORE(out, x, y, pixel);
}"#;

fn byte(x: u32, y: u32, i: usize, seed: i32) -> u8 {
    (x as i32 * 7 + y as i32 * 13 + i as i32 * 31 + seed) as u8
}

/// By each of these paths, none waited for. `each` is what becomes of a frame, and `seen` gives pixels of four bytes, of which the first
/// `channels` are compared.
pub fn frames_are_as_they_were_written(
    (backend, display): (Arc<dyn ComputeBackend>, Rc<dyn Display>),
    paths: &[(PathId, ImageAccess)],
    channels: usize,
    each: impl Fn(&mut Link, i32),
    seen: impl Fn(&mut Link) -> Vec<u8>,
) {
    let kernel = backend.build(&cuda("bytes", BYTES)).unwrap();
    let (width, height) = (321, 123);
    for (path, access) in paths {
        let desc = SurfaceDesc::Image(ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(*access));
        let options = LinkOptions::new(Policy::default().with_force(*path));
        let mut link = Link::open(Arc::clone(&backend), Rc::clone(&display), desc, options).unwrap();
        for seed in 0..80 {
            link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::I32(seed)])).unwrap();
            each(&mut link, seed);
            if seed % 8 == 7 {
                let found = seen(&mut link);
                for (x, y) in [(0, 0), (320, 0), (0, 122), (320, 122), (160, 61)] {
                    let wanted: Vec<u8> = (0..channels).map(|i| byte(x, y, i, seed)).collect();
                    let at = (y * width + x) as usize * 4;
                    assert_eq!(found[at..at + channels], wanted[..], "{path}, frame {seed}, pixel {x}, {y}");
                }
            }
        }
    }
}

fn pixels_of_every_size_in_any_view(backend: &dyn ComputeBackend) {
    for format in PixelFormat::ALL {
        let bytes = format.bytes_per_pixel();
        let pixel = ["uchar1", "uchar2", "uchar4", "uint2", "uint4"][bytes.trailing_zeros() as usize];
        let text: &'static str = format!("#define PIXEL {pixel}\n{BYTES}").leak();
        let kernel = backend.build(&cuda("bytes", text)).unwrap();
        for (reversed, alignment) in [(false, 1), (true, 64), (true, 256), (false, 256)] {
            let extent = Extent::new(101, 37);
            let view = ImageView::packed(extent, format, alignment, 16 * bytes, reversed).unwrap();
            let mut memory = backend.allocate(view.span().end + 5).unwrap();
            memory.write(0, &vec![0xA5; view.span().end + 5]).unwrap();
            let target = Target::new(memory.as_mut(), View::Image(view)).unwrap();
            backend.launch(kernel.as_ref(), target, &[Arg::I32(9)]).unwrap();
            let mut found = vec![0; memory.len()];
            memory.read(0, &mut found).unwrap();
            let mut wanted = vec![0xA5; found.len()];
            for y in 0..extent.height {
                for x in 0..extent.width {
                    let at = view.row_start(y) + x as usize * bytes;
                    for i in 0..bytes {
                        wanted[at + i] = byte(x, y, i, 9);
                    }
                }
            }
            let wrong = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
            assert_eq!(wrong, None, "{format}, reversed {reversed}, pitch of {alignment}");
        }
    }
}

const STEP: &str = r#"
extern "C" __global__ void step(PF_BUFFER(int, out), const int *from, int add, double ignored, long long wide) {
  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  if (i < PF_LEN(out)) PF_ITEM(out, i) = from[i] + add + (int)wide;
}"#;

const TWICE: &str = "
@group(1) @binding(0) var<storage, read> numbers: array<i32>;
@compute @workgroup_size(64)
fn twice(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = pf_index(id);
  if (i < pf_items()) { pf_put(i, bitcast<u32>(numbers[i] * 2)); }
}";

/// Launches of both languages, copies and writes follow one another, and none is waited for.
fn launches_keep_their_order_whatever_their_language(backend: &dyn ComputeBackend) {
    const COUNT: usize = 100_003;
    let (step, twice) =
        (backend.build(&cuda("step", STEP)).unwrap(), backend.build(&KernelSource::new("twice").wgsl(TWICE)).unwrap());
    let make = || backend.allocate(4 * COUNT + 16).unwrap();
    let (mut a, mut b) = (make(), make());
    a.write(0, &vec![0; 4 * COUNT + 16]).unwrap();
    let view = View::Buffer(BufferView { offset: 0, len: 4 * COUNT });
    let mut expected = 0_i32;
    for round in 0..60 {
        let args = [Arg::Memory(a.as_ref()), Arg::I32(round), Arg::F64(0.5), Arg::I64(3)];
        backend.launch(step.as_ref(), Target::new(b.as_mut(), view).unwrap(), &args).unwrap();
        expected = expected.wrapping_add(round + 3);
        backend.launch(twice.as_ref(), Target::new(a.as_mut(), view).unwrap(), &[Arg::Memory(b.as_ref())]).unwrap();
        expected = expected.wrapping_mul(2);
        if round % 7 == 3 {
            backend.copy(a.as_ref(), b.as_mut(), 0..4 * COUNT).unwrap();
            std::mem::swap(&mut a, &mut b);
        }
        if round % 10 == 9 {
            let mut word = [0; 4];
            a.read(4 * (COUNT - 1), &mut word).unwrap();
            assert_eq!(i32::from_ne_bytes(word), expected, "round {round}");
            expected = 1;
            a.write(0, &1_i32.to_ne_bytes().repeat(COUNT)).unwrap();
        }
    }
    let mut found = vec![0; 4 * COUNT];
    a.read(0, &mut found).unwrap();
    assert!(found.chunks(4).all(|word| i32::from_ne_bytes(word.try_into().unwrap()) == expected));
}

const OPENCL: &str = r#"
__kernel void mixed(PF_IMAGE(uchar4, out), __global const int *add, int seed, float part) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= out_width || y >= out_height) return;
  int n = x * 7 + y * 13 + seed + add[x % 8] + (int)(part * 4.0f);
  PF_STORE(out, x, y, (uchar4)(n, n + 31, n + 62, n + 93));
}"#;

/// A kernel in OpenCL C, unchanged.
pub fn opencl_c_runs_in_the_same_queue(backend: &dyn ComputeBackend) {
    // SAFETY: it checks its bounds and reads only what it is given.
    let source = |name: &'static str, text: &'static str| unsafe { KernelSource::new(name).opencl_c(text) };
    let kernel = backend.build(&source("mixed", OPENCL)).unwrap();
    let mut add = backend.allocate(32).unwrap();
    add.write(0, &(0..8_i32).flat_map(|n| (n * 3).to_ne_bytes()).collect::<Vec<u8>>()).unwrap();
    for reversed in [false, true] {
        let (extent, args) = (Extent::new(211, 67), [Arg::Memory(add.as_ref()), Arg::I32(5), Arg::F32(0.5)]);
        let view = ImageView::packed(extent, PixelFormat::Rgba8, 256, 64, reversed).unwrap();
        let mut memory = backend.allocate(view.span().end).unwrap();
        let target = Target::new(memory.as_mut(), View::Image(view)).unwrap();
        backend.launch(kernel.as_ref(), target, &args).unwrap();
        let mut found = vec![0; memory.len()];
        memory.read(0, &mut found).unwrap();
        for y in 0..extent.height {
            for x in 0..extent.width {
                let at = view.row_start(y) + x as usize * 4;
                let wanted: Vec<u8> = (0..4).map(|i| byte(x, y, i, 5 + (x % 8) as i32 * 3 + 2)).collect();
                assert_eq!(found[at..at + 4], wanted[..], "reversed {reversed}, pixel {x}, {y}");
            }
        }
    }
    let image = "const sampler_t s = CLK_FILTER_NEAREST; PF_STORE(out, 0, 0, convert_uchar4(read_imageui(i, s, (int2)(0, 0))));";
    let store = |value: &str| format!("PF_STORE(out, 0, 0, (uchar4)({value}));");
    // (what stands before the name, parameters, body, what is said; nothing where either will do)
    let rows = [
        ("", "", "nothing();".to_owned(), "nothing"),
        ("", ", __local int *l", store("l[0]"), "local memory"),
        ("__attribute__((reqd_work_group_size(8, 8, 1)))", "", store("1"), "a size of blocks"),
        ("", ", read_only image2d_t i", image.to_owned(), ""),
        ("", "", "printf(\"%d\", out_width);".to_owned(), "printf"),
        ("", "", store("get_work_dim()"), "envreg"),
        ("", "", store("get_local_id(0)"), ""),
        ("", "", store("get_local_size(0)"), ""),
        ("", "", store("get_group_id(0)"), ""),
        ("", "", store("get_num_groups(0)"), ""),
        ("", "", store("get_global_size(0)"), ""),
        ("", "", store("get_global_offset(0)"), ""),
    ];
    for (before, parameters, body, said) in rows {
        let text: &'static str =
            format!("__kernel {before} void k(PF_IMAGE(uchar4, out){parameters}) {{ {body} }}").leak();
        let error = backend.build(&source("k", text)).err().map(|error| error.to_string());
        println!("{text}: {error:?}");
        assert!(said.is_empty() || error.is_some_and(|error| error.contains(said)), "{text}");
    }
}

const SLOW: &str = r#"
extern "C" __global__ void slow(PF_BUFFER(unsigned, out), unsigned value) {
  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  unsigned n = value;
  for (int k = 0; k < 20000; k++) n = n * 1664525u + 1013904223u;
  if (i < PF_LEN(out)) PF_ITEM(out, i) = n ? value : value + 1;
}"#;

/// Memory and kernels that go while launches run: nothing of others is written.
fn what_is_dropped_early_harms_nothing(backend: &dyn ComputeBackend) {
    const BYTES: usize = 4 << 20;
    for round in 1..100_u32 {
        let kernel: Arc<dyn Kernel> = backend.build(&cuda("slow", SLOW)).unwrap();
        let mut gone = backend.allocate(BYTES).unwrap();
        backend.launch(kernel.as_ref(), Target::buffer(gone.as_mut()), &[Arg::U32(round)]).unwrap();
        drop(gone);
        let mut next = backend.allocate(BYTES).unwrap();
        let mut found = vec![1; BYTES];
        if round % 2 == 0 {
            drop(kernel);
        }
        next.read(0, &mut found).unwrap();
        assert!(found.iter().all(|byte| *byte == 0), "round {round}: new memory is not zero");
    }
}

/// Backends that are opened, build, launch and go on several threads at once: a deadlock of the driver's did so once.
pub fn threads_build_beside_one_another<B: ComputeBackend>(open: impl Fn() -> B + Sync) {
    let round = || {
        let backend = open();
        for seed in 0..3 {
            let kernel = backend.build(&cuda("bytes", BYTES)).unwrap();
            let mut memory = backend.allocate(64).unwrap();
            let target = Target::image(memory.as_mut(), Extent::new(4, 4), PixelFormat::Rgba8).unwrap();
            backend.launch(kernel.as_ref(), target, &[Arg::I32(seed)]).unwrap();
            let mut found = [0; 64];
            memory.read(0, &mut found).unwrap();
            assert_eq!(found[21], byte(1, 1, 1, seed));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..3).for_each(|_| round()));
        }
    });
}

fn what_cannot_run_here_is_refused_with_its_reason(backend: &dyn ComputeBackend, stranger: &dyn ComputeBackend) {
    let refused = |source: &KernelSource| backend.build(source).err().unwrap().to_string();
    let said = refused(&cuda("wrong", "extern \"C\" __global__ void wrong(PF_IMAGE(uchar4, out)) { nothing(); }"));
    assert!(said.contains("kernel.cu") && said.contains("nothing"), "{said}");
    let print = r#"extern "C" __global__ void print(PF_IMAGE(uchar4, out)) { printf("%d", out_width); }"#;
    let said = refused(&cuda("print", print));
    assert!(said.contains("printf"), "{said}");
    // SAFETY: never launched.
    let said = refused(&unsafe {
        KernelSource::new("bad").ptx(".version 8.0\n.target sm_50\n.address_size 64\n.visible .entry bad(.param .u64 a, .param .u64 b) { nonsense; }")
    });
    println!("{said}");
    let kernel = backend.build(&cuda("bytes", BYTES)).unwrap();
    let mut memory = backend.allocate(64).unwrap();
    let launch = |memory: &mut dyn ComputeMemory, args: &[Arg<'_>]| {
        let target = Target::image(memory, Extent::new(4, 4), PixelFormat::Rgba8).unwrap();
        backend.launch(kernel.as_ref(), target, args)
    };
    for args in [&[][..], &[Arg::F32(1.0)], &[Arg::I32(1), Arg::I32(2)]] {
        assert!(matches!(launch(memory.as_mut(), args), Err(Error::InvalidInput { .. })));
    }
    let mut theirs = stranger.allocate(64).unwrap();
    assert!(matches!(launch(theirs.as_mut(), &[Arg::I32(1)]), Err(Error::Foreign { .. })));
    launch(memory.as_mut(), &[Arg::I32(1)]).unwrap();
}
