//! A thread asks whether the device has read a block, while another polls the device.

use crate::common;
use crate::common::wgpu;
use interop_core::{BufferView, Display, Result, StagingKind, SurfaceDesc, SurfacePart, View};
use pixelferry_testing::by_level;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const BYTES: usize = 1 << 14;

/// wgpu-core 30 panics in a wait with a timeout of 0 if another thread polls at the same time.
#[test]
fn a_block_is_asked_for_while_another_thread_polls() {
    let Some(display) = common::display() else { return };
    let is_over = AtomicBool::new(false);
    let (device, frames) = (display.wgpu_device(), by_level(1000, 4000, 20_000));
    let shown = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                device.poll(wgpu::PollType::Poll).unwrap();
            }
        });
        let shown = asked(&*display, frames);
        is_over.store(true, Ordering::Relaxed);
        shown
    });
    shown.unwrap();
}

fn asked(display: &dyn Display, frames: usize) -> Result<()> {
    let desc = SurfaceDesc::buffer(BYTES as u64);
    let (mut surface, mut block) =
        (display.create_surface(&desc)?, display.create_staging(StagingKind::Orphaned, BYTES)?);
    for frame in 0..frames {
        block.map_write(&mut |bytes| {
            bytes.fill(frame as u8);
            Ok(())
        })?;
        surface.upload_staged(
            &SurfacePart::full(&desc),
            &mut block,
            &View::Buffer(BufferView { offset: 0, len: BYTES }),
        )?;
        block.fence()?;
        while !block.is_done()? {
            std::hint::spin_loop();
        }
    }
    assert_eq!(surface.read_back(&SurfacePart::full(&desc))?, vec![(frames - 1) as u8; BYTES]);
    Ok(())
}
