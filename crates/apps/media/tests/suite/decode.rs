//! Content of encoders' output and of files, decoded by GStreamer and compared with the original.

use bytes::Bytes;
use interop_core::{Extent, ImageDesc, PixelFormat, RowOrder};
use pixelferry_media::video::{Container, Decoder, Element, Encoder, EncoderReport, Shape, Unit, VideoFile, encoders};
use pixelferry_media::wire::{Codec, Header, MessageKind};
use pixelferry_media::yuv::{Frames, Layout, Planes, Weights};
use pixelferry_testing::{Need, need, wait_until};
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
    let header = Header { frame, ..Header::new(MessageKind::Picture, image, image.extent.full()) };
    header.pack(codec, &pixels, 95).unwrap().into()
}

/// Whole pictures of RGB with four bytes a pixel.
fn decode(source: &[&str], input: &[u8]) -> Vec<u8> {
    // Not every encoder writes down its colours.
    let decoded = ["!", "decodebin", "!", "capssetter", "caps=video/x-raw,colorimetry=bt709"];
    let pixels = ["!", "videoconvert", "!", "video/x-raw,format=RGBx"];
    launched(&[source, &decoded, &pixels].concat(), input)
}

/// What a pipeline makes of its input.
fn launched(pipeline: &[&str], input: &[u8]) -> Vec<u8> {
    let mut launch = Command::new("gst-launch-1.0");
    launch.arg("-q").args(pipeline).args(["!", "fdsink", "fd=1", "sync=false"]);
    launch.stdin(Stdio::piped()).stdout(Stdio::piped());
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

fn started(element: Element, first: &Bytes) -> (Encoder, Receiver<EncoderReport>) {
    let (tell, told) = channel();
    let shape = Shape::of(first).unwrap();
    (Encoder::start(element, shape, move |said| drop(tell.send(said))).unwrap(), told)
}

fn unit(told: &Receiver<EncoderReport>) -> Unit {
    match told.recv_timeout(PATIENCE).unwrap() {
        EncoderReport::Unit(unit) => unit,
        EncoderReport::Ended(error) => panic!("{error}"),
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
            let (mut stream, mut frames) = (Vec::new(), Vec::new());
            for frame in 1..=4 {
                encoder.write(picture(image, frame, codec));
                // A picture that an encoder kept back for a while was given twice, and comes twice.
                while frames.last() != Some(&frame) {
                    let unit = unit(&told);
                    assert!([frame - 1, frame].contains(&unit.header.frame), "{}: {}", element.name, unit.header.frame);
                    // Parameter sets are units of kind 7.
                    let has_sets = unit.bytes.windows(4).any(|bytes| bytes[..3] == [0, 0, 1] && bytes[3] & 31 == 7);
                    assert_eq!(unit.is_key, has_sets, "{}, frame {frame}", element.name);
                    assert!(unit.is_key || !frames.is_empty(), "{}: the first picture is no keyframe", element.name);
                    assert_eq!(unit.header.image.row_order, RowOrder::TopDown);
                    frames.push(unit.header.frame);
                    stream.extend(unit.bytes);
                }
            }
            let size =
                Extent { width: width.max(160).next_multiple_of(4), height: height.max(160).next_multiple_of(4) };
            let decoded = decode(&["fdsrc", "fd=0", "!", "h264parse"], &stream);
            let bytes = 4 * size.pixels() as usize;
            assert_eq!(decoded.len(), frames.len() * bytes, "{}, {image:?}, {frames:?}", element.name);
            for (frame, decoded) in frames.into_iter().zip(decoded.chunks_exact(bytes)) {
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
    let EncoderReport::Ended(error) = told.recv_timeout(PATIENCE).unwrap() else { panic!("a unit of none") };
    assert!(error.to_string().contains("nosuchh264enc"), "{error}");
    drop(encoder);
    assert!(told.recv_timeout(PATIENCE).is_err(), "nothing comes after the end");
}

/// Tight rows of RGBA8, the top one first.
fn pixels(extent: Extent, frame: u64) -> Vec<u8> {
    let places = (0..extent.height).flat_map(|y| (0..extent.width).map(move |x| (x, y)));
    let image = ImageDesc::new(extent.width, extent.height, PixelFormat::Rgba8);
    places.flat_map(|(x, y)| stored(image.format, colour(x, y, extent, frame % 8))).collect()
}

/// Red, green and blue of planes in 4:2:0, by BT.709-6's own equations.
fn of_planes(planes: &[u8], size: Extent) -> Vec<[f64; 3]> {
    let (width, height) = (size.width as usize, size.height as usize);
    let (luma, chroma) = planes.split_at(width * height);
    let (blue, red) = chroma.split_at(chroma.len() / 2);
    let colour = |at: usize| {
        let block = at / width / 2 * (width / 2) + at % width / 2;
        let luma = (f64::from(luma[at]) - 16.0) / 219.0;
        let [blue, red] = [blue[block], red[block]].map(|number| (f64::from(number) - 128.0) / 224.0);
        let (r, b) = (luma + red * 2.0 * (1.0 - 0.2126), luma + blue * 2.0 * (1.0 - 0.0722));
        [r, (luma - 0.2126 * r - 0.0722 * b) / 0.7152, b].map(|part| (part * 255.0).clamp(0.0, 255.0))
    };
    (0..width * height).map(colour).collect()
}

#[test]
fn a_file_holds_the_pictures_and_their_colours() {
    if gstreamer().is_none() {
        return;
    }
    let (extent, frames) = (Extent::new(200, 171), 20);
    let folder = std::env::temp_dir();
    for ending in ["mp4", "mkv", "ts", "h264"] {
        let path = folder.join(format!("recorded {}.{ending}", std::process::id()));
        let container = Container::of(&path).unwrap();
        container.check().unwrap();
        let file = std::fs::File::create(&path).unwrap();
        let mut video = VideoFile::start(file, container, 25, extent, &pixels(extent, 0)).unwrap();
        let mut planes = Vec::new();
        for frame in 0..frames {
            video.frame(&pixels(extent, frame), &mut planes);
            video.put(&planes).unwrap();
        }
        video.finish().unwrap();
        // What is written names its colours: of others the caps would let nothing through.
        let caps = "video/x-raw,format=I420,colorimetry=bt709";
        let location = format!("location={}", path.display());
        let source = ["filesrc", &location, "!", "decodebin", "!", "videoconvert", "!", caps];
        let decoded = launched(&source, &[]);
        let size = Extent::new(200, 172);
        let bytes = size.pixels() as usize * 3 / 2;
        assert_eq!(decoded.len(), frames as usize * bytes, "{ending}");
        for (frame, planes) in decoded.chunks(bytes).enumerate() {
            let (found, wanted) = (of_planes(planes, size), pixels(extent, frame as u64));
            let pairs = found.iter().zip(wanted.chunks(4));
            let errors = pairs.flat_map(|(a, b)| (0..3).map(|c| (a[c] - f64::from(b[c])).powi(2)));
            let psnr = 10.0 * (255.0 * 255.0 / (errors.sum::<f64>() / (extent.pixels() * 3) as f64)).log10();
            assert!(psnr >= 40.0, "{ending}, frame {frame}: {psnr} dB");
        }
        std::fs::remove_file(path).unwrap();
    }
    for name in ["a.avi", "mp4", ""] {
        assert_eq!(Container::of(Path::new(name)), None);
    }
}

/// What was written can be played, whoever is gone.
#[cfg(unix)]
#[test]
fn an_encoder_that_is_killed_or_hangs_is_said_and_leaves_what_was_written() {
    if gstreamer().is_none() {
        return;
    }
    let extent = Extent::new(160, 160);
    for (ending, signal, said) in [("mp4", "-KILL", "264enc"), ("mkv", "-KILL", "264enc"), ("mp4", "-STOP", "hangs")] {
        let path = std::env::temp_dir().join(format!("killed {}{signal}.{ending}", std::process::id()));
        let container = Container::of(&path).unwrap();
        let file = std::fs::File::create(&path).unwrap();
        let mut video = VideoFile::start(file, container, 25, extent, &pixels(extent, 0)).unwrap();
        let mut planes = Vec::new();
        let mut put = |video: &mut VideoFile, frame: u64| {
            video.frame(&pixels(extent, frame), &mut planes);
            video.put(&planes)
        };
        // Four seconds, of which a fragment is one.
        (0..100).for_each(|frame| put(&mut video, frame).unwrap());
        let written = || std::fs::metadata(&path).unwrap().len();
        wait_until("fragments in the file", || written() > 10_000);
        let id = video.process();
        assert!(Command::new("kill").args([signal, &id.to_string()]).status().unwrap().success());
        video.wait_for(Duration::from_secs(2));
        let error = (0..1000).find_map(|frame| put(&mut video, frame).err()).expect("the encoder is gone");
        assert!(error.to_string().contains(said), "{error}");
        assert!(put(&mut video, 0).is_err() && video.finish().is_err());
        let location = format!("location={}", path.display());
        let decoded = launched(
            &["filesrc", &location, "!", "decodebin", "!", "videoconvert", "!", "video/x-raw,format=I420"],
            &[],
        );
        let bytes = 160 * 160 * 3 / 2;
        assert!(decoded.len() >= 25 * bytes, "{ending}: {} frames", decoded.len() / bytes);
        std::fs::remove_file(path).unwrap();
    }
}

/// A name is a name, whatever GStreamer's language makes of its letters.
#[cfg(unix)]
#[test]
fn a_file_gets_the_name_that_it_was_given_and_no_other_is_made() {
    use std::os::unix::ffi::OsStrExt as _;
    if gstreamer().is_none() {
        return;
    }
    let extent = Extent::new(160, 160);
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
        let file = std::fs::File::create(&path).unwrap();
        let mut video = VideoFile::start(file, Container::of(&path).unwrap(), 25, extent, &pixels(extent, 0)).unwrap();
        let mut planes = Vec::new();
        video.frame(&pixels(extent, 0), &mut planes);
        // Some decoders give nothing for a single picture.
        (0..3).for_each(|_| video.put(&planes).unwrap());
        video.finish().unwrap();
        let found: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(found, [name], "{path:?}");
        let plain = folder.with_extension("plain");
        std::fs::rename(&path, &plain).unwrap();
        let decoded = decode(&["filesrc", &format!("location={}", plain.display())], &[]);
        std::fs::remove_file(plain).unwrap();
        assert_eq!(decoded.len(), 3 * 160 * 160 * 4, "{path:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

/// Beside what GStreamer makes of the same pictures, step by step and without dithering.
#[test]
fn planes_become_the_colours_that_gstreamer_makes() {
    if gstreamer().is_none() {
        return;
    }
    let extent = Extent::new(322, 181);
    for (layout, name) in [(Layout::I420, "I420"), (Layout::Nv12, "NV12"), (Layout::P010, "P010_10LE")] {
        for (colorimetry, weights, is_full) in
            [("bt709", Weights::BT709, false), ("bt601", Weights::BT601, false), ("1:3:5:1", Weights::BT709, true)]
        {
            let caps = format!("video/x-raw,format={name},width=322,height=181,colorimetry=(string){colorimetry}");
            // Colours in bars and circles, and noise.
            let source = ["videotestsrc", "num-buffers=1", "pattern=smpte", "!", &caps];
            // Theirs are up to 4 off at 8 bits, and up to 2.4 at 16, to which they widen numbers of 8 bits by repeating them.
            let exact = ["!", "videoconvert", "dither=none", "chroma-mode=none", "!", "video/x-raw,format=ARGB64"];
            let picture = launched(&source, &[]);
            let found = Planes::new(layout, extent, weights, is_full).rgb(&picture).unwrap();
            let theirs = launched(&[&source[..], &exact].concat(), &[]);
            assert_eq!(theirs.len(), 322 * 181 * 8, "{name}");
            let numbers = theirs.chunks(8).flat_map(|pixel| [1, 2, 3].map(|at| [pixel[2 * at], pixel[2 * at + 1]]));
            let levels = numbers.map(|number| f64::from(u16::from_ne_bytes(number)) / 257.0);
            let worst = levels.zip(&found).map(|(a, b)| (a - f64::from(*b)).abs()).fold(0.0, f64::max);
            let most = if layout == Layout::P010 { 1.0 } else { 2.4 };
            assert!(worst <= most, "{name} {colorimetry}: {worst}");
        }
    }
}

#[test]
fn a_decoder_gives_the_pictures_of_a_file() {
    if gstreamer().is_none() {
        return;
    }
    let path = std::env::temp_dir().join(format!("decoded {}.mp4", std::process::id()));
    // Whole blocks of the encoder's, parts of them, odd sides, and the shortest.
    for (width, height) in [(160, 168), (854, 34), (100, 60), (641, 361), (64, 48), (16, 16)] {
        decoded(&path, Extent::new(width, height));
    }
    // Cut in the middle, and no video at all.
    let whole = std::fs::read(&path).unwrap();
    for bytes in [&whole[..200], &b"no video"[..], &[]] {
        std::fs::write(&path, bytes).unwrap();
        let mut decoder = Decoder::open(std::fs::File::open(&path).unwrap()).unwrap();
        let error = decoder.next_picture().map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with("decodebin: "), "{error}");
    }
    let tiny = Extent::new(15, 16);
    let file = std::fs::File::create(&path).unwrap();
    let error =
        VideoFile::start(file, Container::of(&path).unwrap(), 50, tiny, &pixels(tiny, 0)).map(drop).unwrap_err();
    assert!(error.to_string().contains("sides have 16 to 16384"), "{error}");
    std::fs::remove_file(path).unwrap();
}

/// Writes a film of this size, and holds what is decoded of it against its pictures, to their last column and row.
fn decoded(path: &Path, extent: Extent) {
    let file = std::fs::File::create(path).unwrap();
    let mut video = VideoFile::start(file, Container::of(path).unwrap(), 50, extent, &pixels(extent, 0)).unwrap();
    let mut planes = Vec::new();
    for frame in 0..8 {
        video.frame(&pixels(extent, frame), &mut planes);
        video.put(&planes).unwrap();
    }
    let even = Extent::new(extent.width.next_multiple_of(2), extent.height.next_multiple_of(2));
    assert_eq!(video.extent(), even);
    video.finish().unwrap();
    let mut decoder = Decoder::open(std::fs::File::open(path).unwrap()).unwrap();
    let mut frames = 0;
    while let Some(picture) = decoder.next_picture().unwrap() {
        assert_eq!((picture.planes.extent(), picture.period), (even, Duration::from_millis(20)), "{extent}");
        let found = picture.planes.rgb(&picture.bytes).unwrap();
        let [row, all] = [4 * extent.width as usize, 3 * even.width as usize];
        let mut wanted = pixels(extent, frames);
        // Of an odd side the last pixels are there twice.
        wanted.extend_from_within(wanted.len() - row * (even.height - extent.height) as usize..);
        let rows = found.chunks(all).zip(wanted.chunks(row));
        let last = |found: &[u8], wanted: &[u8]| (found[all - 3..].to_vec(), wanted[row - 4..row - 1].to_vec());
        for (found, wanted) in rows.map(|(found, wanted)| last(found, wanted)) {
            assert!(found.iter().zip(&wanted).all(|(a, b)| a.abs_diff(*b) < 16), "{extent}: {found:?} {wanted:?}");
        }
        let rows = found.chunks(all).zip(wanted.chunks(row));
        let pairs = rows.flat_map(|(found, wanted)| found.chunks(3).zip(wanted.chunks(4)));
        let errors = pairs.flat_map(|(a, b)| (0..3).map(|c| f64::from(a[c].abs_diff(b[c])).powi(2)));
        let psnr = 10.0 * (255.0 * 255.0 / (errors.sum::<f64>() / (extent.pixels() * 3) as f64)).log10();
        // Of few pixels, all are edges of the encoder's blocks.
        let least = if extent.width < 64 { 32.0 } else { 38.0 };
        assert!(psnr >= least, "{extent}, frame {frames}: {psnr} dB");
        frames += 1;
    }
    assert_eq!(frames, 8);
}

/// Programs that assume BT.601 of every Y4M see the colours that were recorded, whatever its size.
#[test]
fn a_y4m_has_the_same_colours_for_ffmpeg_at_every_size() {
    let there = Command::new("ffmpeg").arg("-version").output().map(drop).map_err(|error| error.to_string());
    if need(Need::Ffmpeg, there).is_none() {
        return;
    }
    for height in [90, 720] {
        let extent = Extent::new(160, height);
        let frames = Frames::new(extent, 25);
        let red: Vec<u8> = [255, 0, 0, 255].repeat(extent.pixels() as usize);
        let mut film = frames.header().into_bytes();
        frames.put(&red, &mut film);
        let mut ffmpeg = Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-f", "yuv4mpegpipe", "-i", "-", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]);
        let mut child = ffmpeg.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || stdin.write_all(&film));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        assert_eq!(output.stdout.len(), 3 * extent.pixels() as usize);
        let pixel = &output.stdout[..3];
        assert!(pixel.iter().zip([255, 0, 0]).all(|(a, b): (&u8, u8)| a.abs_diff(b) <= 3), "{height} rows: {pixel:?}");
    }
}
