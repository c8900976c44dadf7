//! Semaphores that others can open.

use crate::suite::common::{assert_same, expected, headless, read_all, supports, tight};
use crate::suite::engine::Engine;
use crate::suite::paint;
use crate::suite::peer::Peer;
use interop_core::display::{Display, Staging, StagingKind, Surface};
use interop_core::{Error, HandleType, ImageDesc, PixelFormat, SharedHandle, Support, SurfaceDesc, SyncKind};
use pixelferry_gl::{EngineOptions, GlDisplay};
use pixelferry_testing::Usage;
use std::sync::Arc;

const KINDS: [SyncKind; 2] = [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore];

/// A display that makes such semaphores.
fn display(kind: SyncKind) -> Option<Arc<GlDisplay>> {
    let display = headless(None)?;
    let made = display.caps().can_make_semaphore(kind);
    supports(&display, &format!("shared {kind}"), made).then_some(display)
}

fn picture() -> (SurfaceDesc, ImageDesc) {
    let desc = SurfaceDesc::image(512, 300, PixelFormat::Rgba8);
    let SurfaceDesc::Image(image) = desc else { panic!("{desc}") };
    (desc, image)
}

/// A texture made for others, and a surface that shows it.
fn shown(display: &GlDisplay, kind: StagingKind) -> (Staging, Surface) {
    let desc = picture().0;
    let staging = display.create_staging(kind, 1).unwrap();
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    surface.read_in_place(&staging, &tight(&desc)).unwrap();
    (staging, surface)
}

#[test]
fn two_contexts_take_turns_at_one_texture() {
    for kind in KINDS {
        let Some(writer) = display(kind) else { continue };
        let (desc, image) = picture();
        let view = tight(&desc);
        let (mut staging, surface) = shown(&writer, StagingKind::ExportedImage(image));
        let handle = staging.export(HandleType::OpaqueFd).unwrap();
        let (mut written, written_handle) = writer.create_semaphore(kind).unwrap();
        let (mut read, read_handle) = writer.create_semaphore(kind).unwrap();
        for handle in [&written_handle, &read_handle] {
            assert!(matches!(handle, SharedHandle::Semaphore(s) if s.kind() == kind));
        }

        let reader = headless(None).unwrap();
        let (opened, mut showing) = shown(&reader, StagingKind::ExternalImage(handle, image));
        let texture = reader.surface_texture(&showing).unwrap().name;
        let peers = [Peer::open(written_handle), Peer::open(read_handle)];
        // SAFETY: the reader's context is current.
        assert_eq!(unsafe { glow::HasContext::get_error(&**reader.gl()) }, glow::NO_ERROR);
        for round in 1..=30 {
            writer.make_current().unwrap();
            if round > 1 {
                read.wait(round - 1, &mut staging).unwrap();
            }
            // So that the reader would come too early if it did not wait.
            for _ in 0..20 {
                writer.draw_offscreen(&surface).unwrap();
            }
            paint::pixels(&writer, &surface, &expected(&view, round as u32));
            written.signal(round, &mut staging).unwrap();
            reader.make_current().unwrap();
            peers[0].wait(round, texture);
            assert_same("opened", &expected(&view, round as u32), &read_all(&mut showing));
            peers[1].signal(round, texture);
        }
        // Once more, so that no binary semaphore goes with a signal that nobody waited for.
        writer.make_current().unwrap();
        read.wait(30, &mut staging).unwrap();
        writer.finish().unwrap();
        drop((written, read, surface, staging));
        assert_eq!(writer.object_counts().semaphores, 0);
        reader.make_current().unwrap();
        reader.finish().unwrap();
        drop((peers, showing, opened));
    }
}

#[test]
fn a_semaphore_orders_one_context_and_refuses_misuse() {
    for kind in KINDS {
        let Some(owner) = display(kind) else { continue };
        let (mut staging, _surface) = shown(&owner, StagingKind::ExportedImage(picture().1));
        let (mut semaphore, _handle) = owner.create_semaphore(kind).unwrap();
        for value in 1..5 {
            semaphore.signal(value, &mut staging).unwrap();
            semaphore.wait(value, &mut staging).unwrap();
            owner.finish().unwrap();
        }
        // Buffers cross, too.
        let mut buffer = owner.create_staging(StagingKind::Orphaned, 64).unwrap();
        semaphore.signal(9, &mut buffer).unwrap();
        semaphore.wait(9, &mut buffer).unwrap();
        if kind == SyncKind::TimelineSemaphore {
            let back = semaphore.signal(9, &mut staging);
            assert!(matches!(back, Err(Error::InvalidInput { .. })), "{back:?}");
        }
        let stranger = headless(None).unwrap();
        let mut foreign = stranger.create_staging(StagingKind::Orphaned, 64).unwrap();
        for refused in [semaphore.signal(10, &mut staging), semaphore.wait(9, &mut staging)] {
            assert!(matches!(refused, Err(Error::WrongContext { .. })), "{refused:?}");
        }
        owner.make_current().unwrap();
        for refused in [semaphore.signal(10, &mut foreign), semaphore.wait(9, &mut foreign)] {
            assert!(matches!(refused, Err(Error::Foreign { .. })), "{refused:?}");
        }
        // Refusals changed nothing.
        semaphore.signal(10, &mut staging).unwrap();
        semaphore.wait(10, &mut staging).unwrap();
        owner.finish().unwrap();
    }
}

#[test]
#[ignore = "run by `counted`, in a process of its own"]
fn semaphores_and_descriptors_do_not_leak() {
    for kind in KINDS {
        let Some(display) = display(kind) else { continue };
        let stranger = headless(None).unwrap();
        let mut before = None;
        for round in 0..12 {
            display.make_current().unwrap();
            let made = display.create_semaphore(kind).unwrap();
            stranger.make_current().unwrap();
            assert!(matches!(display.create_semaphore(kind).map(|_| ()), Err(Error::WrongContext { .. })));
            drop(made);
            let counts = display.object_counts();
            assert_eq!((counts.semaphores, counts.awaiting_context), (1, 1));
            display.make_current().unwrap();
            display.finish().unwrap();
            if round > 1 {
                let now = (display.object_counts(), Usage::here().unwrap().descriptors);
                assert_eq!(*before.get_or_insert(now), now);
            }
        }
    }
}

#[test]
fn a_display_without_them_says_why() {
    // Why not; `None` where it makes them, as NVIDIA's does in every context.
    let reason = |display: &GlDisplay, kind| {
        let caps = display.caps().can_make_semaphore(kind);
        match display.create_semaphore(kind).map(|_| ()) {
            Err(Error::Unsupported { reason, .. }) => {
                assert_eq!(caps, Support::No(reason.clone()));
                Some(reason)
            }
            Ok(()) if caps.is_yes() => None,
            other => panic!("{other:?}, {caps:?}"),
        }
    };
    let names_the_extension = |why: Option<String>| why.is_none_or(|why| why.contains("GL_EXT_semaphore_fd"));
    let Some(limited) = headless(Some((3, 3))) else { return };
    assert!(KINDS.into_iter().all(|kind| names_the_extension(reason(&limited, kind))));
    assert!(reason(&limited, SyncKind::HostFence).is_some());
    drop(limited);
    // A context of somebody else's, whose functions the display finds by itself.
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    // SAFETY: the context is current until the end, and this display is dropped before it.
    let display = unsafe { GlDisplay::from_engine(gl, EngineOptions::default()) }.unwrap();
    assert!(KINDS.into_iter().all(|kind| names_the_extension(reason(&display, kind))));
    assert_eq!(display.object_counts().semaphores, 0);
}
