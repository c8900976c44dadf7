//! Messages that are hostile or broken are refused by who reads them.

use crate::hostile;
use crate::job::JobMessage;
use crate::report::Report;
use pixelferry::{Encoding, Extent, ImageDesc, PixelFormat, Region, RowOrder};
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, Limits, MessageKind, VERSION, WireError};

fn image() -> ImageDesc {
    ImageDesc::new(64, 48, PixelFormat::Rgba8).with_encoding(Encoding::Srgb).with_row_order(RowOrder::BottomUp)
}

fn tile() -> Header {
    let mut header = Header::new(MessageKind::Tile, image(), Region::new(16, 0, 16, 16));
    (header.epoch, header.frame, header.time, header.sender, header.cost) = (11, 12, 13, 14, 15);
    header.payload = 16 * 16 * 4;
    header
}

fn read(bytes: &[u8]) -> Result<Header, WireError> {
    Header::read(bytes, &Limits::default())
}

/// Also in `integrations/net/docs/protocol.md`.
#[test]
fn the_header_has_the_bytes_of_the_protocol() {
    let bytes = tile().to_bytes();
    assert_eq!(bytes[..8], *b"PXFY\x01\x00\x01\x00");
    assert_eq!(bytes[8..16], 11u64.to_le_bytes());
    assert_eq!(bytes[40..64], [64, 48, 16, 0, 16, 16].map(u32::to_le_bytes).concat());
    assert_eq!(bytes[64..68], [2, 1, 1, 0], "format, encoding, row order, alpha");
    assert_eq!(bytes[68..80], [&15u32.to_le_bytes()[..], &1024u64.to_le_bytes()].concat());
    assert!(bytes[80..].iter().all(|&byte| byte == 0));
    assert_eq!(read(&bytes), Ok(tile()));
}

#[test]
fn what_is_wrong_with_a_header_is_said() {
    let changed = |at: usize, with: &[u8]| {
        let mut bytes = tile().to_bytes();
        bytes[at..at + with.len()].copy_from_slice(with);
        read(&bytes).unwrap_err()
    };
    assert_eq!(read(&[]).unwrap_err(), WireError::Short { found: 0, needed: HEADER_BYTES });
    assert_eq!(changed(0, b"HTTP"), WireError::Magic(*b"HTTP"));
    assert_eq!(changed(4, &(VERSION + 1).to_le_bytes()), WireError::Version(VERSION + 1));
    assert!(matches!(changed(6, &[0]), WireError::Unknown { field: "kind", value: 0 }));
    assert!(matches!(changed(7, &[9]), WireError::Unknown { field: "codec", .. }));
    assert!(matches!(changed(64, &[99]), WireError::Unknown { field: "pixel format", .. }));
    assert!(matches!(changed(127, &[1]), WireError::Unknown { .. }), "a reserved byte");
    assert!(matches!(changed(40, &[0; 4]), WireError::Side { width: 0, .. }));
    assert!(matches!(changed(40, &[255; 4]), WireError::Side { .. }));
    assert!(matches!(changed(48, &[255; 4]), WireError::Rectangle(_)));
    assert!(matches!(changed(56, &[0; 4]), WireError::Rectangle(_)));
    assert!(matches!(changed(72, &[255; 8]), WireError::TooLarge { .. }));
    assert!(matches!(changed(72, &[1; 1]), WireError::Length { .. }));
    // A picture of 16 GiB is within the sides that are allowed, and refused before anything is allocated.
    let giant = ImageDesc::new(65_536, 65_536, PixelFormat::Rgba8);
    let giant = Header::new(MessageKind::Picture, giant, giant.extent.full());
    assert!(matches!(read(&giant.to_bytes()), Err(WireError::TooLarge { .. })));
    assert!(matches!(tile().expect(MessageKind::Job, HEADER_BYTES + 1024), Err(WireError::Kind { .. })));
    assert!(matches!(tile().expect(MessageKind::Tile, HEADER_BYTES + 1023), Err(WireError::Length { .. })));
}

fn job() -> JobMessage {
    let header = Header::new(MessageKind::Job, image(), image().extent.full()).to_bytes();
    let mut payload = [16, 16, 2, 1, 3, 0u32, 5, 11].map(u32::to_le_bytes).concat();
    payload.extend([7u64, 500].map(u64::to_le_bytes).concat());
    payload.extend(b"abc");
    let mut bytes = header.to_vec();
    bytes[72..80].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend(payload);
    let job = JobMessage::read(&bytes, &Limits::default()).unwrap();
    assert_eq!(job.to_bytes(), bytes);
    job
}

#[test]
fn a_job_has_the_bytes_of_the_protocol() {
    let job = job();
    assert_eq!((job.grid.tile(), job.grid.len()), (Extent::new(16, 16), 12));
    assert_eq!(
        (job.wanted.as_slice(), job.weights.rows(), job.args.as_slice()),
        (&[5, 11][..], &[(7, 500)][..], &b"abc"[..])
    );
}

/// Thousands of messages of every kind: none stops the program, and none is read as more than it holds.
#[test]
fn fuzzed_messages_are_read_or_refused() {
    let counts = std::cell::RefCell::new(std::collections::BTreeMap::new());
    let mut runner = proptest::test_runner::TestRunner::new(hostile::cases(20_000));
    let ran = runner.run(&hostile::any_message(), |(kind, message)| {
        let is_read = is_read(kind, &message);
        *counts.borrow_mut().entry((kind.name(), is_read)).or_insert(0) += 1;
        Ok(())
    });
    println!("{:?}", counts.borrow());
    ran.unwrap();
    // Both outcomes must occur for each kind, or the fuzz says nothing.
    assert_eq!(counts.borrow().len(), 2 * hostile::KINDS.len());
}

/// Reads a message; holds what was read against it.
fn is_read(kind: MessageKind, message: &[u8]) -> bool {
    let limits = Limits::default();
    let Ok(header) = Header::read(message, &limits) else { return false };
    assert_eq!(header.to_bytes(), message[..HEADER_BYTES]);
    header.region.check_inside(header.image.extent).unwrap();
    if header.expect(kind, message.len()).is_err() {
        return false;
    }
    match kind {
        MessageKind::Job => JobMessage::read(message, &limits).is_ok_and(|job| {
            // With two weights for one node the first counts, so that bytes may be fewer now, and no more.
            let bytes = job.to_bytes();
            assert_eq!(JobMessage::read(&bytes, &limits).unwrap().to_bytes(), bytes);
            assert!(bytes.len() <= message.len() && bytes.ends_with(&job.args));
            assert!(job.wanted.iter().all(|&tile| job.grid.region(tile).is_some()));
            true
        }),
        MessageKind::Report => Report::read(message, &limits).is_ok_and(|report| {
            assert_eq!(report.to_bytes()[HEADER_BYTES..], message[HEADER_BYTES..]);
            true
        }),
        MessageKind::Tile | MessageKind::Picture => header.unpack(&message[HEADER_BYTES..]).is_ok_and(|pixels| {
            assert_eq!(pixels.len() as u64, header.pixel_bytes());
            true
        }),
        _ => true,
    }
}

/// Few bytes stand for bounded memory before it is allocated: of tiles, of pictures, and of what they are packed in.
#[test]
fn few_bytes_never_stand_for_much_memory() {
    let job = |image: ImageDesc| {
        let header = Header::new(MessageKind::Job, image, image.extent.full());
        let tile = [image.extent.width, image.extent.height, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        let header = Header { payload: tile.len() as u64, ..header };
        JobMessage::read(&[&header.to_bytes()[..], &tile].concat(), &Limits::default()).map(drop)
    };
    for (side, format) in [(65_536, PixelFormat::Rgba32F), (65_536, PixelFormat::Rgba8), (16_384, PixelFormat::Rgba8)] {
        let refused = job(ImageDesc::new(side, side, format)).unwrap_err();
        assert!(matches!(refused, WireError::TooLarge { .. }), "{side}: {refused}");
    }
    // A part of a picture is no way around it.
    let giant = ImageDesc::new(65_536, 65_536, PixelFormat::Rgba8);
    assert!(read(&Header::new(MessageKind::Job, giant, Region::new(0, 0, 1, 1)).to_bytes()).is_err());
    assert!(job(ImageDesc::new(4096, 2160, PixelFormat::Rgba8)).is_ok());
    let unpack = |side: u32, packed: &[u8]| {
        let image = ImageDesc::new(side, side, PixelFormat::Rgba8);
        let header = Header { codec: Codec::Jpeg, ..Header::new(MessageKind::Picture, image, image.extent.full()) };
        header.unpack(packed)
    };
    let refused = |side, packed: &[u8]| match unpack(side, packed) {
        Err(error) => error.to_string(),
        Ok(pixels) => panic!("{} bytes of {} by JPEG", pixels.len(), packed.len()),
    };
    // 342 bytes of a picture that takes 64 MiB.
    let told = refused(4096, &hostile::jpeg(4096, 4096, false, 1));
    assert!(told.contains("are too few for 4096x4096"), "{told}");
    for scans in [1, 100] {
        let told = refused(64, &hostile::jpeg(64, 64, true, scans));
        assert!(told.contains("baseline"), "{told}");
    }
    let told = refused(64, &hostile::jpeg(64, 64, false, 5));
    assert!(told.contains("scans"), "{told}");
    assert!(unpack(64, &hostile::jpeg(64, 64, false, 1)).is_ok(), "a picture of one colour");
}
