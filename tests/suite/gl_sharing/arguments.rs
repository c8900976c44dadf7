//! GL objects as arguments of kernels that were written for them, by `opencl_backend::cl`.

use super::rig::open;
use pixelferry::api::gl::GlDisplay;
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::api::opencl::cl::{
    Arg, Buffer, Context, ContextOptions, Device, GlMemory, GlObject, Image, ImageFormat, ImageType, MemFlags, Program,
    Queue, UserEvent,
};
use pixelferry::api::opencl::{GlAccess, OpenClBackend};
use pixelferry::driver::SharedHandle;
use pixelferry::{
    Arg as BackendArg, ComputeBackend, ComputeMemory, Display, Error, ImageDesc, KernelSource, PixelFormat,
    QueueOptions, Result, SurfaceDesc, Target,
};
use std::sync::Arc;
use std::time::Duration;

/// The tutorial of `cl.GLBuffer`: points of the host, of which the kernel makes vertices.
const TUTORIAL: &str = "__kernel void clkernel(__global float2 *clpos, __global float2 *glpos) {
    unsigned int i = get_global_id(0);
    glpos[i].x = clpos[i].x;
    glpos[i].y = 0.5f * sin(10.0f * clpos[i].x);
}";

/// The sample of surface sharing: a box of 2 x 2 pixels at the origin; nothing else is written.
const DRAW_BOX: &str = "__kernel void drawBox(__write_only image2d_t output, float fDimmerSwitch) {
    int x = get_global_id(0), y = get_global_id(1);
    int xMin = 0, xMax = 1, yMin = 0, yMax = 1;
    if (x >= xMin && x <= xMax && y >= yMin && y <= yMax)
        write_imagef(output, (int2)(x, y), (float4)(0.f, 0.f, fDimmerSwitch, 1.f));
}";

/// Kernel that copies OpenGL's rendering as brightness.
const BRIGHTNESS: &str =
    "__constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__kernel void brightness(__read_only image2d_t scene, __global float *to) {
    int x = get_global_id(0), y = get_global_id(1);
    float4 c = read_imagef(scene, s, (int2)(x, y));
    to[y * get_global_size(0) + x] = c.x + 2 * c.y + 4 * c.z;
}";

struct Rig {
    display: Arc<GlDisplay>,
    backend: Arc<OpenClBackend>,
    context: Context,
    queue: Queue,
}

impl Rig {
    /// A context of the program's own, which shares with the display's.
    fn new() -> Option<Self> {
        let (backend, display) = open()?;
        let gl = display.hold_gl().unwrap();
        let devices = Device::all_sharing_gl(gl.as_ref()).unwrap();
        let drawing = Device::drawing_gl(gl.as_ref()).unwrap().expect("the layer names one");
        assert!(devices[0].is(&drawing), "{drawing:?} in {devices:?}");
        let options = ContextOptions::new().share_gl(gl);
        let context = Context::with_options(&devices[..1], options).unwrap();
        assert!(context.shares_gl());
        let queue = Queue::new(&context).unwrap();
        Some(Self { display, backend, context, queue })
    }

    fn kernel(&self, text: &str) -> pixelferry::api::opencl::cl::Kernel {
        // SAFETY: the kernels of this file, launched with memory of as many elements as there are items.
        let program = unsafe { Program::build(&self.context, text, "") }.unwrap();
        program.kernels().unwrap().swap_remove(0)
    }

    fn gl(&self) -> &glow::Context {
        self.display.gl()
    }

    /// A buffer with these bytes.
    fn vbo(&self, bytes: &[u8]) -> glow::Buffer {
        // SAFETY: the display's context is current, here and below.
        unsafe {
            let name = self.gl().create_buffer().unwrap();
            self.gl().bind_buffer(glow::ARRAY_BUFFER, Some(name));
            self.gl().buffer_data_u8_slice(glow::ARRAY_BUFFER, bytes, glow::DYNAMIC_DRAW);
            name
        }
    }

    fn vbo_bytes(&self, name: glow::Buffer, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        // SAFETY: as above; the buffer has so many bytes.
        unsafe {
            self.gl().bind_buffer(glow::ARRAY_BUFFER, Some(name));
            self.gl().get_buffer_sub_data(glow::ARRAY_BUFFER, 0, &mut bytes);
        }
        bytes
    }

    /// A texture of 4 x 4 pixels of RGBA8, all of one colour.
    fn texture(&self, colour: [u8; 4]) -> glow::Texture {
        // SAFETY: as above; the pixels are as many as said.
        unsafe {
            let gl = self.gl();
            let name = gl.create_texture().unwrap();
            gl.bind_texture(glow::TEXTURE_2D, Some(name));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, 4, 4);
            let pixels = colour.repeat(16);
            let (format, kind) = (glow::RGBA, glow::UNSIGNED_BYTE);
            let pixels = glow::PixelUnpackData::Slice(Some(&pixels));
            gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, 4, 4, format, kind, pixels);
            name
        }
    }

    fn pixels(&self, name: glow::Texture) -> Vec<[u8; 4]> {
        let mut bytes = vec![0; 64];
        // SAFETY: as above.
        unsafe {
            self.gl().bind_texture(glow::TEXTURE_2D, Some(name));
            let pixels = glow::PixelPackData::Slice(Some(&mut bytes));
            self.gl().get_tex_image(glow::TEXTURE_2D, 0, glow::RGBA, glow::UNSIGNED_BYTE, pixels);
        }
        bytes.chunks_exact(4).map(|p| p.try_into().unwrap()).collect()
    }

    /// OpenGL renders: the left half of the texture in one colour, the right half in another.
    fn render(&self, name: glow::Texture, left: [f32; 4], right: [f32; 4]) {
        // SAFETY: as above.
        unsafe {
            let gl = self.gl();
            let target = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D, Some(name), 0);
            gl.enable(glow::SCISSOR_TEST);
            for (x, [r, g, b, a]) in [(0, left), (2, right)] {
                gl.scissor(x, 0, 2, 4);
                gl.clear_color(r, g, b, a);
                gl.clear(glow::COLOR_BUFFER_BIT);
            }
            gl.disable(glow::SCISSOR_TEST);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.delete_framebuffer(target);
        }
    }
}

fn object(texture: glow::Texture) -> GlObject {
    GlObject::Texture { target: glow::TEXTURE_2D, level: 0, name: texture.0.get() }
}

fn refused<T>(result: Result<T>, word: &str) {
    match result.map(drop) {
        Err(Error::InvalidInput { problem, .. }) if problem.contains(word) => {}
        other => panic!("expected a refusal with '{word}', got {other:?}"),
    }
}

/// The tutorial as it stands: its own kernel, its own buffer of OpenGL's, an array of the host.
#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_tutorial() {
    let Some(rig) = Rig::new() else { return };
    let points: Vec<[f32; 2]> = (0..1000).map(|i| [i as f32 / 500.0 - 1.0, 0.0]).collect();
    let name = rig.vbo(&[0; 8000]);
    let clpos = Buffer::with_data(&rig.context, MemFlags::READ_ONLY, &points).unwrap();
    let glpos = Buffer::from_gl(&rig.context, MemFlags::READ_WRITE, name.0.get()).unwrap();
    assert_eq!((glpos.len(), GlMemory::from(&glpos).object().unwrap()), (8000, (0x2000, name.0.get())));
    let kernel = rig.kernel(TUTORIAL);
    let queue = &rig.queue;
    for _ in 0..3 {
        queue.acquire_gl(&[GlMemory::from(&glpos)], &[]).unwrap();
        queue.launch(&kernel, &[Arg::from(&clpos), Arg::from(&glpos)], [points.len()], &[]).unwrap();
        queue.release_gl(&[GlMemory::from(&glpos)], &[]).unwrap().wait().unwrap();
        let bytes = rig.vbo_bytes(name, 8000);
        for (point, found) in points.iter().zip(bytes.chunks_exact(8)) {
            let [x, y] = [0, 4].map(|at| f32::from_ne_bytes(found[at..at + 4].try_into().unwrap()));
            assert_eq!(x, point[0]);
            assert!((y - 0.5 * (10.0 * x).sin()).abs() < 1e-5, "{x}: {y}");
        }
    }
    // The same buffer, shared by the backend, in the backend's context.
    let mut shared = rig.backend.share_gl(GlObject::Buffer { name: name.0.get() }, GlAccess::ReadWrite).unwrap();
    let queue = rig.backend.cl_queue().unwrap();
    // SAFETY: each item writes its own number, and there are as many as numbers.
    let program = unsafe {
        Program::build(queue.context(), "__kernel void half_of(__global float *a) { a[get_global_id(0)] *= 0.5f; }", "")
    };
    let half = program.unwrap().kernel("half_of").unwrap();
    let buffer = shared.buffer().unwrap().clone();
    assert!(shared.image().is_none());
    refused(queue.launch(&half, &[Arg::from(&buffer)], [2000], &[]), "acquire");
    shared.acquire().unwrap();
    queue.launch(&half, &[Arg::from(&buffer)], [2000], &[]).unwrap();
    shared.release().unwrap();
    refused(queue.launch(&half, &[Arg::from(&buffer)], [2000], &[]), "acquire");
    let bytes = rig.vbo_bytes(name, 8);
    assert_eq!(f32::from_ne_bytes(bytes[..4].try_into().unwrap()), -0.5);
    println!("ALL DONE");
}

/// The sample as it stands on a texture, and OpenCL on what OpenGL has rendered.
#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_textures() {
    let Some(rig) = Rig::new() else { return };
    let (queue, red) = (&rig.queue, [255u8, 0, 0, 255]);
    let texture = rig.texture(red);
    let image = Image::from_gl(&rig.context, MemFlags::READ_WRITE, object(texture)).unwrap();
    assert_eq!((image.image_type(), image.region(), image.pixel_size()), (ImageType::D2, [4, 4, 1], 4));
    assert_eq!(image.format(), ImageFormat::of::<[u8; 4]>().normalized().unwrap());
    assert_eq!(GlMemory::from(&image).object().unwrap(), (0x2001, texture.0.get()));
    let draw_box = rig.kernel(DRAW_BOX);
    for dimmer in [0.0f32, 0.4, 1.0] {
        queue.acquire_gl(&[GlMemory::from(&image)], &[]).unwrap();
        queue.launch(&draw_box, &[Arg::from(&image), Arg::from(dimmer)], [4, 4], &[]).unwrap();
        queue.release_gl(&[GlMemory::from(&image)], &[]).unwrap().wait().unwrap();
        let blue = [0, 0, (dimmer * 255.0).round() as u8, 255];
        for (i, pixel) in rig.pixels(texture).into_iter().enumerate() {
            assert_eq!(pixel, if i % 4 < 2 && i / 4 < 2 { blue } else { red }, "pixel {i}, {dimmer}");
        }
    }

    // From OpenGL to OpenCL: each time OpenGL has drawn something else.
    let brightness = rig.kernel(BRIGHTNESS);
    let to = Buffer::new(&rig.context, MemFlags::READ_WRITE, 64).unwrap();
    for (left, right, wants) in [
        ([1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [1.0f32, 2.0]),
        ([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [4.0, 7.0]),
    ] {
        rig.render(texture, left, right);
        queue.acquire_gl(&[GlMemory::from(&image)], &[]).unwrap();
        queue.launch(&brightness, &[Arg::from(&image), Arg::from(&to)], [4, 4], &[]).unwrap();
        queue.release_gl(&[GlMemory::from(&image)], &[]).unwrap();
        let values = queue.read_all::<f32>(&to, &[]).unwrap();
        for (i, value) in values.iter().enumerate() {
            assert_eq!(*value, wants[i % 4 / 2], "{i}: {values:?}");
        }
    }

    // The framework's own level: an imported texture as an argument of the framework's own kernel.
    let source = "__kernel void brightness(PF_BUFFER(float, out), __read_only image2d_t scene, float scale) {
        size_t i = get_global_id(0);
        if (i >= PF_LEN(out)) return;
        float4 c = read_imagef(scene, (int2)(i % 4, i / 4));
        PF_ITEM(out, i) = scale * (c.x + 2 * c.y + 4 * c.z);
    }";
    // SAFETY: each item writes its own number, below the length, and reads a pixel of the image, whose sides are 4.
    let kernel = rig.backend.build(&unsafe { KernelSource::new("brightness").opencl_c(source) }).unwrap();
    let desc = SurfaceDesc::Image(ImageDesc::new(4, 4, PixelFormat::Rgba8));
    let handle = SharedHandle::GlTexture { name: texture.0.get(), target: glow::TEXTURE_2D };
    let mut scene = rig.backend.import_surface(&handle, &desc).unwrap();
    let mut out = rig.backend.allocate(64).unwrap();
    let launch = |out: &mut dyn ComputeMemory, scene: &dyn ComputeMemory| {
        rig.backend.launch(kernel.as_ref(), Target::buffer(out), &[BackendArg::Memory(scene), BackendArg::F32(10.0)])
    };
    refused(launch(out.as_mut(), scene.as_ref()), "acquire");
    rig.render(texture, [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0]);
    scene.acquire().unwrap();
    launch(out.as_mut(), scene.as_ref()).unwrap();
    scene.release().unwrap();
    let mut bytes = [0; 64];
    out.read(0, &mut bytes).unwrap();
    let value = |i: usize| f32::from_ne_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap());
    assert_eq!([value(0), value(1), value(2), value(15)], [10.0, 10.0, 40.0, 40.0]);
    // Arguments that are no image, and an image for a pointer.
    let linear = rig.backend.allocate(64).unwrap();
    refused(launch(out.as_mut(), linear.as_ref()), "image2d_t");
    let source = "__kernel void copy(PF_BUFFER(float, out), __global const float *from) {
        if (get_global_id(0) < PF_LEN(out)) PF_ITEM(out, get_global_id(0)) = from[get_global_id(0)];
    }";
    // SAFETY: each item writes its own number, below the length; it is not launched.
    let kernel = rig.backend.build(&unsafe { KernelSource::new("copy").opencl_c(source) }).unwrap();
    let args = [BackendArg::Memory(scene.as_ref())];
    refused(rig.backend.launch(kernel.as_ref(), Target::buffer(out.as_mut()), &args), "image2d_t");
    let queue = rig.backend.queue(QueueOptions::in_order()).unwrap();
    refused(queue.launch(kernel.as_ref(), Target::buffer(out.as_mut()), &args, &[]), "copy it to linear memory");
    println!("ALL DONE");
}

/// Lists, and everything that must be refused outside a turn, in the wrong order, or of what is no GL object.
#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_lists() {
    let Some(rig) = Rig::new() else { return };
    let (queue, context) = (&rig.queue, &rig.context);
    let (first, second) = (rig.vbo(&[1; 64]), rig.vbo(&[2; 64]));
    let texture = rig.texture([9; 4]);
    // SAFETY: the display's context is current.
    let renderbuffer = unsafe {
        let name = rig.gl().create_renderbuffer().unwrap();
        rig.gl().bind_renderbuffer(glow::RENDERBUFFER, Some(name));
        rig.gl().renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, 4, 4);
        name
    };
    let buffer = |name: glow::Buffer| Buffer::from_gl(context, MemFlags::READ_WRITE, name.0.get()).unwrap();
    let (a, b) = (buffer(first), buffer(second));
    let image = Image::from_gl(context, MemFlags::READ_WRITE, object(texture)).unwrap();
    let target = GlObject::Renderbuffer { name: renderbuffer.0.get() };
    let target = Image::from_gl(context, MemFlags::READ_WRITE, target).unwrap();
    let all = [GlMemory::from(&a), GlMemory::from(&b), GlMemory::from(&image), GlMemory::from(&target)];
    let plain = Buffer::with_data(context, MemFlags::READ_WRITE, &[5u8; 64]).unwrap();

    let outside = || {
        assert!(all.iter().all(|object| !object.is_acquired()));
        refused(queue.read::<u8>(&a, 0, 64, &[]), "acquire");
        refused(queue.write(&a, 0, vec![0u8; 64], &[]), "acquire");
        refused(queue.copy((&plain, 0), (&b, 0), 64, &[]), "acquire");
        refused(queue.copy((&b, 0), (&plain, 0), 64, &[]), "acquire");
        refused(queue.fill(&a, 0u8, 0..64, &[]), "acquire");
        refused(queue.map_read::<u8>(&a, 0..64, &[]), "acquire");
        refused(queue.map_write::<u8>(&a, 0..64, &[]), "acquire");
        refused(queue.native(&[&a], |_| {}, &[]).map(drop), "acquire");
        refused(queue.read_image::<u8>(&image, &image.whole(), &[]), "acquire");
        refused(queue.write_image(&target, &target.whole(), vec![0u8; 64], &[]), "acquire");
        refused(queue.copy_image((&image, &image.whole()), (&target, [0; 3]), &[]), "acquire");
        let part = a.part(MemFlags::NONE, 0..32).unwrap();
        refused(queue.read::<u8>(&part, 0, 32, &[]), "acquire");
        refused(queue.release_gl(&all, &[]), "acquire");
    };
    outside();
    refused(queue.acquire_gl(&[], &[]), "no object");
    refused(queue.acquire_gl(&[all[0], all[1], all[0]], &[]), "overlap");
    refused(queue.acquire_gl(&[all[0], GlMemory::from(&plain)], &[]), "OpenGL object");
    refused(GlMemory::from(&plain).object(), "OpenGL object");
    outside();
    queue.acquire_gl(&all, &[]).unwrap();
    assert!(all.iter().all(|object| object.is_acquired()));
    refused(queue.acquire_gl(&[all[2]], &[]), "already");
    assert_eq!(queue.read_all::<u8>(&a, &[]).unwrap(), [1; 64]);
    queue.copy((&a, 0), (&b, 32), 32, &[]).unwrap();
    queue.copy_image((&image, &image.whole()), (&target, [0; 3]), &[]).unwrap();
    queue.fill(&a, 7u8, 0..64, &[]).unwrap();
    // A part of the list may go earlier. What is mapped may not.
    queue.release_gl(&all[2..], &[]).unwrap().wait().unwrap();
    refused(queue.release_gl(&all, &[]), "acquire");
    let map = queue.map_read::<u8>(&b, 0..64, &[]).unwrap();
    refused(queue.release_gl(&all[..2], &[]), "mapped");
    assert!(all[0].is_acquired() && all[1].is_acquired(), "all of a list, or none");
    assert_eq!((map[31], map[32]), (2, 1));
    drop(map);
    queue.release_gl(&all[..2], &[]).unwrap().wait().unwrap();
    outside();
    assert_eq!(rig.vbo_bytes(first, 64), [7; 64]);
    assert_eq!(rig.vbo_bytes(second, 64), [[2; 32], [1; 32]].concat());

    // The end of a turn comes after the commands of every queue.
    let other = Queue::new(context).unwrap();
    queue.acquire_gl(&all[..1], &[]).unwrap();
    let gate = UserEvent::new(context).unwrap();
    other.fill(&a, 11u8, 0..64, std::slice::from_ref(gate.event())).unwrap();
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        gate.complete()
    });
    queue.release_gl(&all[..1], &[]).unwrap().wait().unwrap();
    opener.join().unwrap().unwrap();
    assert_eq!(rig.vbo_bytes(first, 64), [11; 64]);

    // Calls without OpenGL's context being current, and in contexts without OpenGL.
    let moved = std::thread::scope(|scope| {
        let call = || {
            (queue.acquire_gl(&all[..1], &[]).map(drop), Buffer::from_gl(context, MemFlags::READ_WRITE, 1).map(drop))
        };
        scope.spawn(call).join().unwrap()
    });
    for moved in [moved.0, moved.1] {
        assert!(matches!(moved, Err(Error::WrongContext { .. })), "{moved:?}");
    }
    let without = Context::new(context.devices()).unwrap();
    assert!(!without.shares_gl());
    for unsupported in [
        Buffer::from_gl(&without, MemFlags::READ_WRITE, first.0.get()).map(drop),
        Queue::new(&without).unwrap().acquire_gl(&all, &[]).map(drop),
        without.gl_fence().map(drop),
    ] {
        let says = matches!(&unsupported, Err(Error::Unsupported { reason, .. }) if reason.contains("share_gl"));
        assert!(says, "{unsupported:?}");
    }
    let foreign = rig.backend.cl_queue().unwrap().acquire_gl(&all[..1], &[]);
    assert!(matches!(foreign, Err(Error::Foreign { .. })), "{foreign:?}");
    let gone = Buffer::from_gl(context, MemFlags::READ_WRITE, 4711);
    assert!(matches!(&gone, Err(Error::Driver(e)) if e.code == -60), "{gone:?}");
    outside();
    println!("ALL DONE");
}

/// Events of OpenGL's fences in wait lists, where the device has them.
#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_fences() {
    let Some(rig) = Rig::new() else { return };
    let texture = rig.texture([0; 4]);
    let image = Image::from_gl(&rig.context, MemFlags::READ_ONLY, object(texture)).unwrap();
    rig.render(texture, [1.0; 4], [0.0; 4]);
    let listed = rig.context.devices()[0].has_extension("cl_khr_gl_event");
    let fence = rig.context.gl_fence();
    let wait = match (listed, fence) {
        (true, fence) => vec![fence.unwrap()],
        (false, Err(Error::Unsupported { reason, .. })) if reason.contains("cl_khr_gl_event") => vec![],
        (false, other) => panic!("{other:?}"),
    };
    rig.queue.acquire_gl(&[GlMemory::from(&image)], &wait).unwrap();
    let pixels = rig.queue.read_image::<[u8; 4]>(&image, &image.whole(), &[]).unwrap().wait().unwrap();
    rig.queue.release_gl(&[GlMemory::from(&image)], &[]).unwrap().wait().unwrap();
    assert_eq!((pixels[0], pixels[1], pixels[2]), ([255; 4], [255; 4], [0; 4]));
    println!("ALL DONE");
}
