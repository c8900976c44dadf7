//! By the gateway: a scene in one session of the network, the gateway in another one.

use crate::chromium::Chromium;
use crate::page::{self, Sample};
use crate::scene::{IMAGE, QUALITY, Scene};
use crate::{PictureCodec, Result};
use pixelferry_media::web::{BrowserCodec, WebOptions};
use pixelferry_net::{Codec, Event, Net, NetOptions, Server};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_micros(16_667);

pub fn measure(browser: &mut Chromium, scene: &Scene, way: PictureCodec) -> Result<Sample> {
    // A port that nobody has at the moment.
    let hub = format!("tcp/127.0.0.1:{}", TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
    let codec = match way {
        PictureCodec::Raw | PictureCodec::H264 => Codec::None,
        PictureCodec::Lz4 => Codec::Lz4,
        PictureCodec::Jpeg => Codec::Jpeg,
    };
    let server = Net::join(NetOptions::hub(&hub))?.serve("sea")?.with_codec(codec, QUALITY);
    let mut options = WebOptions::at(([127, 0, 0, 1], 0).into());
    options.hop = if way == PictureCodec::H264 { BrowserCodec::H264 } else { BrowserCodec::Served };
    let gateway = Net::join(NetOptions::through(&hub))?.gateway("sea", options)?;
    let (is_answering, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|threads| {
        let served =
            threads.spawn(|| serve(&server, scene, &is_answering, &is_over).map_err(|error| error.to_string()));
        let measured = browser.open(&format!("http://{}/", gateway.address())).map_err(Into::into).and_then(|()| {
            let shown = if way == PictureCodec::Lz4 { "none" } else { name(way) };
            page::measure(browser, shown, || is_answering.store(true, Ordering::Relaxed))
        });
        is_over.store(true, Ordering::Relaxed);
        served.join().map_err(|_| "the scene ended")??;
        measured
    })
}

pub fn name(way: PictureCodec) -> &'static str {
    match way {
        PictureCodec::Raw | PictureCodec::Lz4 => "none",
        PictureCodec::Jpeg => "jpeg",
        PictureCodec::H264 => "h264",
    }
}

/// 60 pictures a second, and then one for each key, at once.
fn serve(server: &Server, scene: &Scene, is_answering: &AtomicBool, is_over: &AtomicBool) -> Result<()> {
    let (mut frame, mut keys, mut due) = (0, 0, Instant::now());
    while !is_over.load(Ordering::Relaxed) {
        frame += 1;
        if is_answering.load(Ordering::Relaxed) {
            let Some(input) = server.next_input(PAUSE) else { continue };
            if matches!(Event::read(&input)?, Event::Key { down: true, .. }) {
                keys += 1;
                server.publish(IMAGE, frame, Some(keys), scene.pixels(frame))?;
            }
            continue;
        }
        server.publish(IMAGE, frame, None, scene.pixels(frame))?;
        due = (due + PAUSE).max(Instant::now());
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    Ok(())
}
