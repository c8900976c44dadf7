//! A bare page: its server sends bytes that are ready made, two ahead at most, or one for each key.

use crate::chromium::Chromium;
use crate::ours::name;
use crate::page::{self, Sample};
use crate::scene::Scene;
use crate::{PictureCodec, Result};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tungstenite::Message;

const PAUSE: Duration = Duration::from_micros(16_667);
/// Offset of the time in a header, which is the key's number here.
const TIME_AT: usize = 24;

const PAGE: &str = r#"<!doctype html><canvas id="picture" tabindex="0" width="1280" height="720"></canvas>
<script type="module">
import { decode, readHeader } from "./picture.js";
import { Video } from "./video.js";
const canvas = document.getElementById("picture"), context = canvas.getContext("2d", { alpha: false });
const socket = new WebSocket(`ws://${location.host}/pictures`);
socket.binaryType = "arraybuffer";
const shown = (header, picture) => {
  context.drawImage(picture, 0, 0);
  picture.close();
  canvas.dispatchEvent(new CustomEvent("picture", { detail: header }));
  socket.send("taken");
};
const video = new Video({ shown, passed() {}, failed: (error) => { throw error; } });
socket.onmessage = ({ data }) => {
  const header = readHeader(data);
  if (header.codec === "h264") video.decode(header, data);
  else decode(header, data).then((picture) => shown(header, picture));
};
canvas.addEventListener("keydown", () => socket.send(new Uint8Array(1)));
</script>"#;

const FILES: [(&str, &str, &str); 3] = [
    ("/ ", "text/html", PAGE),
    ("/picture.js ", "text/javascript", include_str!("../../../../crates/apps/media/src/web/page/picture.js")),
    ("/video.js ", "text/javascript", include_str!("../../../../crates/apps/media/src/web/page/video.js")),
];

pub fn measure(browser: &mut Chromium, scene: &Scene, way: PictureCodec) -> Result<Sample> {
    let messages = scene.messages(way)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let (is_answering, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                threads.spawn(|| {
                    if let Err(error) = answer(stream, &messages, &is_answering, &is_over) {
                        eprintln!("bare page: {error}");
                    }
                });
            }
        });
        let measured = browser
            .open(&format!("http://{address}/"))
            .map_err(Into::into)
            .and_then(|()| page::measure(browser, name(way), || is_answering.store(true, Ordering::Relaxed)));
        is_over.store(true, Ordering::Relaxed);
        // The listener looks once more.
        drop(TcpStream::connect(address));
        measured
    })
}

fn answer(mut stream: TcpStream, messages: &[Vec<u8>], is_answering: &AtomicBool, is_over: &AtomicBool) -> Result<()> {
    let mut head = [0; 64];
    let count = stream.peek(&mut head)?;
    let head = String::from_utf8_lossy(&head[..count]).into_owned();
    if head.contains("/pictures") {
        return send(stream, messages, is_answering, is_over);
    }
    let file = FILES.iter().find(|(path, ..)| head.starts_with(&format!("GET {path}")));
    let (status, kind, text) = file.map_or((404, "text/plain", ""), |(_, kind, text)| (200, kind, text));
    // The browser sends its whole request at once.
    let _whole = stream.read(&mut [0; 8192])?;
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status} -\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )?;
    Ok(())
}

fn send(stream: TcpStream, messages: &[Vec<u8>], is_answering: &AtomicBool, is_over: &AtomicBool) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut socket = tungstenite::accept(stream).map_err(|error| error.to_string())?;
    socket.get_mut().set_read_timeout(Some(Duration::from_millis(1)))?;
    let (mut flying, mut keys, mut due) = (0usize, 0u64, Instant::now());
    let mut next = messages.iter().cycle();
    while !is_over.load(Ordering::Relaxed) {
        let mut asked = None;
        match socket.read() {
            Ok(Message::Text(_)) => flying = flying.saturating_sub(1),
            Ok(Message::Binary(_)) => {
                keys += 1;
                asked = Some(keys);
            }
            Ok(_) => {}
            Err(tungstenite::Error::Io(error))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(tungstenite::Error::ConnectionClosed | tungstenite::Error::Protocol(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let is_due =
            if is_answering.load(Ordering::Relaxed) { asked.is_some() } else { flying < 2 && due <= Instant::now() };
        if !is_due {
            continue;
        }
        if let Some(message) = next.next() {
            let mut message = message.clone();
            message[TIME_AT..TIME_AT + 8].copy_from_slice(&asked.unwrap_or(0).to_le_bytes());
            due = (due + PAUSE).max(Instant::now());
            flying += 1;
            socket.send(Message::Binary(message.into()))?;
        }
    }
    Ok(())
}
