//! Images of every type.

use crate::suite::{buffer_of, build, refused, vouched};
use interop_core::{Error, Result};
use pixelferry_opencl::{
    Addressing, Arg, Buffer, ChannelOrder, ChannelType, Colour, Filter, Image, ImageBox, ImageFormat, ImageSize,
    ImageType, MemFlags, Pixel, Queue, Sampler,
};

const RGBA8: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnormInt8);
const RGBA_F32: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::Float);
const RGBA_U32: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnsignedInt32);

/// An image of each type, and a part of it.
type Example = (ImageSize, ImageBox);
pub const D1: Example = (ImageSize::D1(33), ImageBox { origin: [3, 0, 0], region: [17, 1, 1] });
pub const D2: Example = (ImageSize::D2(33, 9), ImageBox { origin: [3, 2, 0], region: [17, 5, 1] });
pub const D3: Example = (ImageSize::D3(17, 9, 5), ImageBox { origin: [3, 2, 1], region: [7, 5, 3] });
pub const D1_ARRAY: Example = (ImageSize::D1Array(17, 6), ImageBox { origin: [3, 2, 0], region: [7, 3, 1] });
pub const D2_ARRAY: Example = (ImageSize::D2Array(17, 9, 5), ImageBox { origin: [3, 2, 1], region: [7, 5, 3] });

fn pixels(n: usize) -> Vec<[u8; 4]> {
    (0..n).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_ne_bytes()).collect()
}

pub fn formats(queue: &Queue) -> Result<()> {
    if !queue.device().image_support()? {
        let reason = "CL_DEVICE_IMAGE_SUPPORT is false".into();
        return Err(Error::Unsupported { operation: "clCreateImage", device: queue.device().name().into(), reason });
    }
    for kind in [ImageType::D1, ImageType::D2, ImageType::D3, ImageType::D2Array] {
        let formats = queue.context().image_formats(MemFlags::READ_ONLY, kind)?;
        for format in [RGBA8, RGBA_F32] {
            assert!(formats.contains(&format), "{kind:?} {format}");
        }
    }
    // Each that is listed for 2D can be made, written and read.
    for format in queue.context().image_formats(MemFlags::READ_WRITE, ImageType::D2)? {
        let image = Image::new(queue.context(), MemFlags::READ_WRITE, format, ImageSize::D2(5, 3))?;
        let data: Vec<u8> = (0..15 * image.pixel_size()).map(|i| (i % 64) as u8).collect();
        queue.write_image(&image, &image.whole(), data.clone(), &[])?;
        assert_eq!(queue.read_image::<u8>(&image, &image.whole(), &[])?.wait()?, data, "{format}");
    }
    let missing = ImageFormat::new(ChannelOrder::Rgb, ChannelType::Float);
    let made = Image::new(queue.context(), MemFlags::READ_WRITE, missing, ImageSize::D2(4, 4));
    assert!(matches!(made, Err(Error::Unsupported { .. })));
    refused(Image::new(queue.context(), MemFlags::READ_WRITE, RGBA8, ImageSize::D2(4, 0)), &[]);
    let large = Image::new(queue.context(), MemFlags::READ_WRITE, RGBA8, ImageSize::D2(1 << 30, 1));
    assert!(matches!(large, Err(Error::Unsupported { .. })));
    refused(Image::with_data(queue.context(), MemFlags::READ_WRITE, RGBA8, ImageSize::D2(4, 4), &[0u8; 63]), &[]);
    Ok(())
}

/// A kernel reads the values of an image of this type, of 4 channels; `read` is a function of OpenCL C's, `kind` what it gives.
fn of_type<T: Pixel + PartialEq + std::fmt::Debug>(
    queue: &Queue,
    format: ImageFormat,
    data: &[T],
    (read, kind): (&str, &str),
) -> Result<Vec<[f32; 4]>> {
    let context = queue.context();
    assert!(format.holds::<T>(), "{format}");
    let image = Image::with_data(context, MemFlags::READ_ONLY, format, ImageSize::D2(data.len(), 1), data)?;
    assert_eq!((image.pixel_size(), image.format()), (format.pixel_bytes(), format));
    assert_eq!(queue.read_image::<T>(&image, &image.whole(), &[])?.wait()?, data, "{format}");
    let source = format!(
        "__constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
         __kernel void k(__read_only image2d_t from, __global float4 *to) {{
           int x = get_global_id(0);
           {kind} v = {read}(from, s, (int2)(x, 0));
           to[x] = convert_float4(v);
         }}"
    );
    let kernel = vouched(context, &source, "")?.kernel("k")?;
    let to = Buffer::new(context, MemFlags::READ_WRITE, data.len() * 16)?;
    let done = queue.launch(&kernel, &[Arg::from(&image), Arg::from(&to)], [data.len()], &[])?;
    queue.read_all::<[f32; 4]>(&to, &[done])
}

pub fn formats_of_types(queue: &Queue) -> Result<()> {
    formats(queue)?;
    let listed = queue.context().image_formats(MemFlags::READ_ONLY, ImageType::D2)?;
    for format in &listed {
        let image = Image::new(queue.context(), MemFlags::READ_ONLY, *format, ImageSize::D2(3, 3))?;
        assert_eq!(format.pixel_bytes(), image.pixel_size(), "{format}");
    }
    let floats = [[1.5f32, -2.0, 1e6, 0.25], [0.0, 1.0, 2.0, 3.0]];
    assert_eq!(of_type(queue, ImageFormat::of::<[f32; 4]>(), &floats, ("read_imagef", "float4"))?, floats);
    let bytes = [[0u8, 1, 127, 255], [51, 102, 204, 153]];
    let values = of_type(queue, ImageFormat::of::<[u8; 4]>(), &bytes, ("read_imageui", "uint4"))?;
    assert_eq!(values, bytes.map(|pixel| pixel.map(f32::from)));
    let normalized = ImageFormat::of::<[u8; 4]>().normalized().unwrap();
    assert_eq!(normalized, RGBA8);
    let values = of_type(queue, normalized, &bytes, ("read_imagef", "float4"))?;
    for (has, wants) in values.iter().flatten().zip(bytes.iter().flatten()) {
        assert!((has - f32::from(*wants) / 255.0).abs() < 1e-6, "{values:?}");
    }
    let signed = [[-5i32, 0, 1 << 20, 7]];
    let values = of_type(queue, ImageFormat::of::<[i32; 4]>(), &signed, ("read_imagei", "int4"))?;
    assert_eq!(values, signed.map(|pixel| pixel.map(|v| v as f32)));
    let shorts = [[65535u16, 0, 1, 300]];
    let values = of_type(queue, ImageFormat::of::<[u16; 4]>(), &shorts, ("read_imageui", "uint4"))?;
    assert_eq!(values, shorts.map(|pixel| pixel.map(f32::from)));
    // Formats with fewer channels, if the device lists them: the others are 0, and alpha is 1.
    if listed.contains(&ImageFormat::of::<f32>()) {
        let values = of_type(queue, ImageFormat::of::<f32>(), &[4.5f32], ("read_imagef", "float4"))?;
        assert_eq!(values, [[4.5, 0.0, 0.0, 1.0]]);
    }
    if listed.contains(&ImageFormat::of::<[f32; 2]>()) {
        let values = of_type(queue, ImageFormat::of::<[f32; 2]>(), &[[4.5f32, 5.0]], ("read_imagef", "float4"))?;
        assert_eq!(values, [[4.5, 5.0, 0.0, 1.0]]);
    }
    Ok(())
}

/// The pixels of a part, row after row, of an image with these sides.
fn cut(data: &[[u8; 4]], [w, h, _]: [usize; 3], part: &ImageBox) -> Vec<[u8; 4]> {
    let [x, y, z] = part.origin;
    let [pw, ph, pd] = part.region;
    let at = |i: usize| ((z + i / (pw * ph)) * h + y + i / pw % ph) * w + x + i % pw;
    (0..pw * ph * pd).map(|i| data[at(i)]).collect()
}

/// Whole and partial transfers, and copies between images.
pub fn transfers(queue: &Queue, (size, part): Example) -> Result<()> {
    let context = queue.context();
    let region = size.region();
    let data = pixels(region.iter().product());
    let image = Image::with_data(context, MemFlags::READ_WRITE, RGBA8, size, &data)?;
    assert_eq!((image.pixel_size(), image.region(), image.image_type()), (4, region, size.image_type()));
    assert!(image.row_pitch()? >= region[0] * 4 || image.row_pitch()? == 0);
    assert_eq!(queue.read_image::<[u8; 4]>(&image, &image.whole(), &[])?.wait()?, data);
    assert_eq!(queue.read_image::<[u8; 4]>(&image, &part, &[])?.wait()?, cut(&data, region, &part));

    // A part is written, the rest stays.
    let other = Image::with_data(context, MemFlags::READ_WRITE, RGBA8, size, &vec![[9u8; 4]; data.len()])?;
    let patch = cut(&data, region, &part);
    queue.write_image(&other, &part, patch.clone(), &[])?;
    let got = queue.read_image::<[u8; 4]>(&other, &other.whole(), &[])?.wait()?;
    assert_eq!(cut(&got, region, &part), patch);
    assert_eq!(got.iter().filter(|p| **p == [9; 4]).count(), data.len() - patch.len());

    // Image to image, the part to the origin.
    let third = Image::with_data(context, MemFlags::READ_WRITE, RGBA8, size, &vec![[8u8; 4]; data.len()])?;
    queue.copy_image((&image, &part), (&third, [0; 3]), &[])?;
    let moved = ImageBox { origin: [0; 3], region: part.region };
    assert_eq!(queue.read_image::<[u8; 4]>(&third, &moved, &[])?.wait()?, patch);

    let outside = ImageBox { origin: part.origin, region: region.map(|side| side + 1) };
    refused(queue.read_image::<u8>(&image, &outside, &[]), &[]);
    refused(queue.write_image(&image, &part, vec![0u8; 1], &[]), &[]);
    refused(queue.copy_image((&image, &part), (&image, part.origin), &[]), &[]);
    Ok(())
}

/// To a buffer and back.
pub fn by_buffer(queue: &Queue, (size, part): Example) -> Result<()> {
    let context = queue.context();
    let data = pixels(size.region().iter().product());
    let patch = cut(&data, size.region(), &part);
    let image = Image::with_data(context, MemFlags::READ_WRITE, RGBA8, size, &data)?;
    let other = Image::with_data(context, MemFlags::READ_WRITE, RGBA8, size, &vec![[8u8; 4]; data.len()])?;
    let buffer = Buffer::with_data(context, MemFlags::READ_WRITE, &vec![0u8; 8 + 4 * patch.len()])?;
    queue.copy_image_to_buffer((&image, &part), (&buffer, 8), &[])?;
    assert_eq!(queue.read::<[u8; 4]>(&buffer, 8, patch.len(), &[])?.wait()?, patch);
    queue.copy_buffer_to_image((&buffer, 8), (&other, &part), &[])?;
    assert_eq!(queue.read_image::<[u8; 4]>(&other, &part, &[])?.wait()?, patch);
    refused(queue.copy_image_to_buffer((&image, &part), (&buffer, 9), &[]), &[]);
    refused(queue.copy_buffer_to_image((&buffer, 9), (&other, &part), &[]), &[]);
    Ok(())
}

/// Every type but that of the next feature.
pub fn buffers(queue: &Queue) -> Result<()> {
    [D1, D2, D3, D2_ARRAY].into_iter().try_for_each(|example| by_buffer(queue, example))
}

/// The buffer is a part of another. PoCL 3.1 ends the process when the part itself is given to it.
pub fn by_part(queue: &Queue) -> Result<()> {
    let (size, part) = D2;
    let data = pixels(33 * 9);
    let patch = cut(&data, size.region(), &part);
    let image = Image::with_data(queue.context(), MemFlags::READ_WRITE, RGBA8, size, &data)?;
    let other = Image::with_data(queue.context(), MemFlags::READ_WRITE, RGBA8, size, &vec![[8u8; 4]; data.len()])?;
    let buffer = buffer_of(queue, &[7u8; 4096])?;
    let (start, len) = (buffer.part_alignment()?, 8 + 4 * patch.len());
    let within = buffer.part(MemFlags::NONE, start..start + len)?;
    queue.copy_image_to_buffer((&image, &part), (&within, 8), &[])?;
    let bytes = queue.read_all::<u8>(&buffer, &[])?;
    assert!(bytes[..start + 8].iter().chain(&bytes[start + len..]).all(|byte| *byte == 7));
    let read = queue.read::<[u8; 4]>(&within, 8, patch.len(), &[])?.wait()?;
    assert!(read == patch, "another place was written");
    queue.copy_buffer_to_image((&within, 8), (&other, &part), &[])?;
    assert_eq!(queue.read_image::<[u8; 4]>(&other, &part, &[])?.wait()?, patch);
    refused(queue.copy_image_to_buffer((&image, &part), (&within, 12), &[]), &[]);
    refused(queue.copy_buffer_to_image((&within, 12), (&other, &part), &[]), &[]);
    Ok(())
}

pub fn from_buffer(queue: &Queue) -> Result<()> {
    let data: Vec<[f32; 4]> = (0..64).map(|i| [i as f32, 1.0, 2.0, 3.0]).collect();
    let buffer = buffer_of(queue, &data)?;
    let image = Image::over_buffer(&buffer, MemFlags::READ_WRITE, RGBA_F32, 64)?;
    let source = "__kernel void k(__read_only image1d_buffer_t from, __global float *to) {
                    to[get_global_id(0)] = read_imagef(from, (int)get_global_id(0)).x * 2;
                  }";
    let kernel = build(queue, source)?;
    let to = Buffer::new(queue.context(), MemFlags::READ_WRITE, 256)?;
    // The image shows what the buffer holds now.
    queue.write(&buffer, 16, vec![[50f32, 0.0, 0.0, 0.0]], &[])?;
    queue.launch(&kernel, &[Arg::from(&image), Arg::from(&to)], [64], &[])?;
    let values = queue.read_all::<f32>(&to, &[])?;
    assert!(values.iter().enumerate().all(|(i, v)| *v == if i == 1 { 100.0 } else { 2.0 * i as f32 }), "{values:?}");
    let map = queue.map_read::<f32>(&buffer, 0..16, &[])?;
    refused(queue.launch(&kernel, &[Arg::from(&image), Arg::from(&to)], [64], &[]), &[]);
    drop(map);
    assert!(Image::over_buffer(&buffer, MemFlags::READ_WRITE, RGBA_F32, 65).is_err());
    // The image keeps the buffer.
    drop(buffer);
    queue.launch(&kernel, &[Arg::from(&image), Arg::from(&to)], [64], &[])?.wait()
}

pub fn fill(queue: &Queue) -> Result<()> {
    let part = ImageBox { origin: [1, 1, 0], region: [3, 2, 1] };
    let unorm = Image::with_data(queue.context(), MemFlags::READ_WRITE, RGBA8, ImageSize::D2(6, 4), &[[7u8; 4]; 24])?;
    queue.fill_image(&unorm, &part, Colour::Float([1.0, 0.0, 0.0, 1.0]), &[])?;
    let got = queue.read_image::<[u8; 4]>(&unorm, &unorm.whole(), &[])?.wait()?;
    assert_eq!(cut(&got, [6, 4, 1], &part), [[255, 0, 0, 255]; 6]);
    assert_eq!(got.iter().filter(|p| **p == [7; 4]).count(), 18);
    let whole = Image::new(queue.context(), MemFlags::READ_WRITE, RGBA_U32, ImageSize::D2(6, 4))?;
    queue.fill_image(&whole, &whole.whole(), Colour::Unsigned([1, 2, 3, u32::MAX]), &[])?;
    assert_eq!(queue.read_image::<[u32; 4]>(&whole, &whole.whole(), &[])?.wait()?, [[1, 2, 3, u32::MAX]; 24]);
    refused(queue.fill_image(&whole, &part, Colour::Float([0.0; 4]), &[]), &[]);
    Ok(())
}

pub fn borrowed_memory(queue: &Queue) -> Result<()> {
    let image = Image::new(queue.context(), MemFlags::READ_WRITE, RGBA8, ImageSize::D2(6, 4))?;
    queue.write_image_from(&image, &image.whole(), &pixels(24), &[])?;
    let part = ImageBox { origin: [1, 1, 0], region: [3, 2, 1] };
    let mut got = [[0u8; 4]; 6];
    queue.read_image_into(&image, &part, &mut got, &[])?;
    assert_eq!(cut(&pixels(24), [6, 4, 1], &part), got);
    refused(queue.read_image_into(&image, &part, &mut got[1..], &[]), &["20 bytes", "24"]);
    refused(queue.write_image_from(&image, &part, &[0u8; 25], &[]), &["25 bytes"]);
    Ok(())
}

pub fn map(queue: &Queue) -> Result<()> {
    let data = pixels(6 * 4 * 3);
    for size in [ImageSize::D2(6, 12), ImageSize::D3(6, 4, 3), ImageSize::D2Array(6, 4, 3)] {
        let image = Image::with_data(queue.context(), MemFlags::READ_WRITE, RGBA8, size, &data)?;
        let [w, h, d] = size.region();
        {
            let map = queue.map_image_read(&image, &image.whole(), &[])?;
            for z in 0..d {
                for y in 0..h {
                    let row: &[[u8; 4]] = bytemuck::cast_slice(map.row(y, z).unwrap());
                    assert_eq!(row, &data[(z * h + y) * w..][..w], "{size:?} row {y} slice {z}");
                }
            }
            assert!(map.row(h, 0).is_none() && map.row(0, d).is_none());
            refused(queue.fill_image(&image, &image.whole(), Colour::Float([0.0; 4]), &[]), &[]);
        }
        let part = ImageBox { origin: [1, 2, 0], region: [3, 2, 1] };
        let mut map = queue.map_image_write(&image, &part, &[])?;
        map.row_mut(1, 0).unwrap().fill(0xaa);
        refused(queue.read_image::<u8>(&image, &part, &[]), &[]);
        map.unmap()?;
        let mut model = data.clone();
        model[3 * w + 1..3 * w + 4].fill([0xaa; 4]);
        assert_eq!(queue.read_image::<[u8; 4]>(&image, &image.whole(), &[])?.wait()?, model, "{size:?}");
    }
    Ok(())
}

pub fn kernels(queue: &Queue) -> Result<()> {
    let context = queue.context();
    let data: Vec<[f32; 4]> = (0..8).map(|i| [i as f32, 10.0 * i as f32, 0.0, 1.0]).collect();
    let from = Image::with_data(context, MemFlags::READ_ONLY, RGBA_F32, ImageSize::D2(4, 2), &data)?;
    let to = Image::new(context, MemFlags::WRITE_ONLY, RGBA_F32, ImageSize::D2(4, 2))?;
    let source = "__kernel void k(__read_only image2d_t from, sampler_t s, __write_only image2d_t to, float dx) {
                    int2 p = (int2)(get_global_id(0), get_global_id(1));
                    write_imagef(to, p, read_imagef(from, s, (float2)(p.x + 0.5f + dx, p.y + 0.5f)));
                  }";
    let kernel = vouched(context, source, "")?.kernel("k")?;
    let run = |sampler: &Sampler, dx: f32| {
        let args = [Arg::from(&from), Arg::from(sampler), Arg::from(&to), Arg::from(dx)];
        queue.launch(&kernel, &args, [4, 2], &[])?;
        queue.read_image::<[f32; 4]>(&to, &to.whole(), &[])?.wait()
    };
    let nearest = Sampler::new(context, false, Addressing::ClampToEdge, Filter::Nearest)?;
    assert_eq!(run(&nearest, 0.0)?, data);
    // Beyond the edge, the edge.
    assert_eq!(run(&nearest, 2.0)?[..4].iter().map(|p| p[0]).collect::<Vec<_>>(), [2.0, 3.0, 3.0, 3.0]);
    let linear = Sampler::new(context, false, Addressing::ClampToEdge, Filter::Linear)?;
    let between: Vec<f32> = run(&linear, 0.5)?[..4].iter().map(|p| p[0]).collect();
    for (has, wants) in between.iter().zip([0.5, 1.5, 2.5, 3.0]) {
        assert!((has - wants).abs() < 0.01, "{between:?}");
    }
    refused(Sampler::new(context, false, Addressing::Repeat, Filter::Nearest), &[]);
    for addressing in Addressing::ALL {
        for filter in Filter::ALL {
            Sampler::new(context, true, *addressing, *filter)?;
        }
    }
    Ok(())
}
