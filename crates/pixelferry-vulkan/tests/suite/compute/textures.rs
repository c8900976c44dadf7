//! Kernels that store to the display's images, and to an engine's, beside the same kernels in linear memory.

use super::{Both, both, queue};
use crate::engine::Engine;
use ash::vk;
use interop_core::{
    Arg, ComputeBackend, Display, Error, Extent, ImageDesc, ImageView, Kernel, KernelSource, Link, LinkOptions,
    MemoryShape, PathId, PixelFormat, Policy, Region, RowOrder, SurfaceDesc, Target, View,
};
use pixelferry_vulkan::{EngineImage, VulkanBackend, ash};
use std::sync::Arc;

/// Numbers that every format holds exactly, or rounds without a tie.
const MIXED: &str = "@compute @workgroup_size(8, 4)
fn k(@builtin(global_invocation_id) id: vec3<u32>) {
  let number = id.x * 3u + id.y * 7u;
  let mixed = vec4<u32>(number, number * 5u, number * 11u, 255u - number) & vec4<u32>(255u);
  pf_store(id.xy, vec4<f32>(mixed) / 255.0 * pf_arg_f32(0));
}";
/// Names words, so that it does not store to an image.
const WORDS: &str = "@compute @workgroup_size(8, 4)
fn k(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x == 0u && id.y > 1000u) { pf_put(0u, pf_get(0u)); }
  pf_store(id.xy, vec4<f32>(vec4<u32>(id.x, id.y, 7u, 255u)) / 255.0 * pf_arg_f32(0));
}";

fn link(both: &Both, desc: ImageDesc, path: PathId) -> Link {
    let options = LinkOptions::new(Policy::default().with_force(path));
    Link::open(Arc::clone(&both.backend), both.display.clone(), SurfaceDesc::Image(desc), options).unwrap()
}

/// Whole frames, and parts that leave the rest.
fn frames(link: &mut Link, kernel: &dyn Kernel) -> Vec<Vec<u8>> {
    let regions = [None, Some(Region::new(3, 2, 9, 5)), None, Some(Region::new(0, 6, 1, 1))];
    let frame = |(number, region)| {
        let args = [Arg::F32(1.0 - number as f32 / 8.0)];
        match region {
            None => link.frame(|next| next.launch(kernel, &args)).unwrap(),
            Some(region) => link.frame_region(region, |next| next.launch(kernel, &args)).unwrap(),
        }
        link.read_back().unwrap()
    };
    regions.into_iter().enumerate().map(frame).collect()
}

#[test]
fn every_format_holds_what_linear_memory_does() {
    let Some(both) = both() else { return };
    let kernels = [MIXED, WORDS].map(|text| both.backend.build(&KernelSource::new("k").wgsl(text)).unwrap());
    for format in PixelFormat::ALL {
        for order in [RowOrder::TopDown, RowOrder::BottomUp] {
            let desc = ImageDesc::new(21, 13, format).with_row_order(order);
            let [mut image, mut memory] =
                [PathId::IN_QUEUE_TEXTURE, PathId::IN_QUEUE_UPLOAD].map(|path| link(&both, desc, path));
            for kernel in &kernels {
                let [found, wanted] = [&mut image, &mut memory].map(|link| frames(link, kernel.as_ref()));
                assert_eq!(found, wanted, "{format}, {order:?}");
            }
        }
    }
}

/// Memory as the path imports it.
#[test]
fn bytes_of_an_image_are_read_and_written_where_they_lie() {
    let Some(Both { backend, display }) = both() else { return };
    for format in PixelFormat::ALL {
        let desc = SurfaceDesc::image(7, 5, format);
        let surface = display.create_surface(&desc).unwrap();
        let handle = surface.export(queue(backend.as_ref())).unwrap();
        let mut image = backend.import_surface(&handle, &desc).unwrap();
        let larger = SurfaceDesc::image(7, 6, format);
        assert!(backend.import_surface(&handle, &larger).is_err());
        // The image is kept.
        drop((surface, handle));
        let view = ImageView::packed(Extent::new(7, 5), format, 1, 0, false).unwrap();
        let raw = backend.raw(Target::new(image.as_mut(), View::Image(view)).unwrap());
        assert!(matches!(raw, Err(Error::Unsupported { .. })));
        let bytes: Vec<u8> = (0..image.len()).map(|n| n as u8).collect();
        image.write(0, &bytes).unwrap();
        let pixel = format.bytes_per_pixel();
        image.write(8 * pixel, &bytes[..9 * pixel]).unwrap();
        let mut wanted = bytes.clone();
        wanted[8 * pixel..17 * pixel].copy_from_slice(&bytes[..9 * pixel]);
        let mut found = vec![0; bytes.len()];
        image.read(0, &mut found).unwrap();
        assert_eq!(found, wanted, "{format}");
        let mut linear = backend.allocate(bytes.len()).unwrap();
        backend.copy(image.as_ref(), linear.as_mut(), 0..bytes.len()).unwrap();
        linear.read(0, &mut found).unwrap();
        assert_eq!(found, wanted, "{format}, copied");
        if pixel > 1 {
            assert!(image.write(1, &[0; 1]).is_err(), "half a pixel");
        }
    }
}

/// Those that shaders name without a feature of the device; others go by memory, with the reason.
#[test]
fn an_engine_without_the_feature_has_five_formats() {
    let Some(engine) = Engine::make(true) else { return };
    let display = engine.display();
    let backend: Arc<dyn ComputeBackend> = Arc::new(VulkanBackend::on(&display).unwrap());
    let handle = queue(backend.as_ref());
    let takes = |format| backend.caps().can_import_surface(handle, &SurfaceDesc::image(4, 4, format));
    let taken = PixelFormat::ALL.into_iter().filter(|format| takes(*format).is_yes()).count();
    assert_eq!(taken, 5);
    let surface = display.create_surface(&SurfaceDesc::image(4, 4, PixelFormat::R8)).unwrap();
    assert!(surface.export(handle).is_err());
    let both = Both { backend, display };
    let link = link(&both, ImageDesc::new(4, 4, PixelFormat::Rgba8), PathId::IN_QUEUE_TEXTURE);
    assert_eq!(link.path(), PathId::IN_QUEUE_TEXTURE);
}

/// A kernel stores to an image that the engine made, and the engine reads it.
#[test]
fn an_engines_image_is_stored_to() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let backend = VulkanBackend::on(&display).unwrap();
    assert!(Display::caps(display.as_ref()).can_export(queue(&backend), MemoryShape::Image).is_yes());
    let kernel = backend.build(&KernelSource::new("k").wgsl(MIXED)).unwrap();
    let (format, layout) = (vk::Format::R8G8B8A8_UNORM, vk::ImageLayout::GENERAL);
    let extent = Extent::new(21, 13);
    let copies = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    for usage in [copies, copies | vk::ImageUsageFlags::STORAGE] {
        let (image, memory) = engine.image(format, extent, usage);
        // SAFETY: the image is the engine's own and new.
        engine.copied(4, |device, commands, _| unsafe {
            crate::engine::change(device, commands, image, (vk::ImageLayout::UNDEFINED, layout));
            None
        });
        // SAFETY: the image is as it says, of the display's family, and goes when the display is done with it.
        let surface = unsafe { display.engine_image(&EngineImage { image, format, extent, usage, layout }) }.unwrap();
        let exported = surface.export(queue(&backend));
        assert_eq!(exported.is_ok(), usage.contains(vk::ImageUsageFlags::STORAGE));
        if let Ok(handle) = exported {
            let desc = *surface.desc();
            let mut target = backend.import_surface(&handle, &desc).unwrap();
            let view = View::Image(ImageView::packed(extent, PixelFormat::Rgba8, 1, 0, false).unwrap());
            let mut linear = backend.allocate(21 * 13 * 4).unwrap();
            for memory in [&mut target, &mut linear] {
                let target = Target::new(memory.as_mut(), view).unwrap();
                backend.launch(kernel.as_ref(), target, &[Arg::F32(1.0)]).unwrap();
            }
            let mut wanted = vec![0; 21 * 13 * 4];
            linear.read(0, &mut wanted).unwrap();
            assert_eq!(engine.read(&display.surface_frame(&surface).unwrap()), wanted);
        }
        drop(surface);
        display.finish().unwrap();
        // SAFETY: nothing uses them any more.
        unsafe {
            engine.vulkan.device.destroy_image(image, None);
            engine.vulkan.device.free_memory(memory, None);
        }
    }
}

#[test]
fn an_image_above_the_limit_of_buffers_is_a_texture() {
    let Some(Both { backend, display }) = both() else { return };
    let display: std::rc::Rc<dyn Display> = display;
    crate::large_images::an_image_above_the_limit_of_buffers_is_a_texture(&backend, &display, "maxStorageBufferRange");
}
