//! Images and buffers of an engine's: what it rendered is taken, and frames go into them.

use crate::engine::{Engine, change, range};
use ash::vk;
use cpu_fallback::CpuBackend;
use interop_core::{
    ComputeBackend, Display, Error, Extent, Intake, Outlet, OutletFrame, OutletOptions, PathId, PixelFormat, Result,
    Surface, Unwritten, View,
};
use pixelferry_testing::Dice;
use std::rc::Rc;
use std::sync::Arc;
use vulkan_display::{EngineBuffer, EngineImage, VulkanDisplay};
use vulkan_sharing::vk_format;

const BOTH: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);

/// An engine's image, kept in one layout.
struct Canvas<'e> {
    engine: &'e Engine,
    display: &'e Rc<VulkanDisplay>,
    memory: vk::DeviceMemory,
    about: EngineImage,
}

impl<'e> Canvas<'e> {
    fn new(
        engine: &'e Engine,
        display: &'e Rc<VulkanDisplay>,
        format: vk::Format,
        extent: Extent,
        layout: vk::ImageLayout,
    ) -> Self {
        let usage = BOTH | vk::ImageUsageFlags::SAMPLED;
        let (image, memory) = engine.image(format, extent, usage);
        let about = EngineImage { image, format, extent, usage, layout };
        let made = Self { engine, display, memory, about };
        made.clear(vk::ImageLayout::UNDEFINED, [0.0; 4]);
        made
    }

    /// The engine draws one colour all over, in a submission of its own.
    fn clear(&self, from: vk::ImageLayout, colour: [f32; 4]) {
        let EngineImage { image, layout, .. } = self.about;
        let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        // SAFETY: the image is the engine's own; the display's work with it was submitted before to the same queue.
        self.engine.copied(4, |device, commands, _| unsafe {
            change(device, commands, image, (from, target));
            let colour = vk::ClearColorValue { float32: colour };
            device.cmd_clear_color_image(commands, image, target, &colour, &[range()]);
            change(device, commands, image, (target, layout));
            None
        });
    }

    fn surface(&self) -> Box<dyn Surface> {
        // SAFETY: the image is as it says, of the display's family, and goes when the display is done with it.
        unsafe { self.display.engine_image(&self.about) }.unwrap()
    }
}

impl Drop for Canvas<'_> {
    fn drop(&mut self) {
        self.display.finish().unwrap();
        let device = &self.engine.vulkan.device;
        // SAFETY: the display is done with it, and the surfaces over it are gone.
        unsafe {
            device.destroy_image(self.about.image, None);
            device.free_memory(self.memory, None);
        }
    }
}

fn of(display: &Rc<VulkanDisplay>) -> (Arc<dyn ComputeBackend>, Rc<dyn Display>) {
    (Arc::new(CpuBackend::new().unwrap()), Rc::clone(display) as _)
}

fn intake(display: &Rc<VulkanDisplay>, source: Box<dyn Surface>, by: Option<PathId>) -> Result<Intake> {
    let (backend, display) = of(display);
    match by {
        Some(path) => Intake::open_by(backend, display, source, path),
        None => Intake::open(backend, display, source),
    }
}

fn outlet(display: &Rc<VulkanDisplay>, target: Box<dyn Surface>, by: Option<PathId>) -> Result<Outlet> {
    let (backend, display) = of(display);
    match by {
        Some(path) => Outlet::open_with(backend, display, target, OutletOptions::default().with_path(path)),
        None => Outlet::open(backend, display, target),
    }
}

/// A frame of these tight rows or bytes.
fn write(bytes: &[u8]) -> impl FnMut(&mut OutletFrame<'_>) -> Result<()> {
    move |frame| {
        let (memory, view) = frame.target()?.into_parts();
        match view {
            View::Buffer(view) => memory.write(view.offset, bytes),
            View::Image(view) => {
                let rows = (0..).zip(bytes.chunks(view.row_len()));
                rows.into_iter().try_for_each(|(y, row)| memory.write(view.row(y).start, row))
            }
        }
    }
}

fn noise(dice: &mut Dice, len: usize) -> Vec<u8> {
    (0..len).map(|_| dice.below(256) as u8).collect()
}

/// Into the object and back by one path, and what the engine itself reads of it. The path, where it is offered.
fn round(
    engine: &Engine,
    display: &Rc<VulkanDisplay>,
    made: &dyn Fn() -> Box<dyn Surface>,
    by: Option<PathId>,
) -> bool {
    let (mut dice, desc) = (Dice(7), *made().desc());
    let mut given = match outlet(display, made(), by) {
        Ok(given) => given,
        Err(Error::Unavailable { .. }) if by.is_some() => return false,
        Err(other) => panic!("{by:?}, {desc}: {other}"),
    };
    let mut taken = intake(display, made(), by).unwrap();
    for frame in 0..4 {
        let expected = noise(&mut dice, desc.byte_len("test").unwrap());
        given.frame(write(&expected)).unwrap();
        let seen = engine.read(&display.surface_frame(given.surface()).unwrap());
        assert!(seen == expected, "{desc} by {}, frame {frame}", given.path());
        assert!(taken.take().unwrap().read().unwrap() == expected, "{desc} by {}, frame {frame}", taken.path());
    }
    true
}

#[test]
fn every_format_goes_into_an_engines_image_and_back() {
    for bare in [false, true] {
        let Some(engine) = Engine::make(bare) else { return };
        let display = engine.display();
        let general = vk::ImageLayout::GENERAL;
        for format in display.caps().image_formats.clone() {
            for extent in [Extent::new(33, 7), Extent::new(1, 3), Extent::new(64, 2)] {
                let canvas = Canvas::new(&engine, &display, vk_format(format), extent, general);
                assert!(round(&engine, &display, &|| canvas.surface(), None), "{format}");
            }
        }
        let srgb = vk::Format::R8G8B8A8_SRGB;
        let sampled = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let canvas = Canvas::new(&engine, &display, srgb, Extent::new(129, 65), sampled);
        let ran = PathId::ALL.into_iter().filter(|path| round(&engine, &display, &|| canvas.surface(), Some(*path)));
        let ran: Vec<_> = ran.collect();
        println!("bare: {bare}, {ran:?}");
        assert!(ran.len() >= 2, "{ran:?}");
    }
}

#[test]
fn bytes_go_into_an_engines_buffer_and_back() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let device = &engine.vulkan.device;
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    for bytes in [1, 5001] {
        let (raw, memory) = engine.buffer(bytes + 7, usage);
        let about = EngineBuffer { buffer: raw, bytes, usage };
        // SAFETY: the buffer is as it says, and goes when the display is done with it.
        let made = || unsafe { display.engine_buffer(&about) }.unwrap();
        let ran = PathId::ALL.into_iter().map(Some).chain([None]).filter(|by| round(&engine, &display, &made, *by));
        assert!(ran.count() >= 3, "{bytes}");
        display.finish().unwrap();
        // SAFETY: the display is done with it.
        unsafe {
            device.destroy_buffer(raw, None);
            device.free_memory(memory, None);
        }
    }
}

/// An engine's window is dragged: it has another image every few frames, and draws in between.
#[test]
fn images_are_made_anew_for_300_frames() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let (mut dice, mut left) = (Dice(30), 300);
    while left > 0 {
        let extent = Extent::new(1 + dice.below(90) as u32, 1 + dice.below(60) as u32);
        let layout = *dice.pick(&[vk::ImageLayout::GENERAL, vk::ImageLayout::TRANSFER_SRC_OPTIMAL]);
        let canvas = Canvas::new(&engine, &display, vk::Format::B8G8R8A8_UNORM, extent, layout);
        let mut given = outlet(&display, canvas.surface(), None).unwrap();
        let mut taken = intake(&display, canvas.surface(), None).unwrap();
        let len = extent.pixels() as usize * 4;
        for _ in 0..15 {
            let expected = noise(&mut dice, len);
            given.frame(write(&expected)).unwrap();
            assert!(taken.take().unwrap().read().unwrap() == expected, "{extent}, {left} left");
            canvas.clear(layout, [1.0; 4]);
            assert!(taken.take().unwrap().read().unwrap() == vec![255; len], "the engine draws on");
            left -= 1;
        }
    }
}

fn refused(found: Result<impl Sized>, says: &str) {
    match found.err() {
        Some(error @ Error::InvalidInput { .. }) if error.to_string().contains(says) => println!("{error}"),
        other => panic!("{says}: {other:?}"),
    }
}

#[test]
fn what_no_copy_reaches_is_refused_and_says_why() {
    let Some(engine) = Engine::make(false) else { return };
    let display = engine.display();
    let extent = Extent::new(8, 8);
    let canvas = Canvas::new(&engine, &display, vk::Format::R8G8B8A8_UNORM, extent, vk::ImageLayout::GENERAL);
    let good = canvas.about;
    // SAFETY: what is wrong is found out before it is used; what is right is as it says.
    let image = |about: EngineImage| unsafe { display.engine_image(&about) };
    refused(image(EngineImage { image: vk::Image::null(), ..good }), "null");
    refused(image(EngineImage { usage: vk::ImageUsageFlags::SAMPLED, ..good }), "add TRANSFER_SRC");
    refused(image(EngineImage { format: vk::Format::R32_UINT, ..good }), "no frame has the format R32_UINT");
    refused(image(EngineImage { layout: vk::ImageLayout::UNDEFINED, ..good }), "UNDEFINED");
    refused(image(EngineImage { extent: Extent::new(0, 8), ..good }), "0x8");
    let only = |usage| image(EngineImage { usage, ..good }).unwrap();
    refused(intake(&display, only(vk::ImageUsageFlags::TRANSFER_DST), None), "without TRANSFER_SRC");
    refused(outlet(&display, only(vk::ImageUsageFlags::TRANSFER_SRC), None), "without TRANSFER_DST");
    refused(display.draw_offscreen(only(vk::ImageUsageFlags::TRANSFER_DST).as_ref()), "without TRANSFER_SRC");
    assert!(intake(&display, only(vk::ImageUsageFlags::TRANSFER_SRC), None).is_ok());
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    let (raw, memory) = engine.buffer(64, usage);
    let bytes = EngineBuffer { buffer: raw, bytes: 64, usage };
    // SAFETY: as above.
    let buffer = |about: EngineBuffer| unsafe { display.engine_buffer(&about) };
    refused(buffer(EngineBuffer { buffer: vk::Buffer::null(), ..bytes }), "null");
    refused(buffer(EngineBuffer { bytes: 0, ..bytes }), "");
    refused(buffer(EngineBuffer { usage: vk::BufferUsageFlags::VERTEX_BUFFER, ..bytes }), "add TRANSFER_SRC");
    refused(intake(&display, buffer(bytes).unwrap(), None), "without TRANSFER_SRC");
    // What a frame does not write is kept by reading it first.
    refused(outlet(&display, buffer(bytes).unwrap(), None), "do not ask for Keep");
    let overwrites = OutletOptions::default().with_unwritten(Unwritten::Overwrite);
    let (backend, shown) = of(&display);
    assert!(Outlet::open_with(backend, shown, buffer(bytes).unwrap(), overwrites).is_ok());
    display.finish().unwrap();
    // SAFETY: the display is done with it.
    unsafe {
        engine.vulkan.device.destroy_buffer(raw, None);
        engine.vulkan.device.free_memory(memory, None);
    }
}

/// Formats that encode have the numbers that are stored.
#[test]
fn formats_of_vulkan_are_those_of_frames() {
    for format in PixelFormat::ALL {
        assert_eq!(vulkan_sharing::pixel_format(vk_format(format)), Some(format));
    }
    assert_eq!(vulkan_sharing::pixel_format(vk::Format::B8G8R8A8_SRGB), Some(PixelFormat::Bgra8));
    assert_eq!(vulkan_sharing::pixel_format(vk::Format::D32_SFLOAT), None);
}
