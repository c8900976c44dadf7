//! Refusals: a receiver refuses messages that nobody of a session sends, and a caller's impossible requests are refused
//! at once.

use crate::common::*;
use pixelferry::{Encoding, ImageDesc, PixelFormat, Region, RowOrder};
use pixelferry_net::wire::{Header, MessageKind};
use pixelferry_net::{Codec, Error, Net, NetOptions, Scene, WireError};
use pixelferry_testing::wait_until;
use zenoh::Wait;

fn image() -> ImageDesc {
    ImageDesc::new(64, 48, PixelFormat::Rgba8).with_encoding(Encoding::Srgb).with_row_order(RowOrder::BottomUp)
}

#[test]
fn a_display_refuses_what_no_worker_of_its_session_sends() {
    let (net, endpoint) = hub();
    let scene = Scene::new("guarded", image()).with_tile(16, 16);
    let mut assembly = net.assemble(scene, NEVER).unwrap();
    let epoch = assembly.epoch();
    let frame = assembly.request(&1u32.to_le_bytes()).unwrap();
    let stranger = Net::join(NetOptions::through(&endpoint)).unwrap();
    let tile = Header::new(MessageKind::Tile, image(), Region::new(16, 0, 16, 16));
    let good = Header { epoch, frame, sender: 14, ..tile };
    let message = |header: Header, payload: usize| {
        let header = Header { payload: payload as u64, ..header };
        [header.to_bytes().to_vec(), vec![7; payload]].concat()
    };
    let other = ImageDesc::new(64, 48, PixelFormat::Rgba8);
    let bad = [
        b"GET / HTTP/1.1".to_vec(),
        message(Header { epoch: epoch + 1, ..good }, 1024),
        message(Header { image: other, ..good }, 1024),
        message(Header { region: Region::new(17, 0, 16, 16), ..good }, 1024),
        message(Header { kind: MessageKind::Picture, ..good }, 1024),
        // LZ4 and JPEG of nonsense, and LZ4 that claims to become far more than it could.
        message(Header { codec: Codec::Lz4, ..good }, 1024),
        message(Header { codec: Codec::Jpeg, ..good }, 1024),
        message(Header { codec: Codec::Lz4, ..good }, 2),
        message(good, 1024)[..1000].to_vec(),
    ];
    for message in &bad {
        stranger.session().put("pixelferry/guarded/tile/0000000000000001", message.clone()).wait().unwrap();
    }
    wait_until("all are refused", || assembly.refused() == bad.len() as u64);
    // A frame that nobody asked for is no reason to worry, and is not shown either.
    let early = message(Header { frame: frame + 5, ..good }, 1024);
    stranger.session().put("pixelferry/guarded/tile/0000000000000001", early).wait().unwrap();
    // The session goes on.
    let crew = Crew::start(1, &endpoint, "guarded", Codec::None);
    let mut link = link(image());
    show(&mut assembly, &mut link);
    assert!(bytes(&mut link) == expected(&image(), image().extent.full(), 1));
    assert_eq!(assembly.refused(), bad.len() as u64);
    crew.stop();
}

#[test]
fn impossible_scenes_are_refused_where_they_are_made() {
    let (net, _) = hub();
    let giant = ImageDesc::new(100_000, 10, PixelFormat::R8);
    assert!(matches!(net.assemble(Scene::new("a", giant), NEVER), Err(Error::Wire(WireError::Side { .. }))));
    let many = ImageDesc::new(60_000, 10_000, PixelFormat::R8);
    assert!(matches!(net.assemble(Scene::new("a", many).with_tile(1, 1), NEVER), Err(Error::Invalid { .. })));
    assert!(matches!(net.tile("a/*", None), Err(Error::Invalid { .. })));
    let mut assembly = net.assemble(Scene::new("a", image()), NEVER).unwrap();
    assert!(matches!(assembly.request(&vec![0; 1 << 20]), Err(Error::Wire(WireError::TooLarge { .. }))));
    let server = net.serve("a").unwrap();
    assert!(matches!(server.publish(image(), 1, None, &[0; 7]), Err(Error::Wire(WireError::Length { .. }))));
}
