//! Content of encoders' output and of files, decoded by GStreamer and compared with the original.

use bytes::Bytes;
use interop_core::{Extent, ImageDesc, PixelFormat, RowOrder};
use pixelferry_media::video::{Element, Encoder, Error, Recorder, Said, Shape, Unit, encoders};
use pixelferry_media::wire::{Codec, Header, Kind};
use pixelferry_testing::{Need, need};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

/// The encoders, or SKIPPED and why.
fn gstreamer() -> Option<Vec<Element>> {
    need(Need::Gstreamer, encoders().map_err(|error| error.to_string()))
}

/// Smooth: grey, reddish to the right, greenish downwards, and darker with each frame.
fn colour(x: u32, y: u32, size: Extent, frame: u64) -> [u8; 3] {
    let part = |at: u32, of: u32| (120 * at / of) as u8;
    let dark = 8 * frame as u8;
    [200 - dark - part(y, size.height), 80 + part(y, size.height), 60 + part(x, size.width)]
}

fn stored(format: PixelFormat, [red, green, blue]: [u8; 3]) -> Vec<u8> {
    match format {
        PixelFormat::Rgba8 => vec![red, green, blue, 0],
        PixelFormat::Bgra8 => vec![blue, green, red, 0],
        _ => vec![red],
    }
}

fn picture(image: ImageDesc, frame: u64, codec: Codec) -> Bytes {
    let Extent { width, height } = image.extent;
    let rows = (0..height).map(|row| if image.row_order == RowOrder::BottomUp { height - 1 - row } else { row });
    let pixel = |x, y| stored(image.format, colour(x, y, image.extent, frame));
    let pixels: Vec<u8> = rows.flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect();
    let header = Header { frame, ..Header::new(Kind::Picture, image, image.extent.full()) };
    header.pack(codec, &pixels, 95).unwrap().into()
}

/// Whole pictures of RGB with four bytes a pixel.
fn decode(source: &[&str], input: &[u8]) -> Vec<u8> {
    let mut launch = Command::new("gst-launch-1.0");
    // Not every encoder writes down its colours.
    launch.arg("-q").args(source).args(["!", "decodebin", "!", "capssetter", "caps=video/x-raw,colorimetry=bt709"]);
    launch.args(["!", "videoconvert", "!", "video/x-raw,format=RGBx", "!"]);
    launch.args(["fdsink", "fd=1", "sync=false"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = launch.spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // A decoder of a file reads none of it.
    let _ = writer.join().unwrap();
    assert!(output.status.success());
    output.stdout
}

/// Holds a decoded picture of `size` against a frame's colours.
#[track_caller]
fn compare(decoded: &[u8], size: Extent, image: &ImageDesc, frame: u64) {
    let mut far = 0;
    for y in 0..image.extent.height {
        for x in 0..image.extent.width {
            let mut expected = colour(x, y, image.extent, frame);
            if image.format == PixelFormat::R8 {
                expected = [expected[0]; 3];
            }
            let at = 4 * (y * size.width + x) as usize;
            far = decoded[at..at + 3].iter().zip(expected).map(|(a, b)| a.abs_diff(b)).fold(far, u8::max);
        }
    }
    assert!(far <= 16, "{image:?}, frame {frame}: {far} apart");
}

fn started(element: Element, first: &Bytes) -> (Encoder, Receiver<Said>) {
    let (tell, told) = channel();
    let shape = Shape::of(first).unwrap();
    (Encoder::start(element, shape, move |said| drop(tell.send(said))).unwrap(), told)
}

fn unit(told: &Receiver<Said>) -> Unit {
    match told.recv_timeout(PATIENCE).unwrap() {
        Said::Unit(unit) => unit,
        Said::Ended(error) => panic!("{error}"),
    }
}

#[test]
fn each_picture_comes_back_at_once_as_it_was() {
    let Some(elements) = gstreamer() else { return };
    for element in elements {
        for (format, order, codec, (width, height)) in [
            (PixelFormat::Rgba8, RowOrder::TopDown, Codec::None, (320, 240)),
            (PixelFormat::Bgra8, RowOrder::BottomUp, Codec::Lz4, (61, 37)),
            (PixelFormat::Rgba8, RowOrder::BottomUp, Codec::Jpeg, (333, 201)),
            (PixelFormat::R8, RowOrder::TopDown, Codec::None, (1, 1)),
        ] {
            let image = ImageDesc::new(width, height, format).with_row_order(order);
            let (encoder, told) = started(element, &picture(image, 1, codec));
            let mut stream = Vec::new();
            for frame in 1..=4 {
                encoder.write(picture(image, frame, codec));
                let unit = unit(&told);
                assert_eq!(unit.header.frame, frame, "{}", element.name);
                // Parameter sets are units of kind 7.
                let has_sets = unit.bytes.windows(4).any(|bytes| bytes[..3] == [0, 0, 1] && bytes[3] & 31 == 7);
                assert_eq!(unit.is_key, has_sets, "{}, frame {frame}", element.name);
                assert!(unit.is_key || frame > 1, "{}: the first picture is no keyframe", element.name);
                assert_eq!(unit.header.image.row_order, RowOrder::TopDown);
                stream.extend(unit.bytes);
            }
            let size =
                Extent { width: width.max(160).next_multiple_of(4), height: height.max(160).next_multiple_of(4) };
            let decoded = decode(&["fdsrc", "fd=0", "!", "h264parse"], &stream);
            let bytes = 4 * size.pixels() as usize;
            assert_eq!(decoded.len(), 4 * bytes, "{}, {image:?}", element.name);
            for (frame, decoded) in (1..).zip(decoded.chunks_exact(bytes)) {
                compare(decoded, size, &image, frame);
            }
        }
    }
}

#[test]
fn an_encoder_that_is_not_there_says_so() {
    if gstreamer().is_none() {
        return;
    }
    let first = picture(ImageDesc::new(64, 64, PixelFormat::Rgba8), 1, Codec::None);
    let mut element = encoders().unwrap()[0];
    element.name = "nosuchh264enc";
    let (encoder, told) = started(element, &first);
    encoder.write(first);
    let Said::Ended(error) = told.recv_timeout(PATIENCE).unwrap() else { panic!("a unit of none") };
    assert!(error.to_string().contains("nosuchh264enc"), "{error}");
    drop(encoder);
    assert!(told.recv_timeout(PATIENCE).is_err(), "nothing comes after the end");
}

#[test]
fn a_file_holds_the_pictures() {
    if gstreamer().is_none() {
        return;
    }
    let image = ImageDesc::new(200, 170, PixelFormat::Rgba8);
    let folder = std::env::temp_dir();
    for ending in ["mp4", "mkv", "h264"] {
        let path = folder.join(format!("recorded {}.{ending}", std::process::id()));
        let mut recorder = Recorder::start(&path, 25, &picture(image, 1, Codec::None)).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        recorder.write(&picture(image, 5, Codec::Jpeg)).unwrap();
        let written = recorder.finish().unwrap();
        assert!(written >= 2);
        let source = path.to_str().unwrap().to_owned();
        let decoded = decode(&["filesrc", &format!("location={source}")], &[]);
        let size = Extent { width: 200, height: 172 };
        let bytes = 4 * size.pixels() as usize;
        assert_eq!(decoded.len(), written as usize * bytes, "{ending}");
        compare(&decoded[..bytes], size, &image, 1);
        compare(&decoded[decoded.len() - bytes..], size, &image, 5);
        std::fs::remove_file(path).unwrap();
    }
    let first = picture(image, 1, Codec::None);
    assert!(matches!(Recorder::start(Path::new("a.avi"), 25, &first), Err(Error::Container(_))));
    let path = folder.join(format!("changed {}.mp4", std::process::id()));
    let mut recorder = Recorder::start(&path, 25, &first).unwrap();
    let other = picture(ImageDesc::new(100, 100, PixelFormat::Rgba8), 2, Codec::None);
    assert!(matches!(recorder.write(&other), Err(Error::Ended { .. })));
    assert!(recorder.finish().is_ok(), "what came before is a whole file");
    std::fs::remove_file(path).unwrap();
}

/// A name is a name, whatever GStreamer's language makes of its letters.
#[cfg(unix)]
#[test]
fn a_file_gets_the_name_that_it_was_given_and_no_other_is_made() {
    use std::os::unix::ffi::OsStrExt as _;
    if gstreamer().is_none() {
        return;
    }
    let image = ImageDesc::new(160, 160, PixelFormat::Rgba8);
    let folder = std::env::temp_dir().join(format!("names-{}", std::process::id()));
    let names: [&[u8]; 6] = [
        b"x\" fakesrc ! filesink location=evil.mp4",
        b"x ! filesink location=evil.mp4",
        b"a\\b.mp4",
        b"it's \"two words\".mp4",
        b"not \xff UTF-8.mp4",
        b"100%05d.mkv",
    ];
    for name in names {
        let name = std::ffi::OsStr::from_bytes(name);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        let mut recorder = Recorder::start(&path, 25, &picture(image, 1, Codec::None)).unwrap();
        // Some decoders give nothing for a single picture.
        std::thread::sleep(Duration::from_millis(100));
        recorder.write(&picture(image, 2, Codec::None)).unwrap();
        let written = recorder.finish().unwrap();
        let found: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(found, [name], "{path:?}");
        let plain = folder.with_extension("plain");
        std::fs::rename(&path, &plain).unwrap();
        let decoded = decode(&["filesrc", &format!("location={}", plain.display())], &[]);
        std::fs::remove_file(plain).unwrap();
        assert_eq!(decoded.len(), written as usize * 160 * 160 * 4, "{path:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
    let absent = Recorder::start(&folder.join("a.mp4"), 25, &picture(image, 1, Codec::None)).err().unwrap();
    assert!(matches!(&absent, Error::File { path, .. } if path.ends_with("a.mp4")), "{absent}");
}
