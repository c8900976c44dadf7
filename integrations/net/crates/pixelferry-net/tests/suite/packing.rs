//! The codec that follows the link: over a slow connection, over a fast one, and through shared memory.

use crate::common::*;
use crate::proxy::{LinkQuality, Proxy};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Codec, Net, NetOptions, Packing, Scene, Server, Update, Viewer};
use pixelferry_testing::{Dice, Patience, wait_until};
use std::time::Duration;

/// Bytes a second. So few that packing pays on a machine, too, where twenty others want each core.
const SLOW: u64 = 250_000;
/// No limit: what the proxy passes on is a hundred times as fast, and more.
const FAST: u64 = 0;
/// MB/s of a link over which no codec pays. A machine with much else to do has none that is so fast.
const EXACT: f64 = 100.0;
/// Pictures after which a choice is settled, once the link is known.
const ENOUGH: u32 = 8;

fn image() -> ImageDesc {
    ImageDesc::new(256, 144, PixelFormat::Rgba8)
}

/// A proxy through which a hub is reached at so many bytes a second, both ways.
fn throttled(hub: &str, rate: u64) -> Proxy {
    let (proxy, way) = (Proxy::before(hub), LinkQuality { rate, ..LinkQuality::default() });
    proxy.set(way, way);
    proxy
}

/// Joins from another machine, as far as pictures can tell.
fn join(endpoint: &str, shared_memory: bool) -> Net {
    let mut options = NetOptions::through(endpoint);
    options.shared_memory = shared_memory;
    Net::join(options).unwrap()
}

fn noise() -> Vec<u8> {
    let mut dice = Dice(7);
    std::iter::repeat_with(|| dice.below(256) as u8).take(image().extent.pixels() as usize * 4).collect()
}

/// Returns what `probe` says of how a role packs.
fn told(net: &Net, role: &str) -> String {
    let nodes = net.probe().unwrap();
    let row = nodes.iter().flat_map(|node| &node.roles).find(|row| row.role == role);
    row.map(|row| row.codec.clone()).unwrap_or_default()
}

/// MB/s, as a sender tells them.
fn speed(told: &str) -> Option<f64> {
    told.split_once(" MB/s")?.0.rsplit(' ').next()?.parse().ok()
}

/// Sends pictures until the link has been known for a while, and the codec by which the newest came fits it; what `probe` says
/// then.
fn settle(
    net: &Net,
    role: &str,
    fits: impl Fn(Codec, &str) -> bool,
    mut send: impl FnMut() -> Option<Codec>,
) -> String {
    let (mut patience, mut known) = (Patience::new(), 0);
    loop {
        let Some(codec) = send() else {
            assert!(!patience.is_over(), "no picture came");
            continue;
        };
        let row = told(net, role);
        assert!(!patience.is_over(), "{codec} does not fit: {row}");
        known += u32::from(speed(&row).is_some());
        if known > ENOUGH && fits(codec, &row) {
            println!("{codec}: {row}");
            return row;
        }
    }
}

/// True where a codec fits a link of so many bytes a second. It may be JPEG where that is allowed.
fn fits(rate: u64, codec: Codec, told: &str) -> bool {
    let measured = speed(told).unwrap_or_default();
    match rate {
        FAST => codec.is_exact() || measured < EXACT,
        // A receiver that comes late to a mark, as others had the core, finds its picture in the socket's memory and
        // measures too much once.
        _ => !codec.is_exact() && measured < 4.0 * rate as f64 / 1e6,
    }
}

/// Publishes a picture; the codec by which the viewer gets it.
fn publish(server: &Server, viewer: &Viewer, pixels: &[u8], frame: &mut u64) -> Option<Codec> {
    *frame += 1;
    server.publish(image(), *frame, None, pixels).unwrap();
    viewer.next(Duration::from_secs(3)).map(|picture| picture.header().codec)
}

#[test]
fn a_slow_viewer_gets_jpeg_where_that_is_allowed_and_a_fast_one_exact_pictures() {
    let pixels = noise();
    for rate in [SLOW, FAST] {
        let (net, endpoint) = hub();
        let server = net.serve("link").unwrap().with_codec(Packing::Auto { lossy: true }, 85);
        let proxy = throttled(&endpoint, rate);
        let viewer = join(proxy.endpoint(), false).view("link").unwrap();
        let mut frame = 0;
        let send = || publish(&server, &viewer, &pixels, &mut frame);
        let row = settle(&net, "server", |codec, row| fits(rate, codec, row), send);
        assert!(row.contains("auto-lossy"), "{row}");
        assert_eq!(viewer.refused(), 0);
    }
}

#[test]
fn exact_pictures_go_as_they_are_through_shared_memory_and_packed_over_a_slow_link() {
    let (net, endpoint) = hub();
    let mut pixels = noise();
    let half = pixels.len() / 2;
    pixels[..half].fill(9);
    let (server, mut frame) = (net.serve("link").unwrap().with_codec(Packing::Auto { lossy: false }, 85), 0);
    let near = join(&endpoint, true).view("link").unwrap();
    let is_shared = |codec, row: &str| codec == Codec::None && row.contains("shared memory");
    settle(&net, "server", is_shared, || publish(&server, &near, &pixels, &mut frame));
    drop(near);
    let proxy = throttled(&endpoint, SLOW);
    let far = join(proxy.endpoint(), false).view("link").unwrap();
    // The viewer that left is forgotten after some seconds.
    let is_packed = |codec, _: &str| codec == Codec::Lz4;
    let row = settle(&net, "server", is_packed, || publish(&server, &far, &pixels, &mut frame));
    assert!(row.starts_with("lz4 (auto:"), "{row}");
}

#[test]
fn a_worker_behind_a_slow_link_packs_its_tiles() {
    let pixels = noise();
    for rate in [SLOW, FAST] {
        let (net, endpoint) = hub();
        let scene = Scene::new("link", image()).with_tile(image().extent.width, image().extent.height);
        let mut assembly = net.assemble(scene, NEVER).unwrap();
        let proxy = throttled(&endpoint, rate);
        let far = join(proxy.endpoint(), false);
        let tile = far.tile("link", None).unwrap().with_codec(Packing::Auto { lossy: true });
        let mut picture = link(image());
        let send = || {
            assembly.request(&[]).unwrap();
            let mut patience = Patience::new();
            loop {
                while let Some(mut job) = tile.next(Duration::ZERO).unwrap() {
                    job.write(&pixels).unwrap();
                    tile.publish(job).unwrap();
                }
                match assembly.show(&mut picture, LOOK).unwrap() {
                    Update::Tiles(tiles) => return Some(tiles.tiles()[0].header().codec),
                    _ => assert!(!patience.is_over(), "no tiles came"),
                }
            }
        };
        settle(&net, "worker", |codec, row| fits(rate, codec, row), send);
        assert_eq!(assembly.refused(), 0);
    }
}

#[test]
fn a_picture_that_nobody_views_is_packed_when_somebody_comes() {
    let (net, endpoint) = hub();
    let server = net.serve("unseen").unwrap().with_codec(Packing::Auto { lossy: false }, 85);
    let pixels = noise();
    for frame in 1..4 {
        server.publish(image(), frame, None, &pixels).unwrap();
    }
    // The first that is packed says more.
    assert_eq!(told(&net, "server"), "auto");
    let viewer = join(&endpoint, false).view("unseen").unwrap();
    let mut picture = None;
    wait_until("the picture of now", || {
        picture = viewer.next(LOOK);
        picture.is_some()
    });
    let picture = picture.unwrap();
    assert_eq!((picture.header().frame, picture.to_bytes().unwrap() == pixels), (3, true));
    assert_ne!(told(&net, "server"), "auto");
    // From then on pictures are sent.
    wait_until("a later one", || {
        server.publish(image(), 4, None, &pixels).unwrap();
        viewer.next(LOOK).is_some_and(|picture| picture.header().frame == 4)
    });
}
