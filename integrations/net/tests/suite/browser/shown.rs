//! Pictures of all kinds, compared with what was served.

use super::{browser, canvas, wait_for, wait_for_state, words};
use pixelferry::{ImageDesc, PixelFormat, RowOrder};
use pixelferry_media::web::WebOptions;
use pixelferry_net::{Codec, Net, NetOptions};

const SIZE: (u32, u32) = (61, 37);

/// Byte `byte` of the pixel at a place, counted from the upper left corner as it is seen. Smooth, as JPEG likes it.
fn value(x: u32, y: u32, byte: usize, frame: u64) -> u8 {
    let seed = frame as u32 * 7;
    let values = [x * 3 + seed, y * 5 + seed, (x + y) * 2, 90];
    (values[byte] % 256) as u8
}

/// Tight rows in the picture's row order.
fn served(image: &ImageDesc, frame: u64) -> Vec<u8> {
    let (width, height) = SIZE;
    let rows = (0..height).map(|row| if image.row_order == RowOrder::BottomUp { height - 1 - row } else { row });
    let bytes = image.format.bytes_per_pixel();
    rows.flat_map(|y| (0..width).flat_map(move |x| (0..bytes).map(move |byte| value(x, y, byte, frame)))).collect()
}

/// Returns what a viewer sees of it: RGBA8 from the top, opaque.
fn seen(format: PixelFormat, frame: u64) -> Vec<u8> {
    let bytes = match format {
        PixelFormat::Bgra8 => [2, 1, 0],
        PixelFormat::R8 => [0, 0, 0],
        _ => [0, 1, 2],
    };
    let pixel = |x, y| bytes.into_iter().map(move |byte| value(x, y, byte, frame)).chain([255]);
    (0..SIZE.1).flat_map(|y| (0..SIZE.0).flat_map(move |x| pixel(x, y))).collect()
}

#[test]
fn the_canvas_shows_what_is_served() {
    let Some(mut browser) = browser(&[]) else { return };
    let net = Net::join(NetOptions::hub("tcp/127.0.0.1:0")).unwrap();
    let gateway = net.gateway("sea", WebOptions::at(([127, 0, 0, 1], 0).into())).unwrap();
    browser.open(&format!("http://{}/", gateway.address())).unwrap();
    wait_for_state(&mut browser, "waiting");
    let mut frame = 0;
    let mut server = net.serve("sea").unwrap();
    for codec in [Codec::None, Codec::Lz4, Codec::Jpeg] {
        server = server.with_codec(codec, 95);
        for format in [PixelFormat::Rgba8, PixelFormat::Bgra8, PixelFormat::R8] {
            for order in [RowOrder::TopDown, RowOrder::BottomUp] {
                frame += 1;
                let image = ImageDesc::new(SIZE.0, SIZE.1, format).with_row_order(order);
                server.publish(image, frame, None, &served(&image, frame)).unwrap();
                wait_for(&mut browser, "document.getElementById('picture').dataset.frame", frame.to_string());
                let (found, expected) = (canvas(&mut browser), seen(format, frame));
                assert_eq!(found.len(), expected.len());
                let far = found.iter().zip(&expected).map(|(a, b)| a.abs_diff(*b)).max();
                let most = if codec.is_exact() { 0 } else { 24 };
                assert!(far <= Some(most), "{codec}, {format}, {order:?}: {far:?} apart");
            }
        }
    }
    wait_for_state(&mut browser, "live");
    let image = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8);
    let linear = image.with_encoding(pixelferry::Encoding::Linear);
    let deep = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rg8);
    server = server.with_codec(Codec::None, 95);
    for (image, word) in [(linear, "linear"), (deep, "RG8")] {
        frame += 1;
        server.publish(image, frame, None, &served(&image, frame)).unwrap();
        wait_for_state(&mut browser, "problem");
        wait_for(&mut browser, &format!("document.getElementById('state').value.includes('{word}')"), true);
        assert!(words(&mut browser).contains("serve "), "{}", words(&mut browser));
    }
    frame += 1;
    server.publish(image, frame, None, &served(&image, frame)).unwrap();
    wait_for_state(&mut browser, "live");
    assert!(canvas(&mut browser) == seen(PixelFormat::Rgba8, frame));
    drop(server);
    wait_for_state(&mut browser, "waiting");
    assert!(canvas(&mut browser) == seen(PixelFormat::Rgba8, frame), "the last picture stays");
    drop(gateway);
    wait_for_state(&mut browser, "gone");
}
