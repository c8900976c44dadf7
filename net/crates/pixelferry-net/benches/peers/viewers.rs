//! 720p JPEG, 60 times a second, for many viewers, each a process.

use crate::Result;
use crate::child::{Process, SCENE, now, options};
use crate::floor;
use crate::table::Row;
use jpeg_encoder::{ColorType, Encoder};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Codec, Net, Options};
use std::time::{Duration, Instant};
use zenoh::Wait as _;
use zenoh::qos::{CongestionControl, Priority};

const SIZE: (u16, u16) = (1280, 720);
const QUALITY: u8 = 85;
const PAUSE: Duration = Duration::from_micros(16_667);
const WARMING: u64 = 1_000_000;
const MEASURED: u64 = 5_000_000;
/// So many viewers unpack at most; more than the machine has cores say nothing.
const MOST_UNPACKING: usize = 10;

pub fn measure(counts: &[usize]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &count in counts {
        let ways = [
            ("Zenoh, the same bytes ready made", "count-zenoh", count),
            ("pixelferry, received", "count", count),
            ("pixelferry, received and unpacked", "view", count),
        ];
        for (label, role, count) in ways {
            if role == "view" && count > MOST_UNPACKING {
                continue;
            }
            let mut row = Row::new("720p JPEG", label, count);
            row.add(seen(role, count)?, MEASURED);
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The ages of the pictures that each viewer saw.
fn seen(role: &str, count: usize) -> Result<Vec<Vec<u64>>> {
    let net = Net::join(options(Options::hub("tcp/127.0.0.1:0"), false))?;
    let hub = net.endpoints()?.first().ok_or("an endpoint")?.clone();
    let server = net.serve(SCENE)?.with_codec(Codec::Jpeg, QUALITY);
    let image = ImageDesc::new(SIZE.0.into(), SIZE.1.into(), PixelFormat::Rgba8);
    let pictures: Vec<_> = (0..4).map(|phase| plasma(phase as f32)).collect();
    let mut packed = Vec::new();
    Encoder::new(&mut packed, QUALITY).encode(pictures.first().ok_or("four")?, SIZE.0, SIZE.1, ColorType::Rgba)?;
    let bare = net.session().declare_publisher(floor::KEY).priority(Priority::DataLow);
    let bare = bare.congestion_control(CongestionControl::Drop).wait().map_err(|error| error.to_string())?;
    let memory = floor::Memory::new(false)?;
    let mut processes = (0..count).map(|_| Process::start(role, &hub, false)).collect::<Result<Vec<_>>>()?;
    processes.iter_mut().try_for_each(Process::wait_until_ready)?;
    std::thread::sleep(Duration::from_millis(500));
    let from = now() + WARMING;
    let window = (from, from + MEASURED);
    let (begun, mut frame) = (Instant::now(), 0u32);
    while now() < window.1 {
        frame += 1;
        if role == "count-zenoh" {
            bare.put(memory.message(now(), &packed)?).wait().map_err(|error| error.to_string())?;
        } else if let Some(picture) = pictures.get(frame as usize % pictures.len()) {
            server.publish(image, frame.into(), None, picture)?;
        }
        std::thread::sleep((PAUSE * frame).saturating_sub(begun.elapsed()));
    }
    println!("{count} viewers, {role}: {} bytes a picture, {frame} sent in {:?}", packed.len(), begun.elapsed());
    let ages = Process::end(processes, window)?;
    net.leave()?;
    Ok(ages)
}

fn plasma(phase: f32) -> Vec<u8> {
    let pixel = |x: u16, y: u16| {
        let (x, y) = (f32::from(x) / 40.0, f32::from(y) / 40.0);
        let wave = (x + phase).sin() + (y - phase).cos() + ((x * x + y * y).sqrt() - phase).sin();
        let channel = |shift: f32| (127.5 + 127.5 * (wave + shift).sin()) as u8;
        [channel(0.0), channel(2.1), channel(4.2), 255]
    };
    (0..SIZE.1).flat_map(|y| (0..SIZE.0).flat_map(move |x| pixel(x, y))).collect()
}
