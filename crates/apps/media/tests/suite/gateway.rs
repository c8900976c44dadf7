//! The gateway as browsers and as foreign sites find it, by plain HTTP and WebSocket.

use interop_core::{ImageDesc, PixelFormat};
use pixelferry_media::Event;
use pixelferry_media::video::encoders;
use pixelferry_media::web::{Error, Gateway, Source, WebOptions};
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, Limits, MessageKind};
use pixelferry_testing::{Need, need, wait_until};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tungstenite::handshake::client::generate_key;
use tungstenite::http::{Request, StatusCode};
use tungstenite::{Message, WebSocket};

/// Of a width that no other test encodes, which goes on beside these.
const IMAGE: ImageDesc = ImageDesc::new(172, 8, PixelFormat::Rgba8);

fn loopback() -> WebOptions {
    WebOptions::at(([127, 0, 0, 1], 0).into())
}

/// A scene in this program.
#[derive(Clone, Default)]
struct Scene(Arc<Stage>);

#[derive(Default)]
struct Stage {
    /// The newest picture, until it is taken.
    picture: Mutex<Option<Vec<u8>>>,
    /// The last one, for who asks.
    last: Mutex<Option<Vec<u8>>>,
    told: Condvar,
    is_served: AtomicBool,
    inputs: Mutex<Vec<Vec<u8>>>,
    is_watched: AtomicBool,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Scene {
    fn publish(&self, frame: u64) -> Vec<u8> {
        let pixels = vec![frame as u8; IMAGE.extent.pixels() as usize * 4];
        let header = Header { frame, ..Header::new(MessageKind::Picture, IMAGE, IMAGE.extent.full()) };
        *lock(&self.0.last) = header.pack(Codec::None, &pixels, 0).ok();
        self.ask();
        pixels
    }
}

impl Source for Scene {
    fn next_message(&self, _: &[Codec], timeout: Duration) -> Option<Vec<u8>> {
        let waited = self.0.told.wait_timeout_while(lock(&self.0.picture), timeout, |picture| picture.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }

    fn is_served(&self) -> bool {
        self.0.is_served.load(Ordering::Relaxed)
    }

    fn ask(&self) {
        lock(&self.0.picture).clone_from(&lock(&self.0.last));
        self.0.told.notify_all();
    }

    fn watch(&self, is_watched: bool) {
        self.0.is_watched.store(is_watched, Ordering::Relaxed);
    }

    fn send(&self, input: &[u8]) {
        lock(&self.0.inputs).push(input.to_vec());
    }
}

fn served(options: WebOptions) -> (Scene, Gateway) {
    let scene = Scene::default();
    scene.0.is_served.store(true, Ordering::Relaxed);
    (scene.clone(), Gateway::open("sea", scene, options).unwrap())
}

/// A whole answer to a plain request.
fn ask(address: SocketAddr, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

type Browser = WebSocket<TcpStream>;

/// Connects as a page of `origin` does; the status of the refusal otherwise.
fn connect(address: SocketAddr, host: &str, origin: Option<&str>) -> Result<Browser, StatusCode> {
    connect_to(address, "/pictures", host, origin)
}

fn connect_to(address: SocketAddr, path: &str, host: &str, origin: Option<&str>) -> Result<Browser, StatusCode> {
    let request = Request::get(format!("ws://{address}{path}"))
        .header("Host", host)
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", generate_key());
    let request = origin.into_iter().fold(request, |request, origin| request.header("Origin", origin));
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    match tungstenite::client::client(request.body(()).unwrap(), stream) {
        Ok((browser, _)) => Ok(browser),
        Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => Err(answer.status()),
        Err(other) => panic!("{other}"),
    }
}

fn own(address: SocketAddr) -> Browser {
    connect(address, &address.to_string(), Some(&format!("http://{address}"))).unwrap()
}

/// The next message. A signal of another test interrupts reads that have a time limit.
fn message(browser: &mut Browser) -> Message {
    loop {
        match browser.read() {
            Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
            read => return read.unwrap(),
        }
    }
}

/// The next picture: its frame, and all of its pixels.
fn picture(browser: &mut Browser) -> (u64, Vec<u8>) {
    loop {
        if let Message::Binary(message) = message(browser) {
            let header = Header::read(&message, &Limits::default()).unwrap();
            return (header.frame, message[HEADER_BYTES..].to_vec());
        }
    }
}

fn taken(browser: &mut Browser, count: u32) {
    browser.send(Message::Text(format!(r#"{{"taken":{count}}}"#).into())).unwrap();
}

#[test]
fn the_page_is_served_to_own_names_only() {
    let mut options = loopback();
    options.names = vec!["wall.example".into()];
    let (_, gateway) = served(options);
    let address = gateway.address();
    for host in [address.to_string(), format!("localhost:{}", address.port()), "wall.example".into()] {
        let answer = ask(address, "/", &host);
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<canvas"), "{answer}");
        assert!(answer.contains("frame-ancestors 'none'") && answer.contains("nosniff"), "{answer}");
    }
    for file in ["/page.js", "/picture.js", "/video.js", "/input.js"] {
        assert!(ask(address, file, "localhost").contains("text/javascript"), "{file}");
    }
    let refused = ask(address, "/", "evil.example");
    assert!(refused.starts_with("HTTP/1.1 403") && refused.contains("--name evil.example"), "{refused}");
    assert!(!refused.contains("<canvas"), "{refused}");
    assert!(ask(address, "/../Cargo.toml", "localhost").starts_with("HTTP/1.1 404"));
    assert!(ask(address, "/pictures", "localhost").starts_with("HTTP/1.1 4"));
}

#[test]
fn pages_of_other_sites_get_no_pictures() {
    let (scene, gateway) = served(loopback());
    scene.publish(1);
    let (address, host) = (gateway.address(), gateway.address().to_string());
    let foreign = ["http://evil.example", "http://127.0.0.1:1", "null", "https://localhost"];
    for origin in foreign.map(Some).into_iter().chain([None]) {
        assert_eq!(connect(address, &host, origin).err(), Some(StatusCode::FORBIDDEN), "{origin:?}");
    }
    // A foreign name that leads here: its pages and this gateway are of one origin to the browser.
    let rebound = connect(address, "evil.example", Some("http://evil.example"));
    assert_eq!(rebound.err(), Some(StatusCode::FORBIDDEN));
    assert_eq!(gateway.viewers(), 0);
    assert_eq!(picture(&mut own(address)).0, 1);
}

#[test]
fn a_browser_gets_the_picture_of_now_and_what_comes_after_it() {
    let (scene, gateway) = served(loopback());
    let first = scene.publish(1);
    let mut browser = own(gateway.address());
    assert_eq!(picture(&mut browser), (1, first));
    let second = scene.publish(2);
    assert_eq!(picture(&mut browser), (2, second));
    drop(browser);
    wait_until("the browser is gone", || gateway.viewers() == 0);
}

#[test]
fn a_browser_is_told_whether_somebody_serves() {
    let (scene, gateway) = served(loopback());
    let mut browser = own(gateway.address());
    let mut told = |expected: &str| {
        while message(&mut browser) != Message::Text(format!(r#"{{"scene":"sea","served":{expected}}}"#).into()) {}
    };
    for (is_served, expected) in [(true, "true"), (false, "false"), (true, "true")] {
        scene.0.is_served.store(is_served, Ordering::Relaxed);
        told(expected);
    }
}

#[test]
fn one_that_takes_nothing_misses_pictures_and_gets_the_newest_then() {
    let (scene, gateway) = served(loopback());
    let (mut slow, mut fast) = (own(gateway.address()), own(gateway.address()));
    const LAST: u64 = 40;
    for frame in 1..=LAST {
        scene.publish(frame);
        while picture(&mut fast).0 < frame {
            taken(&mut fast, 1);
        }
        taken(&mut fast, 1);
    }
    // Two were on their way to the slow one, which did not say that it took them.
    let (first, second) = (picture(&mut slow).0, picture(&mut slow).0);
    // A picture comes twice where the scene is found to be served after it.
    assert!(first <= second && second < LAST, "{first} {second}");
    taken(&mut slow, 2);
    assert_eq!(picture(&mut slow).0, LAST);
}

/// One test with encoders at a time: one of them counts those of the whole program.
static ENCODERS: Mutex<()> = Mutex::new(());

/// A scene with a picture, where there is an encoder; or SKIPPED and why.
fn encoding() -> Option<(Scene, Gateway, MutexGuard<'static, ()>)> {
    need(Need::Gstreamer, encoders().map_err(|error| error.to_string()))?;
    let alone = lock(&ENCODERS);
    let (scene, gateway) = served(loopback());
    scene.publish(1);
    Some((scene, gateway, alone))
}

/// The next message with a picture: its frame, and whether it is H.264.
fn part(browser: &mut Browser) -> (u64, bool) {
    loop {
        if let Message::Binary(message) = message(browser) {
            taken(browser, 1);
            return (u64::from_le_bytes(message[16..24].try_into().unwrap()), message[7] == 3);
        }
    }
}

#[test]
fn one_that_takes_no_video_delays_nobody_and_goes_on_with_the_picture_of_then() {
    let Some((scene, gateway, _alone)) = encoding() else { return };
    let ask = || {
        let mut browser = own(gateway.address());
        browser.send(Message::Text(r#"{"codec":"h264"}"#.into())).unwrap();
        browser
    };
    let (mut slow, mut fast) = (ask(), ask());
    // Both have video, and the slow one says nothing any more.
    for browser in [&mut slow, &mut fast] {
        while !part(browser).1 {}
    }
    const LAST: u64 = 200;
    for frame in 2..=LAST {
        scene.publish(frame);
        while part(&mut fast).0 < frame {}
    }
    // Pictures that were on their way to the slow one, then those it missed as JPEG, and video again.
    let (mut seen, mut last) = (Vec::new(), 0);
    while last < LAST {
        seen.push(part(&mut slow));
        last = seen[seen.len() - 1].0;
    }
    assert!(seen.len() < LAST as usize / 2, "{seen:?}");
    let after = LAST + 1;
    scene.publish(after);
    while part(&mut fast).0 < after {}
    while part(&mut slow).0 < after {}
}

#[test]
fn what_the_page_sends_reaches_the_scene_and_what_is_none_of_it_ends_the_connection() {
    let (scene, gateway) = served(loopback());
    let mut browser = own(gateway.address());
    let sent = br#"{"event":"pointer","x":3.5,"y":4.0,"buttons":1}"#;
    browser.send(Message::Binary(sent.to_vec().into())).unwrap();
    wait_until("the input", || !lock(&scene.0.inputs).is_empty());
    assert_eq!(*lock(&scene.0.inputs), [sent]);
    assert_eq!(Event::read(sent), Ok(Event::Pointer { x: 3.5, y: 4.0, buttons: 1 }));
    let ends = |mut browser: Browser, message: Message| {
        // A large message is refused at its head, and the connection may end before its last byte is sent.
        match browser.send(message) {
            Ok(()) => while browser.read().is_ok_and(|message| !message.is_close()) {},
            Err(tungstenite::Error::Io(error)) => {
                assert!(matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe), "{error}");
            }
            Err(error) => panic!("{error}"),
        }
    };
    ends(browser, Message::Binary(vec![0; 1 << 20].into()));
    for text in ["", "{}", r#"{"codec":"vp8"}"#, r#"{"taken":-1}"#, r#"{"taken":4000000000}"#] {
        ends(own(gateway.address()), Message::Text(text.into()));
    }
    wait_until("all are gone", || gateway.viewers() == 0);
    assert_eq!(lock(&scene.0.inputs).len(), 1);
}

#[test]
fn watching_and_steering_need_a_token_each() {
    let mut options = loopback();
    (options.tokens.watch, options.tokens.steer) = (Some("watchwatch".into()), Some("steersteer".into()));
    let (scene, gateway) = served(options);
    let (address, host) = (gateway.address(), gateway.address().to_string());
    for (path, status) in [
        ("/", 401),
        ("/?token=wrong", 401),
        ("/?token=watchwatch", 200),
        ("/?token=steersteer", 200),
        ("/page.js", 200),
    ] {
        assert!(ask(address, path, &host).starts_with(&format!("HTTP/1.1 {status} ")), "{path}");
    }
    let with = |token: &str| {
        let (path, origin) = (format!("/pictures?token={token}"), format!("http://{host}"));
        connect_to(address, &path, &host, Some(&origin))
    };
    assert_eq!(with("wrong").err(), Some(StatusCode::UNAUTHORIZED));
    scene.publish(1);
    let (mut watches, mut steers) = (with("watchwatch").unwrap(), with("steersteer").unwrap());
    assert!(message(&mut watches).into_text().unwrap().contains(r#""steering":false"#));
    assert!(!message(&mut steers).into_text().unwrap().contains("steering"));
    assert_eq!(picture(&mut watches).0, 1);
    watches.send(Message::Binary(b"watching".to_vec().into())).unwrap();
    // Answered after the input was taken.
    watches.send(Message::Ping(Default::default())).unwrap();
    while !message(&mut watches).is_pong() {}
    steers.send(Message::Binary(b"steering".to_vec().into())).unwrap();
    wait_until("the input comes", || !lock(&scene.0.inputs).is_empty());
    assert_eq!(*lock(&scene.0.inputs), [b"steering"]);
    let mut options = loopback();
    options.tokens.steer = Some("a b".into());
    assert!(matches!(Gateway::open("sea", scene, options), Err(Error::Token)));
}

#[test]
fn pictures_are_taken_only_while_a_browser_looks_on() {
    let (scene, gateway) = served(loopback());
    let is_watched = || scene.0.is_watched.load(Ordering::Relaxed);
    assert!(!is_watched());
    scene.publish(1);
    for frame in 2..4 {
        let mut browser = own(gateway.address());
        picture(&mut browser);
        assert!(is_watched());
        drop(browser);
        wait_until("nobody looks on", || !is_watched());
        // Asked for by the next.
        scene.publish(frame);
    }
    let mut browser = own(gateway.address());
    assert_eq!(picture(&mut browser).0, 3);
}

/// Strangers who ask again and again and read nothing keep a browser out for no longer than a connection may last.
#[test]
fn connections_that_read_nothing_keep_nobody_out_for_good() {
    let (_, gateway) = served(loopback());
    let address = gateway.address();
    let request = format!("GET /page.js HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(16);
    let strangers: Vec<TcpStream> = (0..128).map(|_| TcpStream::connect(address).unwrap()).collect();
    for mut stranger in &strangers {
        stranger.set_nonblocking(true).unwrap();
        // Until the gateway cannot write its answers, and so reads no more.
        while stranger.write(request.as_bytes()).is_ok() {
            std::thread::yield_now();
        }
    }
    let mut answer = String::new();
    wait_until("a browser is answered beside them", || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let _ = stream.read_to_string(&mut answer);
        answer.contains("<canvas")
    });
    drop(strangers);
}

/// Each start of an encoder is a process.
#[test]
fn a_browser_that_asks_for_video_again_and_again_starts_an_encoder_a_second_at_most() {
    let Some((_scene, gateway, _alone)) = encoding() else { return };
    let mut browser = own(gateway.address());
    picture(&mut browser);
    let (begun, mut seen) = (std::time::Instant::now(), std::collections::BTreeSet::new());
    for _ in 0..60 {
        for codec in ["h264", "served"] {
            browser.send(Message::Text(format!(r#"{{"codec":"{codec}"}}"#).into())).unwrap();
            // Time to start one, and to be seen.
            std::thread::sleep(Duration::from_millis(25));
            seen.extend(running_encoders());
        }
    }
    let most = begun.elapsed().as_secs() as usize + 2;
    assert!(!seen.is_empty() && seen.len() <= most, "{} encoders in {:?}", seen.len(), begun.elapsed());
}

/// Encoders of pictures as wide as [`IMAGE`] that this program started and that have not ended, by their numbers.
fn running_encoders() -> Vec<String> {
    let is_keeper = |thread: &std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.trim_end() == "child-keeper")
    };
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten().filter(is_keeper);
    let of = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
    let all = threads.flat_map(|thread| of(thread).split_whitespace().map(String::from).collect::<Vec<_>>());
    let width = format!("width={}", IMAGE.extent.width);
    let words = |child: &str| std::fs::read_to_string(format!("/proc/{child}/cmdline")).unwrap_or_default();
    all.filter(|child| words(child).split('\0').any(|word| word == width)).collect()
}

#[test]
fn only_so_many_browsers_look_on() {
    let mut options = loopback();
    options.viewers = 1;
    let (_, gateway) = served(options);
    let address = gateway.address();
    let first = own(address);
    let second = || connect(address, &address.to_string(), Some(&format!("http://{address}")));
    assert_eq!(second().err(), Some(StatusCode::SERVICE_UNAVAILABLE));
    drop(first);
    wait_until("there is room again", || second().is_ok());
}

#[test]
fn an_address_that_is_taken_is_told() {
    let (_, gateway) = served(loopback());
    let taken = Gateway::open("sea", Scene::default(), WebOptions::at(gateway.address())).err().unwrap();
    assert!(matches!(&taken, Error::Listen { address, .. } if *address == gateway.address()), "{taken}");
}
