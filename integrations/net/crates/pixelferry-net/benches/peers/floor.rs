//! The floor: the same bytes by Zenoh alone. A program writes the picture into a message, another copies it out.

use crate::process::{Result, now};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::Net;
use pixelferry_net::wire::{HEADER_BYTES, Header, MessageKind};
use std::sync::mpsc::channel;
use zenoh::Wait as _;
use zenoh::bytes::ZBytes;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::shm::{BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder};

pub const KEY: &str = "floor/picture";
const ASK: &str = "floor/ask";

pub fn image() -> ImageDesc {
    ImageDesc::new(1920, 1080, PixelFormat::Rgba8)
}

/// Pixels that are not all alike.
pub fn picture() -> Vec<u8> {
    let bytes = image().extent.pixels() as usize * 4;
    (0..bytes).map(|at| (at.wrapping_mul(0x9E37_79B1) >> 13) as u8).collect()
}

/// Memory that messages are written to.
pub struct Memory(Option<ShmProvider<PosixShmProviderBackend>>);

impl Memory {
    pub fn new(shared: bool) -> Result<Self> {
        let provider = || ShmProviderBuilder::default_backend(96 << 20).wait();
        Ok(Self(if shared { Some(provider().map_err(|error| error.to_string())?) } else { None }))
    }

    /// A message: the header, which holds the time, and these bytes.
    pub fn message(&self, asked: u64, payload: &[u8]) -> Result<ZBytes> {
        let header = Header::new(MessageKind::Picture, image(), image().extent.full());
        let header = Header { time: asked, frame: 1, payload: payload.len() as u64, ..header }.to_bytes();
        let Some(provider) = &self.0 else { return Ok([header.as_slice(), payload].concat().into()) };
        let room = provider.alloc(HEADER_BYTES + payload.len()).with_policy::<BlockOn<GarbageCollect>>();
        let mut room = room.wait().map_err(|error| error.to_string())?;
        let (first, rest) = room.split_at_mut(HEADER_BYTES);
        first.copy_from_slice(&header);
        rest.copy_from_slice(payload);
        Ok(room.into())
    }
}

/// Sends as many as go through, until a time.
pub fn send(net: &Net, shared: bool, until: u64) -> Result<()> {
    let (memory, picture) = (Memory::new(shared)?, picture());
    let publisher = net.session().declare_publisher(KEY).congestion_control(CongestionControl::Block);
    let publisher = publisher.wait().map_err(|error| error.to_string())?;
    while now() < until {
        publisher.put(memory.message(now(), &picture)?).wait().map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Copies every message out.
pub fn receive(net: &Net, note: impl Fn(u64) + Send + Sync + 'static) -> Result<()> {
    let session = net.session().clone();
    let (sender, receiver) = channel();
    let take = move |sample: zenoh::sample::Sample| drop(sender.send(sample));
    let subscriber = session.declare_subscriber(KEY).callback(take).wait().map_err(|error| error.to_string())?;
    std::thread::spawn(move || {
        let _subscriber = subscriber;
        let mut copy = Vec::new();
        while let Ok(sample) = receiver.recv() {
            note(copy_out(&sample, &mut copy));
        }
    });
    Ok(())
}

/// The time that is in the message.
fn copy_out(sample: &zenoh::sample::Sample, copy: &mut Vec<u8>) -> u64 {
    copy.clear();
    sample.payload().slices().for_each(|slice| copy.extend_from_slice(slice));
    time(copy).unwrap_or_default()
}

/// Tells when a message was asked for; its header says it at byte 24.
pub fn time(message: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(message.get(24..32)?.try_into().ok()?))
}

/// Answers every question by a picture.
pub fn answer(net: &Net, shared: bool) -> Result<()> {
    let session = net.session().clone();
    let (sender, receiver) = channel();
    let asked = move |sample: zenoh::sample::Sample| drop(sender.send(sample));
    let subscriber = session.declare_subscriber(ASK).callback(asked).wait().map_err(|error| error.to_string())?;
    let memory = Memory::new(shared)?;
    std::thread::spawn(move || {
        let _subscriber = subscriber;
        let picture = picture();
        let put = |message| {
            let put = session.put(KEY, message).congestion_control(CongestionControl::Block).express(true);
            put.wait().map_err(|error| error.to_string())
        };
        while receiver.recv().is_ok() {
            let sent = memory.message(now(), &picture).map(put);
            if !matches!(sent, Ok(Ok(()))) {
                break;
            }
        }
    });
    Ok(())
}

/// Asks for one picture after the other until a time; how long each took, from a time on. `ahead` asks for the next picture
/// before it copies one out.
pub fn ask(net: &Net, (from, until): (u64, u64), ahead: bool) -> Result<Vec<u64>> {
    let (sender, receiver) = channel();
    let take = move |sample: zenoh::sample::Sample| drop(sender.send(sample));
    let subscriber = net.session().declare_subscriber(KEY).callback(take).wait().map_err(|error| error.to_string())?;
    let publisher = net.session().declare_publisher(ASK).priority(Priority::InteractiveHigh).express(true);
    let publisher = publisher.congestion_control(CongestionControl::Block).wait().map_err(|error| error.to_string())?;
    let ask = || {
        let begun = now();
        let asked = publisher.put([0u8; 200].as_slice()).wait().map_err(|error| error.to_string());
        asked.map(|()| begun)
    };
    let (mut copy, mut took) = (Vec::new(), Vec::new());
    let mut next = if ahead { Some(ask()?) } else { None };
    while now() < until {
        let begun = next.take().map_or_else(ask, Ok)?;
        let sample = receiver.recv()?;
        if ahead {
            next = Some(ask()?);
        }
        copy_out(&sample, &mut copy);
        if begun >= from {
            took.push(now() - begun);
        }
    }
    drop(subscriber);
    Ok(took)
}
