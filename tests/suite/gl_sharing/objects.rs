//! Objects of every kind, written by one API and read by the other.

use super::rig::open;
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::api::opencl::{GlAccess, GlObject};
use pixelferry::driver::{HandleType, SurfacePart};
use pixelferry::{
    Arg, ComputeBackend, Display, Extent, ImageDesc, ImageView, KernelSource, PixelFormat, SurfaceDesc, SyncKind,
    Target, View,
};
use pixelferry_tests::few;

const SIDES: [i32; 3] = [6, 4, 3];

/// A texture with two levels of RGBA8.
unsafe fn texture(gl: &glow::Context, target: u32) -> glow::Texture {
    let [w, h, d] = SIDES;
    // SAFETY: the display's context is current.
    unsafe {
        let name = gl.create_texture().unwrap();
        gl.bind_texture(target, Some(name));
        match target {
            glow::TEXTURE_1D => {
                let none = glow::PixelUnpackData::Slice(None);
                gl.tex_image_1d(target, 0, glow::RGBA8 as i32, w, 0, glow::RGBA, glow::UNSIGNED_BYTE, none);
            }
            glow::TEXTURE_3D | glow::TEXTURE_2D_ARRAY => gl.tex_storage_3d(target, 2, glow::RGBA8, w, h, d),
            glow::TEXTURE_CUBE_MAP => gl.tex_storage_2d(target, 2, glow::RGBA8, w, w),
            _ => gl.tex_storage_2d(target, 2, glow::RGBA8, w, h),
        }
        gl.bind_texture(target, None);
        name
    }
}

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_every_kind() {
    let Some((backend, display)) = open() else { return };
    let gl = display.gl();
    let face = glow::TEXTURE_CUBE_MAP_POSITIVE_X + 3;
    // The binding, the target of the share, the level, the size, and what OpenCL calls it.
    let kinds = [
        (glow::TEXTURE_2D, glow::TEXTURE_2D, 0, [6, 4, 1], 0x2001),
        (glow::TEXTURE_2D, glow::TEXTURE_2D, 1, [3, 2, 1], 0x2001),
        (glow::TEXTURE_3D, glow::TEXTURE_3D, 0, [6, 4, 3], 0x2002),
        (glow::TEXTURE_2D_ARRAY, glow::TEXTURE_2D_ARRAY, 0, [6, 4, 3], 0x200E),
        (glow::TEXTURE_1D, glow::TEXTURE_1D, 0, [6, 1, 1], 0x200F),
        (glow::TEXTURE_CUBE_MAP, face, 0, [6, 6, 1], 0x2001),
    ];
    for (binding, target, level, size, kind) in kinds {
        // SAFETY: the display's context is current, here and below.
        let name = unsafe { texture(gl, binding) };
        let object = GlObject::Texture { target, level, name: name.0.get() };
        let mut shared = backend.share_gl(object, GlAccess::ReadWrite).unwrap();
        assert_eq!((shared.size(), shared.element_bytes()), (size, 4), "{object:?}");
        assert_eq!(shared.named().unwrap(), (kind, name.0.get()), "{object:?}");
        for sync in [SyncKind::Implicit, SyncKind::SharedEvent, SyncKind::Finish] {
            shared.set_sync(sync).unwrap();
            let bytes = size.iter().product::<usize>() * 4;
            let written: Vec<u8> = (0..bytes).map(|i| (i * 7 + level as usize + sync as usize) as u8).collect();
            shared.acquire().unwrap();
            shared.write([0; 3], size, &written).unwrap();
            shared.release().unwrap();
            let mut found = vec![0; bytes];
            // SAFETY: as above; the level has so many bytes.
            unsafe {
                gl.bind_texture(binding, Some(name));
                gl.get_tex_image(
                    target,
                    level,
                    glow::RGBA,
                    glow::UNSIGNED_BYTE,
                    glow::PixelPackData::Slice(Some(&mut found)),
                );
                gl.bind_texture(binding, None);
            }
            assert_eq!(found, written, "{object:?} as OpenGL sees it, {sync}");
            shared.acquire().unwrap();
            let mut found = vec![0; bytes];
            shared.read([0; 3], size, &mut found).unwrap();
            assert_eq!(found, written, "{object:?} as OpenCL sees it, {sync}");
            let mut one = [0; 4];
            shared.read([size[0] - 1, size[1] - 1, size[2] - 1], [1; 3], &mut one).unwrap();
            assert_eq!(one, written[bytes - 4..], "{object:?}: the last element");
            shared.release().unwrap();
        }
        drop(shared);
        // SAFETY: as above.
        unsafe { gl.delete_texture(name) };
    }
    // SAFETY: as above.
    unsafe {
        let name = gl.create_renderbuffer().unwrap();
        gl.bind_renderbuffer(glow::RENDERBUFFER, Some(name));
        gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, 6, 4);
        let object = GlObject::Renderbuffer { name: name.0.get() };
        let mut shared = backend.share_gl(object, GlAccess::ReadWrite).unwrap();
        assert_eq!((shared.size(), shared.named().unwrap().0), ([6, 4, 1], 0x2003));
        let written: Vec<u8> = (0..96).collect();
        shared.acquire().unwrap();
        shared.write([0; 3], [6, 4, 1], &written).unwrap();
        shared.release().unwrap();
        shared.acquire().unwrap();
        let mut found = vec![0; 96];
        shared.read([0; 3], [6, 4, 1], &mut found).unwrap();
        shared.release().unwrap();
        assert_eq!(found, written, "a renderbuffer");
        drop(shared);
        gl.delete_renderbuffer(name);

        let name = gl.create_buffer().unwrap();
        gl.bind_buffer(glow::ARRAY_BUFFER, Some(name));
        gl.buffer_data_u8_slice(glow::ARRAY_BUFFER, &written, glow::STATIC_DRAW);
        let mut shared = backend.share_gl(GlObject::Buffer { name: name.0.get() }, GlAccess::ReadWrite).unwrap();
        assert_eq!((shared.size(), shared.element_bytes(), shared.named().unwrap().0), ([96, 1, 1], 1, 0x2000));
        shared.acquire().unwrap();
        shared.read([0; 3], [96, 1, 1], &mut found).unwrap();
        assert_eq!(found, written, "a buffer as OpenCL sees it");
        shared.write([90, 0, 0], [6, 1, 1], &[9; 6]).unwrap();
        shared.release().unwrap();
        gl.get_buffer_sub_data(glow::ARRAY_BUFFER, 0, &mut found);
        assert_eq!((&found[..90], &found[90..]), (&written[..90], &[9; 6][..]), "a buffer as OpenGL sees it");
        drop(shared);
        gl.delete_buffer(name);
    }
    println!("ALL DONE");
}

/// A kernel that writes the image itself, and one that must go by way of linear memory, on parts of textures, either way
/// up.
#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_kernels_write_textures() {
    let Some((backend, display)) = open() else { return };
    let types = [
        (PixelFormat::R8, "uchar", "(uchar)(x + 16 * y + n)"),
        (PixelFormat::Rg8, "uchar2", "(uchar2)(x + n, y)"),
        (PixelFormat::Rgba8, "uchar4", "(uchar4)(x + n, y, 255, x * y)"),
        (PixelFormat::Bgra8, "uchar4", "(uchar4)(x + n, y, 255, x * y)"),
        (PixelFormat::Rg16F, "ushort2", "(ushort2)(pf_half(x + n), pf_half(-y))"),
        (PixelFormat::Rg32F, "float2", "(float2)(x + n, y / 3.0f)"),
        (PixelFormat::Rgba16F, "ushort4", "(ushort4)(pf_half(x + n), pf_half(-y), pf_half(0.5f), pf_half(1e-6f))"),
        (PixelFormat::R32F, "float", "x + n + y / 3.0f"),
        (PixelFormat::Rgba32F, "float4", "(float4)(x + n, y, 1.0f / 3.0f, -2.0f)"),
    ];
    let written = &backend.caps().image_formats;
    assert!(written.len() >= 5, "the driver writes images of {written:?} only");
    for (format, pixel, value) in few(&types, 3).iter().copied().filter(|(format, ..)| written.contains(format)) {
        let desc = ImageDesc::new(9, 7, format);
        let surface = display.create_surface(&SurfaceDesc::Image(desc)).unwrap();
        let mut shown = surface;
        let handle = shown.export(HandleType::GlObject).unwrap();
        let mut memory = backend.import_surface(&handle, &SurfaceDesc::Image(desc)).unwrap();
        let text = |store: &str| {
            format!(
                "kernel void k(PF_IMAGE({pixel}, out), int n) {{
                   int x = get_global_id(0), y = get_global_id(1);
                   if (x < out_width && y < out_height) {store};
                 }}"
            )
        };
        let build = |store: String| {
            // SAFETY: it writes pixels below the width and height only, and takes a number.
            backend.build(&unsafe { KernelSource::new("k").opencl_c(text(&store)) }).unwrap()
        };
        let image = build(format!("PF_STORE(out, x, y, {value})"));
        let linear = build(format!("PF_AT(out, x, y) = {value}"));
        let pitch = 9 * format.bytes_per_pixel() as isize;
        let part = |y: usize, row_pitch| {
            let offset = y * pitch as usize + 2 * format.bytes_per_pixel();
            View::Image(ImageView { offset, row_pitch, extent: Extent::new(5, 3), format })
        };
        for view in [part(1, pitch), part(5, -pitch)] {
            let mut pictures = Vec::new();
            for (kernel, n) in [(&image, 3), (&linear, 3)] {
                memory.acquire().unwrap();
                memory.write(0, &vec![0; memory.len()]).unwrap();
                let target = Target::new(memory.as_mut(), view).unwrap();
                backend.launch(kernel.as_ref(), target, &[Arg::I32(n)]).unwrap();
                memory.release().unwrap();
                pictures.push(shown.read_back(&SurfacePart::full(&SurfaceDesc::Image(desc))).unwrap());
            }
            assert_eq!(pictures[0], pictures[1], "{format}: the two kernels");
            assert!(pictures[0].iter().any(|b| *b != 0), "{format}: nothing was written");
            let row = &pictures[0][..pitch as usize];
            assert!(row.iter().all(|b| *b == 0), "{format}: what lies outside was written");
        }
    }
    println!("ALL DONE");
}
