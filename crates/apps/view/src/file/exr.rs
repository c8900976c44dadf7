//! OpenEXR pictures. Colour channels form one array; each other channel is an array of its own type.

use super::all;
use crate::array::Array;
use crate::error::ReadError;
use crate::sheets::sheets;
use exr::block;
use exr::error::Error;
use exr::meta::header::Header;
use exr::prelude::{AnyChannel, AnyChannels, FlatSamples, Layer, ReadChannels as _, ReadLayers as _, read as reader};
use pixelferry_look::Number;
use pixelferry_media::memory;
use std::io::{Cursor, Read};
use std::mem;

/// Reads what follows the first bytes.
pub fn read(mut bytes: Vec<u8>, from: impl Read, name: &str) -> Result<Vec<Array>, ReadError> {
    all(from, &mut bytes)?;
    let packed = bytes.len() as u128;
    let chunks = block::read(Cursor::new(bytes), false)?;
    // A small file may claim any size; the crate's own sum of sizes could overflow.
    let claimed: u128 = chunks.headers().iter().map(claimed).sum();
    // Three copies: unpacked, pixel by pixel, and as arrays.
    memory::check(packed + 3 * claimed)?;
    let flat = reader().no_deep_data().largest_resolution_level().all_channels().all_layers().all_attributes();
    let image = flat.non_parallel().from_chunks(chunks)?;
    let mut arrays = Vec::new();
    let is_one = image.layer_data.len() == 1;
    for layer in &image.layer_data {
        // In a file of several layers each has a name; in a file with one, channel names may begin with layer names.
        let of = layer.attributes.layer_name.as_ref().filter(|_| !is_one);
        let name = of.map_or_else(|| name.to_owned(), |of| format!("{name}: {of}"));
        arrays.extend(arrays_of(layer, &name)?);
    }
    if arrays.is_empty() { Err(Error::Invalid("the picture has no channels".into()).into()) } else { Ok(arrays) }
}

/// Bytes of the largest level, the only one that is read.
fn claimed(header: &Header) -> u128 {
    let bytes = header.channels.list.iter().map(|channel| channel.sample_type.bytes_per_sample() as u128);
    bytes.sum::<u128>() * header.layer_size.0 as u128 * header.layer_size.1 as u128
}

fn arrays_of(layer: &Layer<AnyChannels<FlatSamples>>, name: &str) -> Result<Vec<Array>, ReadError> {
    let channels = &layer.channel_data.list;
    if let Some(channel) = channels.iter().find(|channel| (channel.sampling.0, channel.sampling.1) != (1, 1)) {
        let reason = format!("channel {} of {name} is subsampled", channel.name);
        return Err(Error::NotSupported(reason.into()).into());
    }
    let names: Vec<String> = channels.iter().map(|channel| channel.name.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sheet = |(name, taken): (String, Vec<String>)| {
        let of = |taken: &String| names.iter().position(|name| name == taken).map(|at| &channels[at]);
        let taken: Vec<_> = taken.iter().filter_map(of).collect();
        let mut shape = vec![layer.size.1 as i64, layer.size.0 as i64];
        shape.extend((taken.len() > 1).then_some(taken.len() as i64));
        let (bytes, number) = interleaved(&taken);
        Array::new(&name, &bytes, shape, number)
    };
    sheets(name, &names).into_iter().map(sheet).collect()
}

/// Interleaves channels: in their own type, or as floats if their types differ.
fn interleaved(channels: &[&AnyChannel<FlatSamples>]) -> (Vec<u8>, Number) {
    let all: Vec<&FlatSamples> = channels.iter().map(|channel| &channel.sample_data).collect();
    let count = all.first().map_or(0, |one| one.len());
    let number = |code, bits| Number { code, bits, foreign: false };
    let is_one = all.windows(2).all(|two| mem::discriminant(two[0]) == mem::discriminant(two[1]));
    let mut bytes = Vec::new();
    for (pixel, one) in (0..count).flat_map(|pixel| all.iter().map(move |one| (pixel, *one))) {
        match one {
            FlatSamples::F16(all) if is_one => bytes.extend(all[pixel].to_ne_bytes()),
            FlatSamples::U32(all) if is_one => bytes.extend(all[pixel].to_ne_bytes()),
            other => bytes.extend(other.value_by_flat_index(pixel).to_f32().to_ne_bytes()),
        }
    }
    let number = match all.first() {
        Some(FlatSamples::F16(_)) if is_one => number(2, 16),
        Some(FlatSamples::U32(_)) if is_one => number(1, 32),
        _ => number(2, 32),
    };
    (bytes, number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use exr::prelude::{
        ChannelDescription, Encoding, Image, LayerAttributes, SampleType, Vec2, WritableImage as _, f16,
    };
    use pixelferry_look::{Request, Spot};

    const SIZE: (usize, usize) = (5, 3);

    fn channel(name: &str, samples: FlatSamples) -> AnyChannel<FlatSamples> {
        AnyChannel::new(name, samples)
    }

    fn halves(from: f32) -> FlatSamples {
        FlatSamples::F16((0..15).map(|n| f16::from_f32(from + n as f32)).collect())
    }

    fn layer(name: &str, channels: Vec<AnyChannel<FlatSamples>>) -> Layer<AnyChannels<FlatSamples>> {
        let attributes = LayerAttributes::named(name);
        Layer::new(SIZE, attributes, Encoding::FAST_LOSSLESS, AnyChannels::sort(channels.into()))
    }

    fn file(layers: Vec<Layer<AnyChannels<FlatSamples>>>) -> Vec<u8> {
        let (mut bytes, size) = (Cursor::new(Vec::new()), exr::prelude::ImageAttributes::with_size(SIZE));
        let image = Image::from_layers(size, layers);
        image.write().non_parallel().to_buffered(&mut bytes).unwrap();
        bytes.into_inner()
    }

    /// Names, types and shapes, and the numbers of pixel (row 1, column 2), which is the eighth.
    fn told(bytes: Vec<u8>) -> Vec<String> {
        let tell = |array: Array| {
            let plane = array.plane(&Request::default()).unwrap();
            let spot = Spot { image: 0, row: 1, column: 2 };
            let values = array.read(&plane.span, |bytes| plane.values(bytes, spot)).unwrap();
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            format!("{}: {}: {}", array.name(), plane.summary().split(';').next().unwrap(), values.join(" "))
        };
        read(bytes, &[][..], "a").unwrap().into_iter().map(tell).collect()
    }

    #[test]
    fn channels_of_layers_are_arrays() {
        let floats = FlatSamples::F32((0..15).map(|n| n as f32 / 8.0).collect());
        let ids = FlatSamples::U32((0..15).map(|n| 4_000_000_000 + n).collect());
        let colours = || [("R", 0.0), ("G", 100.0), ("B", 200.0)].map(|(name, from)| channel(name, halves(from)));
        let mut channels = Vec::from(colours());
        channels.extend([channel("Z", floats.clone()), channel("id", ids)]);
        assert_eq!(
            told(file(vec![layer("one", channels)])),
            [
                "a: float16 as HWC, 5x3: 7.0 107.0 207.0",
                "a: Z: float32 as HW, 5x3: 0.875",
                "a: id: uint32 as HW, 5x3: 4000000007"
            ]
        );
        let mixed = vec![channel("R", halves(0.0)), channel("G", floats), channel("B", halves(1.0))];
        assert_eq!(
            told(file(vec![layer("left", colours().into()), layer("right", mixed)])),
            ["a: left: float16 as HWC, 5x3: 7.0 107.0 207.0", "a: right: float32 as HWC, 5x3: 7.0 0.875 8.0"]
        );
    }

    #[test]
    fn what_is_damaged_is_an_error() {
        let good = file(vec![layer("one", vec![channel("Y", halves(0.0))])]);
        assert_eq!(told(good.clone()).len(), 1);
        for end in 0..good.len() {
            assert!(read(good[..end].to_vec(), &[][..], "a").is_err(), "{end}");
        }
        for at in 4..good.len() {
            for by in [0x01, 0x80, 0xff] {
                let mut other = good.clone();
                other[at] ^= by;
                // Numbers may be others; whatever it is ends.
                let _ = read(other, &[][..], "a");
            }
        }
        // A billion columns and rows: of four floats 64 bits do not count the bytes.
        let floats = || FlatSamples::F32(vec![0.0; 15]);
        let colours = ["R", "G", "B", "A"].map(|name| channel(name, floats())).into();
        for mut huge in [good, file(vec![layer("one", colours)])] {
            let window =
                huge.windows(10).position(|name| name == b"dataWindow").unwrap() + b"dataWindow\0box2i\0".len() + 4;
            let corners = [-0x2000_0000_i32, -0x2000_0000, 0x1fff_ffff, 0x1fff_ffff];
            huge[window..window + 16].copy_from_slice(&corners.map(i32::to_le_bytes).concat());
            assert!(read(huge, &[][..], "a").is_err());
        }
        let four = ["A", "B", "G", "R"].map(|name| ChannelDescription::named(name, SampleType::F32));
        let header = Header::new("huge".into(), Vec2(1 << 30, 1 << 30), four.into_iter().collect());
        assert_eq!(claimed(&header), 1 << 64);
    }
}
