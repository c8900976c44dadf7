//! Tensors as frames and back, compared with what burn itself reads, and by which path.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use burn_tensor::{DType, Int, Tensor};
use pixelferry::api::wgpu::{wgpu, wgpu_adapters};
use pixelferry::{Error, Intake, Link, LinkOptions, PathId, PixelFormat, SurfaceDesc};
use pixelferry_burn::{copy, device, take};
use pixelferry_cubecl::CubeGuest;
use pixelferry_testing::{Need, need};

const ROWS: usize = 41;
const COLUMNS: usize = 67;

fn guest() -> Option<CubeGuest> {
    let adapter = wgpu_adapters(wgpu::Backends::VULKAN).into_iter().next().ok_or("no adapter");
    let guest = CubeGuest::open(&need(Need::Lavapipe, adapter)?).unwrap();
    println!("RAN ON {:?}", guest.display());
    Some(guest)
}

fn link(guest: &CubeGuest, format: PixelFormat) -> Link {
    let surface = SurfaceDesc::image(COLUMNS as u32, ROWS as u32, format);
    let link = Link::open(guest.backend(), guest.display(), surface, LinkOptions::default()).unwrap();
    println!("{format} by {}", link.path());
    assert!(link.path().name().starts_with("in-queue"), "{}", link.explain());
    link
}

fn numbered<const D: usize>(guest: &CubeGuest, shape: [usize; D]) -> Tensor<D, Int> {
    let count = shape.iter().product::<usize>() as i64;
    Tensor::<1, Int>::arange(0..count, &device(guest)).reshape(shape)
}

#[test]
fn floats_become_frames() {
    let Some(guest) = guest() else { return };
    let mut link = link(&guest, PixelFormat::Rgba32F);
    let mut tensor = numbered(&guest, [ROWS, COLUMNS, 4]).float() * 0.25;
    for frame in 0..4 {
        // Fused operations, of which none ran yet.
        tensor = (tensor * 2.0 + f64::from(frame)).sin();
        link.frame(|next| copy(&guest, tensor.clone(), next.target()?)).unwrap();
        let expected = tensor.to_data();
        assert!(link.read_back().unwrap() == expected.as_bytes(), "frame {frame}");
    }
    // Not as it lies in memory.
    let turned = numbered(&guest, [COLUMNS, ROWS, 4]).float().swap_dims(0, 1);
    link.frame(|next| copy(&guest, turned.clone(), next.target()?)).unwrap();
    assert!(link.read_back().unwrap() == turned.to_data().as_bytes());
}

#[test]
fn words_become_frames() {
    let Some(guest) = guest() else { return };
    let mut link = link(&guest, PixelFormat::Rgba8);
    for frame in 1..4 {
        let words = numbered(&guest, [ROWS, COLUMNS]) * 0x01_0305 * frame;
        let words = words.cast(DType::I32);
        link.frame(|next| copy(&guest, words.clone(), next.target()?)).unwrap();
        assert!(link.read_back().unwrap() == words.to_data().as_bytes(), "frame {frame}");
    }
}

#[test]
fn a_texture_becomes_a_tensor() {
    let Some(guest) = guest() else { return };
    let display = guest.display();
    let size = wgpu::Extent3d { width: COLUMNS as u32, height: ROWS as u32, depth_or_array_layers: 1 };
    let texture = display.wgpu_device().create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Float,
        usage: wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let scene = display.engine_image(&texture).unwrap();
    // By itself a device on the CPU may take another way, which is measured.
    let path = PathId::IN_QUEUE_UPLOAD;
    let mut intake = Intake::open_by(guest.backend(), display.clone(), scene, path).unwrap();
    intake.rows().iter().for_each(|row| println!("{row}"));
    assert_eq!(intake.path(), path);
    for frame in 0..4 {
        let numbers: Vec<f32> = (0..ROWS * COLUMNS * 4).map(|n| n as f32 + 0.5 * frame as f32).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        let row = Some(16 * COLUMNS as u32);
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: row, rows_per_image: None };
        display.wgpu_queue().write_texture(texture.as_image_copy(), &bytes, layout, size);
        let tensor: Tensor<3> = take(&guest, &intake.take().unwrap()).unwrap();
        let twice = tensor.clone() * 2.0;
        assert!(tensor.into_data().as_bytes() == bytes, "frame {frame}");
        let expected: Vec<u8> = numbers.iter().flat_map(|n| (2.0 * n).to_ne_bytes()).collect();
        assert!(twice.into_data().as_bytes() == expected, "frame {frame}");
    }
    let error = take::<2, Int>(&guest, &intake.take().unwrap()).unwrap_err();
    assert!(matches!(&error, Error::InvalidInput { .. }) && error.to_string().contains("F32"), "{error}");
}

#[test]
fn what_is_no_such_picture_is_refused_and_nothing_is_lost() {
    let Some(guest) = guest() else { return };
    let mut link = link(&guest, PixelFormat::Rgba32F);
    let right = numbered(&guest, [ROWS, COLUMNS, 4]);
    let turned = right.clone().float().swap_dims(0, 1);
    let refusals = [
        link.frame(|next| copy(&guest, right.clone(), next.target()?)),
        link.frame(|next| copy(&guest, turned.clone(), next.target()?)),
    ];
    for refused in refusals {
        let error = refused.unwrap_err();
        assert!(matches!(&error, Error::InvalidInput { .. }), "{error}");
        assert!(error.to_string().contains("[41, 67, 4] of [F32]"), "{error}");
    }
    link.frame(|next| copy(&guest, right.clone().float(), next.target()?)).unwrap();
    assert!(link.read_back().unwrap() == right.float().to_data().as_bytes());
}
