//! Parameters of types that the driver does not tell of: only values that fit them reach it.

use crate::suite::{build, vouched};
use interop_core::{Error, Result};
use pixelferry_opencl::{
    AddressSpace, Addressing, Arg, Buffer, ChannelOrder, ChannelType, Context, Device, Filter, Image, ImageFormat,
    ImageSize, Kernel, MemFlags, Object, Param, Program, Queue, Sampler,
};

/// The launch is refused, in words that contain `word`.
#[track_caller]
fn refused(queue: &Queue, kernel: &Kernel, args: &[Arg<'_>], word: &str) {
    super::refused(queue.launch(kernel, args, [1], &[]), &[word]);
}

const OWN: &str = "
    typedef float real; typedef struct { float a; int b[7]; } list; struct pair { short a, b; };
    typedef enum { RED, BLUE } colour; typedef union { float f; int i[2]; } either; typedef float4 place;
    __kernel void k(__global float *a, real r, list l, struct pair p, colour c, either e, place x, const list m) {
      a[0] = r; a[1] = l.b[6]; a[2] = p.b; a[3] = c; a[4] = e.f; a[5] = x.w; a[6] = m.a;
    }";

/// A driver need not check the size of such types. PoCL 3.1 lets kernels read behind values that are too short, and ends the
/// process at one of no bytes.
pub fn own(queue: &Queue) -> Result<()> {
    let kernel = build(queue, OWN)?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 28)?;
    let (mut list, pair, either, place) = ([0f32; 8], [3i16, 4], [0.5f32, 0.0], [6f32; 4]);
    (list[0], list[7]) = (1.0, f32::from_bits(9));
    let args = [
        Arg::from(&buffer),
        Arg::from(2.5f32),
        Arg::value(&list),
        Arg::value(&pair),
        Arg::from(1u32),
        Arg::value(&either),
        Arg::value(&place),
        Arg::value(&list),
    ];
    queue.launch(&kernel, &args, [1], &[])?;
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, [2.5, 9.0, 4.0, 1.0, 0.5, 6.0, 1.0]);
    for (index, wrong, word) in [
        (1, Arg::from(2.5f64), "4 bytes"),
        (2, Arg::value(&[0f32; 7]), "32 bytes"),
        (2, Arg::from(1u64), "32 bytes"),
        (2, Arg::value(&()), "at least 1 byte"),
        (3, Arg::from(1u64), "4 bytes"),
        (5, Arg::from(1u32), "8 bytes"),
        (6, Arg::value(&[0f32; 3]), "16 bytes"),
        (7, Arg::value(&[0f32; 9]), "32 bytes"),
    ] {
        let mut args = args;
        args[index] = wrong;
        refused(queue, &kernel, &args, word);
    }
    // A wrong value that comes first is told the size, too.
    let fresh = build(queue, OWN)?;
    let mut wrong = args;
    wrong[2] = Arg::from(1u64);
    refused(queue, &fresh, &wrong, "32 bytes");
    queue.launch(&fresh, &args, [1], &[])?.wait()
}

/// The types of an object that is linked, by a header of its own.
pub fn linked(queue: &Queue) -> Result<()> {
    let header = "typedef struct { int n; float v[3]; } from_header;";
    let source = "#include \"types.h\"\n__kernel void k(__global float *a, from_header h) { a[0] = h.v[1] + h.n; }";
    let object = Object::compile(queue.context(), source, "", &[("types.h", header)])?;
    // SAFETY: the kernel writes a number that there is.
    let kernel = unsafe { Program::link(queue.context(), &[&object], "") }?.kernel("k")?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 4)?;
    let value = [f32::from_bits(2), 0.0, 6.0, 0.0];
    queue.launch(&kernel, &[Arg::from(&buffer), Arg::value(&value)], [1], &[])?;
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, [8.0]);
    refused(queue, &kernel, &[Arg::from(&buffer), Arg::from(1u64)], "16 bytes");
    Ok(())
}

/// Samplers and images are given no bytes, whatever they are called. PoCL 3.1 takes the bytes for an address.
pub fn disguised(queue: &Queue) -> Result<()> {
    // NVIDIA's compiler refuses a second access qualifier, and takes the name of an image's type for read-only.
    let text = |image: &str, sampler: &str| {
        format!(
            "typedef sampler_t mine; typedef image2d_t picture;
             __kernel void k(__global float *a, {image} p, {sampler} s) {{
               a[0] = read_imagef(p, s, (float2)(0.5f)).x;
             }}"
        )
    };
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Float);
    let pixel = |size| Image::with_data(queue.context(), MemFlags::READ_ONLY, format, size, &[[7f32; 4]]);
    let (picture, volume) = (pixel(ImageSize::D2(1, 1))?, pixel(ImageSize::D3(1, 1, 1))?);
    let sampler = Sampler::new(queue.context(), false, Addressing::ClampToEdge, Filter::Nearest)?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 4)?;
    let (a, p, s) = (Arg::from(&buffer), Arg::from(&picture), Arg::from(&sampler));
    let word = Arg::from(0x4141_4141_4141_4141u64);
    let kernel = build(queue, &text("__read_only image2d_t", "sampler_t"))?;
    queue.launch(&kernel, &[a, p, s], [1], &[])?;
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, [7.0]);
    refused(queue, &kernel, &[a, p, word], "a sampler");
    refused(queue, &kernel, &[a, a, s], "an image");
    let named = build(queue, &text("__read_only image2d_t", "mine"))?;
    refused(queue, &named, &[a, p, word], "plain value");
    refused(queue, &named, &[a, p, Arg::value(&[0u8; 8])], "sampler_t");
    let named = build(queue, &text("picture", "sampler_t"))?;
    for wrong in [a, p] {
        refused(queue, &named, &[a, wrong, s], "declare images by their own type");
    }
    let flat = "__kernel void k(__global float *a, __read_only image2d_t p) { a[0] = get_image_width(p); }";
    refused(queue, &build(queue, flat)?, &[a, Arg::from(&volume)], "image3d_t");
    Ok(())
}

/// Kernels of binaries have parameters, whatever the driver tells of them: PoCL 3.1 tells nothing, and takes a number for a
/// buffer's address.
pub fn of_binaries(queue: &Queue) -> Result<()> {
    let source = "typedef struct { float by[3]; } steps;
                  __kernel void k(__global float *a, steps s, float2 v) { a[0] = s.by[2] + v.y; }";
    let program = vouched(queue.context(), source, "")?;
    let reloaded = |binaries: &[(Device, Vec<u8>)]| -> Result<Program> {
        let context: &Context = queue.context();
        // SAFETY: what the program above gave, unchanged.
        unsafe { Program::from_binaries(context, binaries, "") }
    };
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 4)?;
    let (a, s, v) = (Arg::from(&buffer), Arg::value(&[1f32, 2.0, 3.0]), Arg::value(&[0f32, 4.0]));
    let checked = |kernel: &Kernel| {
        queue.launch(kernel, &[a, s, v], [1], &[])?;
        assert_eq!(queue.read_all::<f32>(&buffer, &[])?, [7.0]);
        refused(queue, kernel, &[Arg::from(0x4141_4141u64), s, v], "'a'");
        refused(queue, kernel, &[a, Arg::from(0u64), v], "12 bytes");
        refused(queue, kernel, &[a, s, Arg::from(0f32)], "8 bytes");
        Ok::<_, Error>(())
    };
    let kernel = reloaded(&program.binaries()?)?.kernel("k")?;
    checked(&kernel)?;
    checked(&kernel.duplicate()?)?;
    // The driver's own bytes come without a record.
    let program = match reloaded(&program.driver_binaries()?) {
        Err(Error::Unsupported { .. }) if queue.device().platform().name()? == "rusticl" => return Ok(()),
        program => program?,
    };
    let kernel = program.kernel("k")?;
    if kernel.params().is_none() {
        refused(queue, &kernel, &[a, s, v], "Kernel::with_params");
    }
    let stated = [
        Param::declare("a", "float*", AddressSpace::Global),
        Param::declare("s", "steps", AddressSpace::Private).with_bytes(12),
        Param::declare("v", "float2", AddressSpace::Private),
    ];
    // SAFETY: those of the source above; the shorter list is refused.
    let (whole, short) = unsafe { (kernel.clone().with_params(&stated), kernel.with_params(&stated[1..])) };
    assert!(matches!(short, Err(Error::InvalidInput { .. })));
    checked(&whole?)
}
