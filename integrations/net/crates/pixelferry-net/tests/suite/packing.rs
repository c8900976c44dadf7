//! The codec that follows the link: over a slow connection, over a fast one, and through shared memory.

use crate::common::*;
use crate::proxy::{Proxy, Way};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Codec, Net, Options, Packing, Scene, Server, Update, Viewer};
use pixelferry_testing::{Dice, Patience};
use std::time::Duration;

/// Bytes a second.
const SLOW: u64 = 1_000_000;
/// No limit: what the proxy passes on is a hundred times as fast, and more.
const FAST: u64 = 0;
/// Pictures after which a choice is settled, once the link is known.
const ENOUGH: u32 = 8;

fn image() -> ImageDesc {
    ImageDesc::new(512, 288, PixelFormat::Rgba8)
}

/// A proxy through which a hub is reached at so many bytes a second, both ways.
fn throttled(hub: &str, rate: u64) -> Proxy {
    let (proxy, way) = (Proxy::before(hub), Way { rate, ..Way::default() });
    proxy.set(way, way);
    proxy
}

/// Joins from another machine, as far as pictures can tell.
fn join(endpoint: &str, shared_memory: bool) -> Net {
    let mut options = Options::through(endpoint);
    options.shared_memory = shared_memory;
    Net::join(options).unwrap()
}

fn noise(bytes: usize) -> Vec<u8> {
    let mut dice = Dice(7);
    std::iter::repeat_with(|| dice.below(256) as u8).take(bytes).collect()
}

/// What `probe` says of how a role packs.
fn told(net: &Net, role: &str) -> String {
    let nodes = net.probe().unwrap();
    let row = nodes.iter().flat_map(|node| &node.roles).find(|row| row.role == role);
    row.map(|row| row.codec.clone()).unwrap_or_default()
}

/// The codec of the pictures that a viewer sees, and what `probe` says of it, when the link has been known for a while.
fn settled(net: &Net, server: &Server, viewer: &Viewer, pixels: &[u8], frame: &mut u64) -> (Codec, String) {
    let (mut patience, mut known) = (Patience::new(), 0);
    loop {
        assert!(!patience.is_over(), "nobody told of the link: {}", told(net, "server"));
        *frame += 1;
        server.publish(image(), *frame, None, pixels).unwrap();
        let Some(picture) = viewer.next(Duration::from_secs(3)) else { continue };
        let row = told(net, "server");
        known += u32::from(row.contains("MB/s"));
        if known > ENOUGH {
            return (picture.header().codec, row);
        }
    }
}

#[test]
fn a_slow_viewer_gets_jpeg_where_that_is_allowed_and_a_fast_one_exact_pictures() {
    let pixels = noise(image().extent.pixels() as usize * 4);
    for (rate, is_exact) in [(SLOW, false), (FAST, true)] {
        let (net, endpoint) = hub();
        let server = net.serve("link").unwrap().with_codec(Packing::Auto { lossy: true }, 85);
        let proxy = throttled(&endpoint, rate);
        let viewer = join(proxy.endpoint(), false).view("link").unwrap();
        let (mut patience, mut frame) = (Patience::new(), 0);
        let (codec, row) = loop {
            let (codec, row) = settled(&net, &server, &viewer, &pixels, &mut frame);
            println!("{rate} bytes/s: {row}");
            // On a machine with much else to do a fast link is a slow one for a while.
            if codec.is_exact() == is_exact || patience.is_over() {
                break (codec, row);
            }
        };
        assert_eq!(codec.is_exact(), is_exact, "{rate} bytes/s: {row}");
        assert!(row.starts_with(codec.name()) && row.contains("auto-lossy"), "{row}");
        assert_eq!(viewer.refused(), 0);
    }
}

#[test]
fn exact_pictures_go_as_they_are_through_shared_memory_and_packed_over_a_slow_link() {
    let (net, endpoint) = hub();
    let mut pixels = noise(image().extent.pixels() as usize * 4);
    let half = pixels.len() / 2;
    pixels[..half].fill(9);
    let (server, mut frame) = (net.serve("link").unwrap().with_codec(Packing::Auto { lossy: false }, 85), 0);
    let near = join(&endpoint, true).view("link").unwrap();
    let (codec, row) = settled(&net, &server, &near, &pixels, &mut frame);
    assert_eq!(codec, Codec::None, "{row}");
    assert!(row.contains("shared memory"), "{row}");
    drop(near);
    let proxy = throttled(&endpoint, SLOW);
    let far = join(proxy.endpoint(), false).view("link").unwrap();
    let mut patience = Patience::new();
    let packed = loop {
        let (codec, row) = settled(&net, &server, &far, &pixels, &mut frame);
        // The viewer that left is forgotten after some seconds.
        if codec == Codec::Lz4 || patience.is_over() {
            break row;
        }
    };
    assert!(packed.starts_with("lz4 (auto:"), "{packed}");
}

#[test]
fn a_worker_behind_a_slow_link_packs_its_tiles() {
    for (rate, is_exact) in [(SLOW, false), (FAST, true)] {
        let (net, endpoint) = hub();
        let scene = Scene::new("link", image()).with_tile(image().extent.width, 144);
        let mut assembly = net.assemble(scene, NEVER).unwrap();
        let proxy = throttled(&endpoint, rate);
        let far = join(proxy.endpoint(), false);
        let tile = far.tile("link", None).unwrap().with_codec(Packing::Auto { lossy: true });
        let mut picture = link(image());
        let pixels = noise(image().extent.width as usize * 144 * 4);
        let (mut patience, mut known) = (Patience::new(), 0);
        let codec = loop {
            assert!(!patience.is_over(), "nobody told of the link: {}", told(&net, "worker"));
            assembly.request(&[]).unwrap();
            let tiles = loop {
                while let Some(mut job) = tile.next(Duration::ZERO).unwrap() {
                    job.write(&pixels).unwrap();
                    tile.publish(job).unwrap();
                }
                match assembly.show(&mut picture, LOOK).unwrap() {
                    Update::Tiles(tiles) => break tiles,
                    _ => assert!(!patience.is_over(), "no tiles came"),
                }
            };
            known += u32::from(told(&net, "worker").contains("MB/s"));
            if known > ENOUGH {
                break tiles.tiles()[0].header().codec;
            }
        };
        assert_eq!(codec.is_exact(), is_exact, "{rate} bytes/s: {}", told(&net, "worker"));
        assert_eq!(assembly.refused(), 0);
    }
}
