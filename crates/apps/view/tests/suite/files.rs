//! Files as strangers write them: mutated ones of every kind are read or refused, in bounded memory.

use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, webp::WebPEncoder};
use image::{DynamicImage, ExtendedColorType, ImageEncoder as _, ImageFormat};
use pixelferry_look::Request;
use pixelferry_testing::{Dice, by_level};
use pixelferry_view::{FileContent, explain};
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::time::Instant;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Most bytes of memory while a file is read: small files that claim much are refused before.
const MOST: u64 = 1_000_000_000;

/// What words of two to eight bytes become.
const WORDS: [u64; 12] =
    [0, 1, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, i64::MAX as u64, u64::MAX, 16_384, 65_536];
/// What numbers in texts become.
const NUMBERS: [&str; 9] = ["0", "-1", "1", "65535", "16384", "4294967295", "18446744073709551615", "1e9", "nan"];

fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), bytes].concat()
}

fn npz(method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let bytes: Vec<u8> = (0..96).collect();
    for (name, array) in [("a.npy", npy("<f4", "(4, 6)", &bytes)), ("b.npy", npy("|u1", "(4, 8, 3)", &bytes))] {
        writer.start_file(name, SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(&array).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A picture of 24 x 16 with an orientation, as `encode` writes it.
fn picture(encode: impl FnOnce(&mut Vec<u8>, Vec<u8>, &[u8])) -> Vec<u8> {
    let exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
    let pixels: Vec<u8> = (0..24 * 16 * 3).map(|n| (n * 7 % 251) as u8).collect();
    let mut file = Vec::new();
    encode(&mut file, exif, &pixels);
    file
}

fn written(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format).unwrap();
    file.into_inner()
}

/// Kinds, and files of each.
fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let bytes: Vec<u8> = (0..=255).collect();
    let deep = DynamicImage::ImageRgba16(image::ImageBuffer::from_fn(9, 7, |x, y| {
        image::Rgba([x as u16 * 999, y as u16, 7, 9])
    }));
    let grey = DynamicImage::ImageLuma8(image::GrayImage::from_fn(9, 7, |x, y| image::Luma([(x * y) as u8])));
    let floats = DynamicImage::ImageRgb32F(image::ImageBuffer::from_fn(9, 7, |x, _| image::Rgb([x as f32, 0.5, -1.0])));
    #[cfg_attr(not(feature = "exr"), allow(unused_mut))]
    let mut all = vec![
        ("npy", vec![npy("<f8", "(4, 8)", &bytes), npy("|u1", "(8, 8, 4)", &bytes), npy(">i2", "(2, 8, 8)", &bytes)]),
        ("npz", vec![npz(CompressionMethod::Stored), npz(CompressionMethod::Deflated)]),
        (
            "png",
            vec![
                written(&deep, ImageFormat::Png),
                written(&grey, ImageFormat::Png),
                picture(|file, exif, pixels| {
                    let mut encoder = PngEncoder::new(file);
                    encoder.set_exif_metadata(exif).unwrap();
                    encoder.write_image(pixels, 24, 16, ExtendedColorType::Rgb8).unwrap();
                }),
            ],
        ),
        (
            "jpg",
            vec![
                written(&grey, ImageFormat::Jpeg),
                PROGRESSIVE.to_vec(),
                of_many_scans(),
                picture(|file, exif, pixels| {
                    let mut encoder = JpegEncoder::new(file);
                    encoder.set_exif_metadata(exif).unwrap();
                    encoder.write_image(pixels, 24, 16, ExtendedColorType::Rgb8).unwrap();
                }),
            ],
        ),
        (
            "webp",
            vec![picture(|file, exif, pixels| {
                let mut encoder = WebPEncoder::new_lossless(file);
                encoder.set_exif_metadata(exif).unwrap();
                encoder.write_image(pixels, 24, 16, ExtendedColorType::Rgb8).unwrap();
            })],
        ),
        (
            "bmp",
            vec![written(&grey, ImageFormat::Bmp), written(&DynamicImage::ImageRgb8(deep.to_rgb8()), ImageFormat::Bmp)],
        ),
        (
            "tiff",
            vec![
                written(&deep, ImageFormat::Tiff),
                written(&grey, ImageFormat::Tiff),
                written(&floats, ImageFormat::Tiff),
                tiff_of_jpeg(),
            ],
        ),
        (
            "y4m",
            ["420jpeg", "422", "444", "mono"]
                .map(|colours| {
                    [format!("YUV4MPEG2 W8 H6 F25:1 C{colours}\nFRAME\n").as_bytes(), &bytes[..144]].concat()
                })
                .to_vec(),
        ),
    ];
    #[cfg(feature = "exr")]
    all.push(("exr", exr_files()));
    all
}

/// A JPEG of 64 x 64 whose many scans each have all of its numbers: of 50 million pixels it would take half a minute.
fn of_many_scans() -> Vec<u8> {
    let segment = |mark: u8, body: &[u8]| [&[0xff, mark][..], &(body.len() as u16 + 2).to_be_bytes(), body].concat();
    let codes = |table: u8, symbol: u8| segment(0xc4, &[&[table, 1, 1][..], &[0; 14], &[symbol, 0]].concat());
    let scan = |of: [u8; 3]| [segment(0xda, &[&[1, 1, 0][..], &of].concat()), vec![0; 8]].concat();
    let [begin, end] = [[0xff, 0xd8], [0xff, 0xd9]];
    let frame = [
        segment(0xdb, &[&[0][..], &[1; 64]].concat()),
        codes(0, 0),
        codes(0x10, 1),
        segment(0xc2, &[8, 0, 64, 0, 64, 1, 1, 0x11, 0]),
    ];
    [&begin[..], &frame.concat(), &scan([0, 0, 1]), &scan([1, 63, 1]).repeat(19), &end].concat()
}

/// A TIFF of 16 x 16 in one strip, which holds a JPEG.
fn tiff_of_jpeg() -> Vec<u8> {
    let mut jpeg = Cursor::new(Vec::new());
    image::GrayImage::new(16, 16).write_to(&mut jpeg, ImageFormat::Jpeg).unwrap();
    let (strip, mut file) = (jpeg.into_inner(), b"II*\0".to_vec());
    let len = strip.len() as u16;
    file.extend([&(u32::from(len) + 8).to_le_bytes()[..], &strip, &[9, 0]].concat());
    for (tag, value) in [(256, 16), (257, 16), (258, 8), (259, 7), (262, 1), (273, 8), (277, 1), (278, 16), (279, len)]
    {
        file.extend([&u16::to_le_bytes(tag)[..], &[3, 0, 1, 0, 0, 0], &u16::to_le_bytes(value), &[0, 0]].concat());
    }
    [file, vec![0; 4]].concat()
}

/// A progressive JPEG of 8 x 8, as cjpeg writes it.
const PROGRESSIVE: &[u8] = include_bytes!("progressive.jpg");

#[cfg(feature = "exr")]
fn exr_files() -> Vec<Vec<u8>> {
    use exr::prelude::*;
    let of = |encoding: Encoding| {
        let channel = |name: &str| AnyChannel::new(name, FlatSamples::F32((0..63).map(|n| n as f32).collect()));
        let channels = AnyChannels::sort(["R", "G", "B", "Z"].map(channel).into_iter().collect());
        let layer = Layer::new((9, 7), LayerAttributes::named("one"), encoding, channels);
        let mut file = Cursor::new(Vec::new());
        Image::from_layer(layer).write().non_parallel().to_buffered(&mut file).unwrap();
        file.into_inner()
    };
    vec![of(Encoding::UNCOMPRESSED), of(Encoding::FAST_LOSSLESS), of(Encoding::SMALL_LOSSLESS)]
}

/// Changes a file as accidents and enemies do.
fn mutate(dice: &mut Dice, file: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..[1, 1, 2, 3, 6][dice.below(5)] {
        if file.is_empty() {
            return;
        }
        // Headers more often than the rest.
        let range = if dice.below(5) < 3 { file.len().min(160) } else { file.len() };
        let at = dice.below(range);
        match dice.below(9) {
            0 => file[at] ^= 1 << dice.below(8),
            1 => file[at] = [0, 1, 0x7f, 0x80, 0xff, dice.below(256) as u8][dice.below(6)],
            2 => {
                let (word, len) = (WORDS[dice.below(WORDS.len())], [2, 4, 8][dice.below(3)].min(file.len() - at));
                let mut bytes = word.to_le_bytes()[..len].to_vec();
                if dice.below(2) == 0 {
                    bytes.reverse();
                }
                file[at..at + len].copy_from_slice(&bytes);
            }
            3 => drop(file.drain(at..(at + 1 + dice.below(40)).min(file.len()))),
            4 => drop(file.splice(at..at, (0..dice.below(20)).map(|n| (n * 37) as u8).collect::<Vec<_>>())),
            5 => file.truncate(at),
            6 => {
                let from = dice.below(file.len());
                let some = file[from..(from + dice.below(200)).min(file.len())].to_vec();
                file.splice(at..at, some);
            }
            7 => {
                let digits = file[..range].iter().position(u8::is_ascii_digit);
                let Some(start) = digits else { continue };
                let len = file[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                file.splice(start..start + len, NUMBERS[dice.below(NUMBERS.len())].bytes());
            }
            _ => {
                file.truncate(at);
                file.extend(&other[dice.below(other.len())..]);
            }
        }
    }
}

/// Gives the chunks of a PNG the sums that their bytes have: others are found out before anything else is read.
fn summed(file: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = file.get(at..at + 4).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_be_bytes(*bytes))
    {
        let end = (length as usize).saturating_add(at + 8);
        let Some(body) = file.get(at + 4..end) else { return };
        let sum = !body.iter().fold(!0_u32, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(sum & 1)))
        });
        let Some(to) = file.get_mut(end..end + 4) else { return };
        to.copy_from_slice(&sum.to_be_bytes());
        at = end + 4;
    }
}

/// Bytes of memory at most since the last call, where the system tells them.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0);
    let _ = fs::write("/proc/self/clear_refs", "5");
    peak << 10
}

/// Reads it as far as `view --explain` does; true where it is an array.
fn read(kind: &str, number: usize, file: &[u8], path: &Path) -> bool {
    let opened = if kind == "npz" {
        fs::write(path, file).unwrap();
        let member = PathBuf::from(format!("{}:{}", path.display(), if number.is_multiple_of(2) { "a" } else { "b" }));
        FileContent::open(if number % 7 == 6 { path } else { &member }, "a")
    } else {
        FileContent::read_from(Cursor::new(file.to_vec()), "a", Some(file.len() as u64))
    };
    opened.is_ok_and(|opened| opened.arrays.iter().all(|array| explain(array, &Request::default()).is_ok()))
}

#[test]
fn mutated_files_are_read_or_refused_in_bounded_memory() {
    let path = std::env::temp_dir().join(format!("pixelferry-files-{}.npz", std::process::id()));
    let only = std::env::var("PIXELFERRY_FILES").ok();
    for (kind, seeds) in seeds() {
        if only.as_ref().is_some_and(|only| only != kind) {
            continue;
        }
        for seed in &seeds {
            assert!(read(kind, 0, seed, &path), "{kind} of {} bytes", seed.len());
        }
        let mut dice = Dice(0x5eed);
        let (count, mut good, mut slowest, mut largest) = (by_level(300, 2000, 100_000), 0, 0.0, 0);
        peak();
        for number in 0..count {
            let mut file = seeds[dice.below(seeds.len())].clone();
            mutate(&mut dice, &mut file, &seeds[number % seeds.len()]);
            if kind == "png" && number % 5 > 0 {
                summed(&mut file);
            }
            let begun = Instant::now();
            good += u32::from(read(kind, number, &file, &path));
            slowest = begun.elapsed().as_secs_f64().max(slowest);
            let peak = peak();
            largest = peak.max(largest);
            assert!(peak < MOST, "{kind} {number} takes {peak} bytes: {file:02x?}");
        }
        println!("{kind}: {count} files, {good} read, longest {slowest:.2} s, most memory {} MB", largest / 1_000_000);
        assert!(good > 0 && good < count as u32, "{kind}: {good} of {count} are read");
    }
    let _ = fs::remove_file(path);
}
