//! 720p JPEG, 60 times a second, for many viewers, each a process.

use crate::child::{self, SCENE, options};
use crate::floor;
use crate::is_wanted;
use crate::process::{Process, Result, now};
use crate::table::PeersRow;
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::wire::{HEADER_BYTES, Header, MessageKind};
use pixelferry_net::{Codec, Net, NetOptions};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use zenoh::Wait as _;
use zenoh::qos::{CongestionControl, Priority};

const SIZE: (u16, u16) = (1280, 720);
const QUALITY: u8 = 85;
const PAUSE: Duration = Duration::from_micros(16_667);
const WARMING: u64 = 1_000_000;
const MEASURED: u64 = 5_000_000;

pub fn measure(counts: &[usize]) -> Result<Vec<PeersRow>> {
    // Python's packages `websockets` and `eclipse-zenoh` are there where somebody says so.
    let python = std::env::var("PIXELFERRY_NET_PYTHON").ok();
    let mut rows = Vec::new();
    for &count in counts {
        for (label, role, most) in WAYS {
            let is_python = matches!(role, Viewers::WebSockets | Viewers::Python);
            if !is_wanted(label) || count > most || (is_python && python.is_none()) {
                continue;
            }
            let mut row = PeersRow::new("720p JPEG", label, count);
            row.add(seen(role, count, python.as_deref().unwrap_or_default())?, MEASURED);
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Ways of viewing pictures.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Viewers {
    Zenoh,
    Received,
    Unpacked,
    Python,
    WebSockets,
}

/// Ways that are measured beside each other, and the most viewers of each: for those that unpack, and for those in
/// Python, more than the machine has cores say nothing.
const WAYS: [(&str, Viewers, usize); 5] = [
    ("Zenoh, the same bytes ready made", Viewers::Zenoh, usize::MAX),
    ("pixelferry, received", Viewers::Received, usize::MAX),
    ("pixelferry, received and unpacked", Viewers::Unpacked, 10),
    ("pixelferry, received in Python", Viewers::Python, 50),
    ("websockets, the same bytes ready made, received in Python", Viewers::WebSockets, 50),
];

impl Viewers {
    fn start(self, hub: &str, python: &str) -> Result<Process> {
        match self {
            Self::Zenoh => child::start("count-zenoh", hub, false),
            Self::Received => child::start("count", hub, false),
            Self::Unpacked => child::start("view", hub, false),
            Self::Python => child::start_python(python, &["count", hub]),
            Self::WebSockets => child::start_python(python, &["view", hub]),
        }
    }
}

/// The ages of the pictures that each viewer saw.
fn seen(viewers: Viewers, count: usize, python: &str) -> Result<Vec<Vec<u64>>> {
    let net = Net::join(options(NetOptions::hub("tcp/127.0.0.1:0"), false))?;
    let mut hub = net.endpoints()?.first().ok_or("an endpoint")?.clone();
    let server = net.serve(SCENE)?.with_codec(Codec::Jpeg, QUALITY);
    let image = ImageDesc::new(SIZE.0.into(), SIZE.1.into(), PixelFormat::Rgba8);
    let pictures: Vec<_> = (0..4).map(|phase| plasma(phase as f32)).collect();
    let header = Header::new(MessageKind::Picture, image, image.extent.full());
    let packed = header.pack(Codec::Jpeg, pictures.first().ok_or("four")?, QUALITY)?.split_off(HEADER_BYTES);
    let bare = net.session().declare_publisher(floor::KEY).priority(Priority::DataLow);
    let bare = bare.congestion_control(CongestionControl::Drop).wait().map_err(|error| error.to_string())?;
    let memory = floor::Memory::new(false)?;
    let mut others = Vec::new();
    if viewers == Viewers::WebSockets {
        let file = std::env::temp_dir().join(format!("pixelferry-bench-{}.jpeg", std::process::id()));
        std::fs::write(&file, &packed)?;
        // A port that nobody has at the moment.
        hub = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
        let mut server = child::start_python(python, &["serve", &hub, &file.to_string_lossy()])?;
        server.wait_until_ready()?;
        std::fs::remove_file(&file)?;
        others.push(server);
    }
    let mut processes = (0..count).map(|_| viewers.start(&hub, python)).collect::<Result<Vec<_>>>()?;
    processes.iter_mut().try_for_each(|process| process.wait_until_ready())?;
    std::thread::sleep(Duration::from_millis(500));
    let from = now() + WARMING;
    let window = (from, from + MEASURED);
    let (begun, mut frame) = (Instant::now(), 0u32);
    while now() < window.1 {
        frame += 1;
        match viewers {
            Viewers::Zenoh => {
                bare.put(memory.message(now(), &packed)?).wait().map_err(|error| error.to_string())?;
            }
            Viewers::WebSockets => {}
            _ => {
                let picture = pictures.get(frame as usize % pictures.len()).ok_or("four")?;
                server.publish(image, frame.into(), None, picture)?;
            }
        }
        std::thread::sleep((PAUSE * frame).saturating_sub(begun.elapsed()));
    }
    println!("{count} viewers, {viewers:?}: {} bytes a picture, {:?}", packed.len(), begun.elapsed());
    let ages = child::end(processes, window)?;
    child::end(others, window)?;
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
