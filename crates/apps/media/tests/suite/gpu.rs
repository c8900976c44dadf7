//! JPEG by nvJPEG, with `PIXELFERRY_GPU=1`.

use interop_core::{ComputeBackend, Extent, ImageDesc, PixelFormat, RowOrder};
use pixelferry::api::cuda::CudaBackend;
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, MessageKind};
use pixelferry_media::{GpuJpeg, GpuJpegError, mean_square};
use pixelferry_testing::{Need, asked, need};
use std::sync::Arc;

/// Waves, other ones for each channel, with a corner that is in no mirror image.
fn picture(Extent { width, height }: Extent) -> Vec<u8> {
    let wave = |x: f32, y: f32, at: f32| 127.5 + 60.0 * ((x / 17.0 + at).sin() + (y / 23.0 - at).cos());
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let pixel = |(x, y): (u32, u32)| match x < width / 4 && y < height / 4 {
        true => [250, 30, 60, 9],
        false => [0.0, 1.0, 2.0, 3.0].map(|at| wave(x as f32, y as f32, at) as u8),
    };
    places.flat_map(pixel).collect()
}

#[test]
fn a_gpu_packs_what_the_host_packs() {
    if !asked(Need::Nvidia) || need(Need::NvJpeg, GpuJpeg::available()).is_none() {
        return;
    }
    let backend: Arc<dyn ComputeBackend> = Arc::new(CudaBackend::open_best().unwrap());
    for (width, height) in [(64, 48), (37, 29), (641, 480), (1, 1), (640, 1), (1920, 1080)] {
        let extent = Extent::new(width, height);
        let pixels = picture(extent);
        let header =
            Header::new(MessageKind::Picture, ImageDesc::new(width, height, PixelFormat::Rgba8), extent.full());
        let header = Header { codec: Codec::Jpeg, ..header };
        let turned: Vec<u8> = pixels.chunks(4 * width as usize).rev().flatten().copied().collect();
        // The host's own takes long for large ones.
        let qualities: &[u8] = if width > 1000 { &[90] } else { &[50, 85, 90, 100] };
        for quality in qualities.iter().copied() {
            let opened = GpuJpeg::open(Arc::clone(&backend), extent, quality);
            if let (Err(error), true) = (&opened, width.min(height) < 16) {
                println!("{width}x{height} is left to the host: {error}");
                continue;
            }
            let mut encoder = opened.unwrap();
            let host = header.pack(Codec::Jpeg, &pixels, quality).unwrap();
            let expected = mean_square(&header.unpack(&host[HEADER_BYTES..]).unwrap(), &pixels);
            for (rows, bytes) in [(RowOrder::TopDown, &pixels), (RowOrder::BottomUp, &turned)] {
                let mut memory = backend.allocate(bytes.len()).unwrap();
                // Twice, as a stream of pictures uses it again.
                for _ in 0..2 {
                    memory.write(0, bytes).unwrap();
                    let packed = encoder.pack(memory.as_ref(), rows).unwrap();
                    encoder.check(&pixels, &packed).unwrap();
                    let found = mean_square(&header.unpack(&packed).unwrap(), &pixels);
                    println!(
                        "{width}x{height} {quality} {rows:?}: {} bytes, error {found:.2}; host {} bytes, {expected:.2}",
                        packed.len(),
                        host.len() - HEADER_BYTES
                    );
                    let wrong = encoder.check(&turned, &packed);
                    assert!(height == 1 || matches!(wrong, Err(GpuJpegError::Wrong { .. })), "{wrong:?}");
                }
                let mut short = backend.allocate(3).unwrap();
                assert!(matches!(encoder.pack(short.as_mut(), rows), Err(GpuJpegError::Pixels { .. })));
            }
        }
    }
    for extent in [Extent::new(0, 4), Extent::new(65_536, 1), Extent::new(65_535, 65_535)] {
        let refused = GpuJpeg::open(Arc::clone(&backend), extent, 90).err();
        assert!(matches!(refused, Some(GpuJpegError::Pixels { .. })), "{refused:?}");
    }
}
