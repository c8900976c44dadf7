//! The page for browsers, as a browser and as a stranger find it.

use crate::suite::array;
use pixelferry::Display as _;
use pixelferry_look::Request;
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, Limits};
use pixelferry_media::{Event, GpuJpeg};
use pixelferry_testing::{Need, Patience, asked, by_level, need};
use pixelferry_view::{Array, LiveArrays, PageServer, ViewError, Watcher};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tungstenite::handshake::client::generate_key;
use tungstenite::http::{Request as Asked, StatusCode};
use tungstenite::{Message, WebSocket};

/// Columns and rows of the page's picture, which is as large as the smallest window.
const SIZE: (usize, usize) = (640, 480);

/// 4 x 3 pixels, 160 x 160 of the picture for each.
fn levels() -> Array {
    let levels: Vec<u8> = (0..12).map(|n| n * 20).collect();
    array(&[3, 4], "uint8", &levels).named("levels".into())
}

struct Page {
    serve: Arc<PageServer>,
    address: SocketAddr,
    token: String,
    shows: thread::JoinHandle<Result<(), ViewError>>,
}

impl Page {
    fn open() -> Option<Self> {
        // There is none where OpenGL has no display without a window.
        need(Need::Egl, crate::suite::gl().ok_or("no OpenGL without a window"))?;
        let serve = Arc::new(PageServer::open(([127, 0, 0, 1], 0).into()).unwrap());
        let url = serve.url();
        let (address, token) = url.strip_prefix("http://").unwrap().split_once("/?token=").unwrap();
        let (address, token) = (address.parse().unwrap(), token.to_owned());
        let shows = thread::spawn({
            let serve = Arc::clone(&serve);
            move || serve.run(vec![levels()], Request::default(), LiveArrays::default(), || ())
        });
        Some(Self { serve, address, token, shows })
    }

    fn browser(&self, token: &str, origin: &str) -> Result<WebSocket<TcpStream>, StatusCode> {
        let request = Asked::get(format!("ws://{}/pictures?token={token}", self.address))
            .header("Host", self.address.to_string())
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", generate_key())
            .header("Origin", origin);
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        match tungstenite::client::client(request.body(()).unwrap(), stream) {
            Ok((browser, _)) => Ok(browser),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => Err(answer.status()),
            Err(other) => panic!("{other}"),
        }
    }

    fn own(&self) -> WebSocket<TcpStream> {
        self.browser(&self.token, &format!("http://{}", self.address)).unwrap()
    }

    fn ends(self) {
        self.serve.stop();
        self.shows.join().unwrap().unwrap();
    }
}

/// Waits for a picture that has a level at a place.
#[track_caller]
fn sees(browser: &mut WebSocket<TcpStream>, place: (usize, usize), level: u8) -> Vec<u8> {
    sees_where(browser, place, |colour| colour == [level; 3])
}

#[track_caller]
fn sees_where(browser: &mut WebSocket<TcpStream>, (x, y): (usize, usize), is: impl Fn([u8; 3]) -> bool) -> Vec<u8> {
    let (mut patience, mut found) = (Patience::new(), None);
    while !patience.is_over() {
        // Pings come, too.
        let Message::Binary(message) = browser.read().unwrap() else { continue };
        let header = Header::read(&message, &Limits::default()).unwrap();
        assert_eq!((header.image.extent.width as usize, header.image.extent.height as usize), SIZE);
        browser.send(Message::text(r#"{"taken":1}"#)).unwrap();
        let pixels = message[HEADER_BYTES..].to_vec();
        found = pixels[4 * (y * SIZE.0 + x)..].first_chunk().copied();
        if found.is_some_and(&is) {
            return pixels;
        }
    }
    panic!("at {x}, {y} stays {found:?}");
}

const LONG: Duration = Duration::from_secs(600);

fn key(key: &str) -> Event {
    Event::Key { code: String::new(), key: key.into(), down: true }
}

fn send(browser: &mut WebSocket<TcpStream>, event: &Event) {
    browser.send(Message::binary(serde_json::to_vec(event).unwrap())).unwrap();
}

#[test]
fn a_browser_sees_the_array_and_steers_the_view() {
    let Some(page) = Page::open() else { return };
    let mut browser = page.own();
    let pixels = sees(&mut browser, (600, 400), 220);
    assert_eq!(pixels[4 * (100 * SIZE.0 + 40)..][..3], [0; 3]);
    // Zoomed in about the last pixel, that is seen far to the left of its place.
    let place = (600.0, 400.0);
    for _ in 0..8 {
        send(&mut browser, &Event::Wheel { x: place.0, y: place.1, dx: 0.0, dy: -120.0 });
    }
    sees(&mut browser, (470, 330), 220);
    send(&mut browser, &Event::Key { code: "KeyF".into(), key: "f".into(), down: true });
    sees(&mut browser, (470, 330), 200);
    // In its own size, 4 x 3 pixels in the middle, a drag brings the last column there.
    send(&mut browser, &Event::Key { code: "Digit0".into(), key: "0".into(), down: true });
    sees(&mut browser, (321, 241), 220);
    for (x, buttons) in [(320.0, 0), (320.0, 1), (220.0, 1), (220.0, 0)] {
        send(&mut browser, &Event::Pointer { x, y: 240.0, buttons });
    }
    sees(&mut browser, (319, 241), 220);
    // What is no event changes nothing.
    for bytes in [b"{}".as_slice(), b"\xff\xfe", br#"{"event":"key","code":"","key":"","down":true}"#] {
        browser.send(Message::binary(bytes.to_vec())).unwrap();
    }
    let mut random = 7_u64;
    for at in 0..by_level(2_000, 20_000, 100_000) {
        // Half of them begin as an event does.
        let begin: &[u8] = if at % 2 == 0 { br#"{"event":"#.as_slice() } else { b"" };
        let rest = (0..at % 40).map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) as u8
        });
        browser.send(Message::binary(begin.iter().copied().chain(rest).collect::<Vec<u8>>())).unwrap();
    }
    page.serve.put("levels", None, || Ok(array(&[1, 1], "uint8", &[77])));
    sees(&mut browser, (320, 240), 77);
    // A pause keeps it on show, a step shows what was before, and the newest ends the pause.
    let press = |browser: &mut WebSocket<TcpStream>, key: &str| {
        send(browser, &self::key(key));
    };
    press(&mut browser, " ");
    // Pictures on their way show 77 as well: only what a later key does tells that the pause has begun.
    press(&mut browser, "0");
    sees_where(&mut browser, (100, 240), |colour| colour != [77; 3]);
    press(&mut browser, "f");
    sees(&mut browser, (100, 240), 77);
    page.serve.put("levels", None, || Ok(array(&[1, 1], "uint8", &[88])));
    sees(&mut browser, (320, 240), 77);
    press(&mut browser, ",");
    sees(&mut browser, (600, 400), 220);
    press(&mut browser, " ");
    sees(&mut browser, (320, 240), 88);
    page.serve.put("levels", None, || Ok(array(&[1, 1], "uint8", &[77])));
    sees(&mut browser, (320, 240), 77);
    // Another browser sees the same.
    sees(&mut page.own(), (320, 240), 77);
    page.ends();
}

#[test]
fn one_who_watches_gets_jpegs_and_a_gpu_packs_them_where_there_is_one() {
    let Some((display, _)) = need(Need::Egl, crate::suite::gl().ok_or("no OpenGL without a window")) else { return };
    let drawn = if display.device().software { Err(format!("{} draws", display.device())) } else { Ok(()) };
    drop(display);
    let is_gpu = asked(Need::Nvidia)
        && need(Need::NvidiaGl, drawn).is_some()
        && need(Need::NvJpeg, GpuJpeg::available()).is_some();
    let see = |watcher: &Watcher, (x, y): (usize, usize), level: u8| {
        let mut patience = Patience::new();
        while !patience.is_over() {
            let Some(message) = watcher.next(Duration::from_millis(100)) else { continue };
            let header = Header::read(&message, &Limits::default()).unwrap();
            assert_eq!(header.codec, Codec::Jpeg);
            let pixels = header.unpack(&message[HEADER_BYTES..]).unwrap();
            if pixels[4 * (y * SIZE.0 + x)].abs_diff(level) <= 3 {
                return;
            }
        }
        panic!("never {level} at {x}, {y}");
    };
    for may_use_gpu in [false, true] {
        let serve = Arc::new(PageServer::open(([127, 0, 0, 1], 0).into()).unwrap());
        serve.use_gpu(may_use_gpu);
        let (watcher, beside) = (serve.watcher(), serve.watcher());
        let shows = thread::spawn({
            let serve = Arc::clone(&serve);
            move || serve.run(vec![levels()], Request::default(), LiveArrays::default(), || ())
        });
        watcher.watch(true);
        see(&watcher, (600, 400), 220);
        assert!(beside.next(Duration::ZERO).is_none(), "it does not watch");
        beside.watch(true);
        see(&beside, (40, 100), 0);
        // Row 0 is on top.
        for level in [50, 120] {
            serve.put("levels", None, move || Ok(array(&[2, 1], "uint8", &[level, 200])));
            see(&watcher, (320, 100), level);
            see(&beside, (320, 400), 200);
        }
        // While nobody waits none is made; then it is the one of now, also for who comes later.
        let frame = |watcher: &Watcher| Header::read(&watcher.next(LONG).unwrap(), &Limits::default()).unwrap().frame;
        serve.put("levels", None, || Ok(array(&[2, 1], "uint8", &[30, 200])));
        let before = frame(&watcher);
        for level in 31..60 {
            serve.put("levels", None, move || Ok(array(&[2, 1], "uint8", &[level, 200])));
            thread::sleep(Duration::from_millis(2));
        }
        serve.put("levels", None, || Ok(array(&[2, 1], "uint8", &[120, 200])));
        let after = frame(&watcher);
        assert!(after - before <= 2, "{before} to {after}");
        see(&beside, (320, 100), 120);
        watcher.send(&serde_json::to_vec(&key("f")).unwrap());
        see(&beside, (320, 100), 120);
        drop(watcher);
        let encoder = serve.encoder();
        println!("{encoder}");
        assert_eq!(!encoder.starts_with("the host"), may_use_gpu && is_gpu, "{encoder}");
        serve.stop();
        shows.join().unwrap().unwrap();
        assert!(beside.next(LONG).is_none(), "it has ended");
    }
}

#[test]
fn strangers_get_nothing_and_the_page_may_stand_in_a_notebook() {
    let Some(page) = Page::open() else { return };
    let own = format!("http://{}", page.address);
    for (token, origin) in
        [("", &*own), ("0123456789abcdef0123456789abcdef", &own), (&page.token, "http://example.org")]
    {
        let refused = page.browser(token, origin).err();
        assert!(
            matches!(refused, Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)),
            "{token} {origin}: {refused:?}"
        );
    }
    let answer = |path: &str| {
        let mut stream = TcpStream::connect(page.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", page.address).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(answer("/").starts_with("HTTP/1.1 401"), "without its token");
    let found = answer(&format!("/?token={}", page.token));
    assert!(found.starts_with("HTTP/1.1 200") && !found.contains("frame-ancestors"), "{found}");
    page.ends();
}

#[test]
fn what_cannot_be_shown_is_an_error_and_ends() {
    if crate::suite::gl().is_none() {
        return;
    }
    let serve = PageServer::open(([127, 0, 0, 1], 0).into()).unwrap();
    let taken = PageServer::open(serve.url()["http://".len()..].split('/').next().unwrap().parse().unwrap());
    assert!(matches!(taken, Err(ViewError::Web(_))));
    let none = serve.run(vec![], Request::default(), LiveArrays::default(), || panic!("ready"));
    assert!(matches!(none, Err(ViewError::Refused(_))), "{none:?}");
    // It was stopped by that.
    serve.run(vec![levels()], Request::default(), LiveArrays::default(), || ()).unwrap();
}
