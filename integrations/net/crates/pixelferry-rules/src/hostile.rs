//! Messages from right to broken, of every kind: for the fuzz of the decoders, and for strangers at a running scene.

use pixelferry::{AlphaMode, Encoding, ImageDesc, PixelFormat, Region, RowOrder};
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, MessageKind};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Every kind of message.
pub const KINDS: [MessageKind; 6] = [
    MessageKind::Tile,
    MessageKind::Picture,
    MessageKind::Job,
    MessageKind::Input,
    MessageKind::Mark,
    MessageKind::Report,
];

/// The smallest JPEG that decoders take for any size: a block is two bits of its 64 bytes a scan.
pub fn jpeg(width: u32, height: u32, is_progressive: bool, scans: usize) -> Vec<u8> {
    let mut bytes = b"\xff\xd8\xff\xdb\0\x43\0".to_vec();
    bytes.extend([1; 64]);
    let side = |pixels: u32| (pixels as u16).to_be_bytes();
    bytes.extend([0xff, if is_progressive { 0xc2 } else { 0xc0 }, 0, 17, 8]);
    bytes.extend([side(height), side(width)].concat());
    bytes.extend([3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]);
    for class in [0, 0x10] {
        bytes.extend([&[0xff, 0xc4, 0, 20, class, 1][..], &[0; 16]].concat());
    }
    let last = if is_progressive { 0 } else { 63 };
    for _ in 0..scans {
        bytes.extend([0xff, 0xda, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, last, 0]);
        bytes.extend([0; 64]);
    }
    bytes.extend([0xff, 0xd9]);
    bytes
}

/// Numbers at the edges of what is taken, and any other.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..4u64, 2 => any::<u64>(), 1 => select(vec![u64::MAX, u64::MAX - 5, u32::MAX.into(), 1 << 63])]
}

fn side() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 1..100u32, 1 => select(vec![0, 16_384, 65_536, 65_537, u32::MAX]), 1 => any::<u32>()]
}

fn image() -> impl Strategy<Value = ImageDesc> {
    let encodings = vec![Encoding::Unmanaged, Encoding::Srgb, Encoding::Linear, Encoding::Gamma22];
    let alphas = vec![AlphaMode::Stored, AlphaMode::Opaque, AlphaMode::Premultiplied, AlphaMode::Straight];
    let orders = vec![RowOrder::TopDown, RowOrder::BottomUp];
    let coded = (select(PixelFormat::ALL.to_vec()), select(encodings), select(orders), select(alphas));
    (side(), side(), coded).prop_map(|(width, height, (format, encoding, order, alpha))| {
        let mut image = ImageDesc::new(width, height, format).with_encoding(encoding).with_row_order(order);
        image.alpha = alpha;
        image
    })
}

fn header(kind: MessageKind) -> impl Strategy<Value = Header> {
    let part = prop_oneof![
        3 => Just(None),
        1 => (0..100u32, 0..100u32, side(), side()).prop_map(|(x, y, w, h)| Some(Region::new(x, y, w, h))),
    ];
    let codec = select(Codec::ALL.to_vec());
    (image(), part, codec, [number(), number(), number(), number()]).prop_map(
        move |(image, part, codec, [epoch, frame, time, sender])| {
            let region = part.unwrap_or(Region::new(0, 0, image.extent.width, image.extent.height));
            let cost = time as u32;
            Header { codec, epoch, frame, time, sender, cost, ..Header::new(kind, image, region) }
        },
    )
}

/// Pixels that a header of this kind stands for, in few bytes; or anything.
fn payload(header: Header) -> BoxedStrategy<Vec<u8>> {
    let other = vec(any::<u8>(), 0..80);
    let Region { width, height, .. } = header.region;
    let pixels = header.pixel_bytes().min(1 << 14) as usize;
    match (header.kind, header.codec) {
        (MessageKind::Tile | MessageKind::Picture, Codec::None) => {
            prop_oneof![4 => Just(vec![7; pixels]), 1 => other].boxed()
        }
        (MessageKind::Tile | MessageKind::Picture, Codec::Lz4) => {
            let packed =
                header.pack(Codec::Lz4, &vec![7; pixels], 0).map_or(Vec::new(), |it| it[HEADER_BYTES..].to_vec());
            prop_oneof![4 => Just(packed), 1 => other].boxed()
        }
        (MessageKind::Tile | MessageKind::Picture, _) => {
            let made = (any::<bool>(), 1..30usize)
                .prop_map(move |(progressive, scans)| jpeg(width, height, progressive, scans));
            prop_oneof![4 => made, 1 => other].boxed()
        }
        (MessageKind::Job, _) => {
            let lists = (vec(prop_oneof![4 => 0..20u32, 1 => any::<u32>()], 0..4), vec((number(), number()), 0..4));
            (side(), side(), lists, other)
                .prop_map(|(width, height, (wanted, weights), args)| {
                    let counts = [wanted.len() as u32, weights.len() as u32, args.len() as u32, 0];
                    let numbers = [width, height].into_iter().chain(counts).chain(wanted);
                    let mut bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
                    bytes.extend(
                        weights.iter().flat_map(|(node, weight)| [node.to_le_bytes(), weight.to_le_bytes()].concat()),
                    );
                    bytes.extend(args);
                    bytes
                })
                .boxed()
        }
        (MessageKind::Report, _) => {
            let numbers = (number(), number(), 0..3u64);
            numbers.prop_map(|(bytes, time, shared)| [bytes, time, shared].map(u64::to_le_bytes).concat()).boxed()
        }
        (MessageKind::Mark, _) => prop_oneof![4 => Just(Vec::new()), 1 => other].boxed(),
        _ => other.boxed(),
    }
}

/// A whole message: mostly as its sender made it, else with bytes that changed, were lost or came on top.
pub fn message(kind: MessageKind) -> impl Strategy<Value = Vec<u8>> {
    let whole = header(kind).prop_flat_map(|header| (Just(header), payload(header)));
    let changes = prop_oneof![2 => Just(Vec::new()), 1 => vec((0..200usize, any::<u8>()), 1..4)];
    let length = prop_oneof![8 => Just(0), 1 => -200..8isize];
    (whole, changes, length).prop_map(|((header, payload), changes, length)| {
        let header = Header { payload: payload.len() as u64, ..header };
        let mut bytes = [&header.to_bytes()[..], &payload].concat();
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        bytes.resize(bytes.len().saturating_add_signed(length), 1);
        bytes
    })
}

/// A message of any kind.
pub fn any_message() -> impl Strategy<Value = (MessageKind, Vec<u8>)> {
    select(KINDS.to_vec()).prop_flat_map(|kind| (Just(kind), message(kind)))
}

/// Cases of a fuzz: `PIXELFERRY_MESSAGES`, else so many, and twenty times as many by night.
pub fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("PIXELFERRY_MESSAGES").ok().and_then(|count| count.parse().ok());
    let cases = asked.unwrap_or_else(|| pixelferry_testing::by_level(few, few, 20 * few));
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 10_000, ..ProptestConfig::default() }
}
