//! A stream as a display: what is expected of all of them.

use interop_core::conformance::{Manner, Outcome};
use pixelferry::api::vulkan::{VulkanDisplay, VulkanOptions};
use pixelferry::stream::{NextFrame, StreamDisplay, StreamOptions, Subscriber, publish};
use pixelferry::{
    BackendChoice, Display, ImageDesc, Link, LinkOptions, PathId, PixelFormat, Policy, RowOrder, SurfaceDesc,
    open_backend,
};
use pixelferry_tests::{Need, conform, need};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Frames of this backend on a stream, in pages of the host and, where it shares a device with Vulkan, in that one's memory.
fn conforms(choice: BackendChoice, needed: Option<Need>, wanted: &[PathId]) {
    let opened = open_backend(choice, &[]);
    let opened = match needed {
        Some(needed) => need(needed, opened),
        None => Some(opened.unwrap()),
    };
    let Some(backend) = opened else { return };
    let name = format!("conforms-{}-{choice:?}", std::process::id());
    let stream = publish(&name, backend.as_ref(), StreamOptions::default()).unwrap();
    let display: Arc<dyn Display> = stream;
    for manner in [Manner::default(), Manner::late(2)] {
        let rows = conform(&backend, &display, manner);
        let failed: Vec<_> = rows.iter().filter(|row| matches!(row.outcome, Outcome::Fail(_))).collect();
        assert!(failed.is_empty(), "{failed:#?}");
        let passed: HashSet<_> = rows.iter().filter(|row| row.outcome == Outcome::Pass).map(|row| row.path).collect();
        println!("{manner:?}: {passed:?}");
        assert!(wanted.iter().all(|path| passed.contains(path)), "{passed:?}");
    }
    println!("RAN ON {} to a stream on {}", backend.device(), display.device());
}

#[test]
fn threads_conform() {
    conforms(BackendChoice::Cpu, None, &[PathId::HOST_VISIBLE_IN_PLACE, PathId::HOST_ROUND_TRIP]);
}

#[test]
fn vulkan_conforms() {
    conforms(BackendChoice::Vulkan, Some(Need::Lavapipe), &[PathId::EXPORTED_IN_PLACE, PathId::HOST_ROUND_TRIP]);
}

/// A subscriber gets the top row first, whichever row the publisher's surface begins with.
#[test]
fn the_top_row_comes_first() {
    for (choice, needed) in [(BackendChoice::Cpu, None), (BackendChoice::Vulkan, Some(Need::Lavapipe))] {
        let opened = open_backend(choice, &[]);
        let Some(backend) = (match needed {
            Some(needed) => need(needed, opened),
            None => Some(opened.unwrap()),
        }) else {
            continue;
        };
        let name = format!("top-row-{}-{choice:?}", std::process::id());
        let stream = publish(&name, backend.as_ref(), StreamOptions::default()).unwrap();
        let mut subscriber = Subscriber::open(&name, &backend).unwrap();
        let mut ran = 0;
        for order in [RowOrder::TopDown, RowOrder::BottomUp] {
            for path in Policy::default().paths.iter().map(|spec| spec.id) {
                let desc = SurfaceDesc::Image(ImageDesc::new(8, 4, PixelFormat::R8).with_row_order(order));
                let options = LinkOptions::new(Policy::default().with_force(path));
                let Ok(mut link) = Link::open(backend.clone(), stream.clone(), desc, options) else { continue };
                let rows: Vec<u8> = (0..4).flat_map(|row| [row * 10; 8]).collect();
                link.frame(|frame| frame.write(&rows)).unwrap();
                stream.publish(&link.shown().unwrap()).unwrap();
                let NextFrame::Frame(mut frame) = subscriber.next(Duration::from_secs(60)).unwrap() else { panic!() };
                let first = if order == RowOrder::TopDown { 0 } else { 30 };
                assert_eq!(frame.read().unwrap()[0], first, "{choice:?}, {path}, {order:?}");
                ran += 1;
            }
        }
        assert!(ran >= 4, "{ran} paths ran");
    }
}

/// Frames that stay in a device's memory need no work of its display, whose driver would take turns with that of the kernels.
#[test]
fn the_devices_display_submits_nothing_for_a_frame() {
    let Some(backend) = need(Need::Lavapipe, open_backend(BackendChoice::Vulkan, &[])) else { return };
    let options = VulkanOptions::default().with_same_device_as(backend.device().clone());
    let Some(display) = need(Need::Lavapipe, VulkanDisplay::headless(&options)) else { return };
    let desc = SurfaceDesc::image(64, 64, PixelFormat::R8);
    // A link of its own tells how many submissions there were.
    let mut beside = Link::open(backend.clone(), display.clone(), desc, LinkOptions::default()).unwrap();
    beside.frame(|frame| frame.write(&[1; 64 * 64])).unwrap();
    let submissions = || display.surface_frame(beside.shown().unwrap().surface()).unwrap().ready.unwrap().value;

    let name = format!("nothing-{}", std::process::id());
    let stream = StreamDisplay::open(&name, Some(display.clone()), StreamOptions::default()).unwrap();
    let forced = Policy::default().with_force(PathId::EXPORTED_IN_PLACE);
    let mut link = Link::open(backend.clone(), stream.clone(), desc, LinkOptions::new(forced)).unwrap();
    let mut subscriber = Subscriber::open(&name, &backend).unwrap();
    let mut frame = |value: u8| {
        link.frame(|frame| frame.write(&[value; 64 * 64])).unwrap();
        stream.publish(&link.shown().unwrap()).unwrap();
        let NextFrame::Frame(mut frame) = subscriber.next(Duration::from_secs(60)).unwrap() else { panic!() };
        assert_eq!(frame.read().unwrap(), [value; 64 * 64]);
    };
    // Pieces of memory are cleared when they are made.
    (0..20).for_each(&mut frame);
    let before = submissions();
    (0..100).for_each(&mut frame);
    assert_eq!(submissions(), before);
}
