//! Images that come by tev's protocol, byte by byte, and what strangers may send in their place.

use crate::suite::{array, drawn, gl, point};
use pixelferry::api::gl::{GlDisplay, OffscreenTarget};
use pixelferry_look::Request;
use pixelferry_testing::{Patience, by_level};
use pixelferry_view::{ArrayView, Listener};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// 4 x 3 pixels with channels B, G and R; of the window, 100 x 100 pixels for each.
const CREATE: &[u8] = b"\x1c\0\0\0\x04\x01pic\0\x04\0\0\0\x03\0\0\0\x03\0\0\0B\0G\0R\0";
/// G of the first row: 0, 0.25, 0.5, 1.
const FIRST: &[u8] = b"\x2c\0\0\0\x03\0pic\0G\0\0\0\0\0\0\0\0\0\x04\0\0\0\x01\0\0\0\
    \0\0\0\0\0\0\x80\x3e\0\0\0\x3f\0\0\x80\x3f";
/// R and B of column 1, rows 1 and 2: 1, 0.5 and 0.25, 1.
const SECOND: &[u8] = b"\x32\0\0\0\x05\0pic\0\x02\0\0\0R\0B\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x02\0\0\0\
    \0\0\x80\x3f\0\0\0\x3f\0\0\x80\x3e\0\0\x80\x3f";
/// R and G of columns 2 and 3, row 2, interleaved with a number that is not used: 1, 0.5 and 0.25, 0.
const THIRD: &[u8] = b"\x5a\0\0\0\x06\0pic\0\x02\0\0\0R\0G\0\x02\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\0\0\
    \x01\0\0\0\0\0\0\0\x00\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\
    \0\0\x80\x3e\0\0\x80\x3f\0\0\x80\x7f\0\0\0\0\0\0\0\x3f\0\0\xc0\x7f";
const CLOSE: &[u8] = b"\x09\0\0\0\x02pic\0";

struct ListeningView {
    view: ArrayView,
    listener: Listener,
    target: OffscreenTarget,
    _display: Arc<GlDisplay>,
}

/// A view of the array `kept`, whose levels are 0 to 11.
fn watched(most: u64) -> Option<ListeningView> {
    let (display, target) = gl()?;
    let listener = Listener::open("127.0.0.1:0", vec!["kept".into()], most).unwrap();
    let levels: Vec<u8> = (0..12).collect();
    let kept = array(&[3, 4], "uint8", &levels).named("kept".into());
    let view = ArrayView::open(&display, vec![kept], Request::default()).unwrap();
    Some(ListeningView { view, listener, target, _display: display })
}

impl ListeningView {
    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.listener.address()).unwrap()
    }

    fn wait(&mut self, what: &str, seen: impl Fn(&mut ArrayView) -> bool) {
        let mut patience = Patience::new();
        loop {
            self.view.follow(&self.listener);
            if seen(&mut self.view) {
                return;
            }
            assert!(!patience.is_over(), "never seen: {what}; {}", self.view.title());
            sleep(Duration::from_millis(2));
        }
    }

    /// The number under a point, once it is that.
    fn sees(&mut self, x: f64, y: f64, text: &str) {
        self.wait(text, |view| point(view, x, y).is_some_and(|found| found.ends_with(text)));
    }
}

/// Sends bytes, and returns once they have been heard and the connection was closed.
fn sent(watched: &ListeningView, bytes: &[u8]) {
    let mut stream = watched.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // Who refuses the beginning closes before the end.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    let ended = stream.read_to_end(&mut Vec::new());
    let is_open = ended.is_err_and(|error| matches!(error.kind(), std::io::ErrorKind::WouldBlock));
    assert!(!is_open, "still open after {bytes:02x?}");
}

/// An empty window would not say what to do.
#[test]
fn before_the_first_image_the_address_is_shown() {
    let Some((display, target)) = gl() else { return };
    let listener = Listener::open("127.0.0.1:0", Vec::new(), 1 << 20).unwrap();
    let mut view = ArrayView::open(&display, vec![listener.waiting().unwrap()], Request::default()).unwrap();
    let words = format!("waiting for images on {}", listener.address());
    assert!(view.title().starts_with(&words), "{}", view.title());
    let at = drawn(&mut view, &target);
    let lit = (0..30).flat_map(|y| (0..400).map(move |x| (x, y))).filter(|(x, y)| at(*x, *y)[1] > 150).count();
    assert!(lit > 100, "{lit} pixels of text at the top");
    let mut watched = ListeningView { view, listener, target, _display: display };
    sent(&watched, CREATE);
    watched.wait("the image instead", |view| view.title().starts_with("pic"));
}

#[test]
fn images_are_created_updated_and_closed() {
    let Some(mut watched) = watched(Listener::most_bytes()) else { return };
    let mut stream = watched.connect();
    // In pieces, as networks do.
    for byte in CREATE {
        stream.write_all(&[*byte]).unwrap();
    }
    watched.sees(350.0, 50.0, "row 0, column 3: 0.0 0.0 0.0");
    assert!(watched.view.title().starts_with("pic (2 of 2) - float32 as HWC, 4x3"), "{}", watched.view.title());
    stream.write_all(&[FIRST, SECOND, THIRD].concat()).unwrap();
    watched.sees(350.0, 250.0, "row 2, column 3: 0.5 0.0 0.0");
    for (x, y, numbers) in
        [(1, 0, "0.0 0.25 0.0"), (3, 0, "0.0 1.0 0.0"), (1, 1, "1.0 0.0 0.25"), (1, 2, "0.5 0.0 1.0")]
    {
        watched.sees(f64::from(x) * 100.0 + 50.0, f64::from(y) * 100.0 + 50.0, numbers);
    }
    let at = drawn(&mut watched.view, &watched.target);
    assert_eq!([at(210, 210), at(310, 210)], [[255, 64, 0], [128, 0, 0]]);
    assert_eq!([at(110, 110), at(110, 210), at(210, 110)], [[255, 0, 64], [128, 0, 255], [0, 0, 0]]);
    // A difference follows what it is of.
    watched.view.press('d');
    let refused = watched.view.title();
    assert!(refused.starts_with("pic (2 of 2)"), "three channels minus one: {refused}");
    let grey = b"\x17\0\0\0\x04\x01a\0\x04\0\0\0\x03\0\0\0\x01\0\0\0Y\0";
    stream.write_all(&[&[0x17][..], &grey[1..6], b"a2\0", &grey[8..]].concat()).unwrap();
    stream.write_all(&[&[0x17][..], &grey[1..6], b"a1\0", &grey[8..]].concat()).unwrap();
    watched.wait("a1", |view| view.title().starts_with("a1 (4 of 4)"));
    watched.view.press('3');
    watched.view.press('d');
    watched.sees(50.0, 50.0, "0.0; a2 0.0; a1 0.0");
    stream.write_all(b"\x1f\0\0\0\x03\0a1\0Y\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\x3f").unwrap();
    watched.sees(50.0, 50.0, "-0.5; a2 0.0; a1 0.5");
    let colours = b"\x1b\0\0\0\x04\0a1\0\x04\0\0\0\x03\0\0\0\x03\0\0\0B\0G\0R\0";
    stream.write_all(colours).unwrap();
    watched.wait("no difference", |view| view.title().starts_with("a2 (3 of 4)"));
    // An image of the same name and another size, and one that goes.
    let mut smaller = CREATE.to_vec();
    smaller[10] = 2;
    stream.write_all(&[&smaller[..], b"\x08\0\0\0\x02a1\0"].concat()).unwrap();
    watched.wait("pic", |view| view.title().starts_with("pic (2 of 3) - float32 as HWC, 2x3"));
    stream.write_all(CLOSE).unwrap();
    watched.wait("closed", |view| view.title().starts_with("a2 (2 of 2)"));
    stream.write_all(b"\x08\0\0\0\x02a2\0").unwrap();
    watched.wait("closed", |view| view.title().starts_with("kept - "));
}

#[test]
fn what_goes_in_a_pause_is_there_until_its_end() {
    let Some(mut watched) = watched(Listener::most_bytes()) else { return };
    let mut stream = watched.connect();
    stream.write_all(CREATE).unwrap();
    watched.wait("pic", |view| view.title().starts_with("pic (2 of 2) - "));
    assert!(watched.view.press(' '));
    stream.write_all(CLOSE).unwrap();
    // Heard after it.
    stream.write_all(b"\x17\0\0\0\x04\0a1\0\x04\0\0\0\x03\0\0\0\x01\0\0\0Y\0").unwrap();
    watched.wait("a1", |view| view.title().starts_with("pic (2 of 3; frame 1 of 1, paused) - "));
    watched.sees(350.0, 50.0, "row 0, column 3: 0.0 0.0 0.0");
    watched.view.press(' ');
    watched.wait("gone", |view| view.title().starts_with("kept (1 of 2) - "));
    // One that comes again in the pause is not to go.
    stream.write_all(CREATE).unwrap();
    watched.wait("pic", |view| view.title().starts_with("pic (3 of 3) - "));
    watched.view.press(' ');
    stream.write_all(CLOSE).unwrap();
    watched.view.follow(&watched.listener);
    stream.write_all(CREATE).unwrap();
    watched.wait("again", |view| view.title().starts_with("pic (3 of 3; frame 1 of 1, paused, 1 newer) - "));
    watched.view.press(' ');
    watched.wait("again", |view| view.title().starts_with("pic (3 of 3) - "));
    watched.sees(350.0, 50.0, "row 0, column 3: 0.0 0.0 0.0");
}

#[test]
fn what_is_refused_or_damaged_changes_nothing() {
    let Some(mut watched) = watched(1 << 20) else { return };
    let before = drawn(&mut watched.view, &watched.target);
    let mut stream = watched.connect();
    let renamed = |bytes: &[u8], name: &[u8]| {
        let mut renamed = [&bytes[..6], name, &bytes[9..]].concat();
        renamed[0] = renamed.len() as u8;
        renamed
    };
    let mut wide = CREATE.to_vec();
    wide[12] = 1;
    let mut outside = FIRST.to_vec();
    outside[12] = 1;
    for whole in [
        b"\x0b\0\0\0\x00\x01/etc\0"[..].to_vec(),
        b"\x0b\0\0\0\x01\x01/etc\0".to_vec(),
        b"\x0c\0\0\0\x07\x01/etc\0\0".to_vec(),
        b"\x0a\0\0\0\x02kept\0".to_vec(),
        b"\x06\0\0\0\x08\x01".to_vec(),
        renamed(CREATE, b"kept"),
        renamed(FIRST, b"kept"),
        wide,
        FIRST.to_vec(),
        CLOSE.to_vec(),
    ] {
        let whole = [&(whole.len() as u32).to_le_bytes(), &whole[4..]].concat();
        stream.write_all(&whole).unwrap();
    }
    let mut background = CREATE.to_vec();
    background[5] = 0;
    stream.write_all(&[&background[..], &outside, FIRST].concat()).unwrap();
    // The connection is open, and all that it said is done in order.
    watched.wait("pic", |view| view.title().starts_with("kept (1 of 2)"));
    // A damaged message ends its own connection only.
    let mut damaged = CREATE.to_vec();
    damaged[5] = 7;
    sent(&watched, &damaged);
    sent(&watched, &[0xff; 64]);
    sent(&watched, &CREATE[..20]);
    stream.write_all(b"\x0a\0\0\0\x02none\0").unwrap();
    stream.write_all(CLOSE).unwrap();
    watched.wait("kept alone", |view| view.title().starts_with("kept - "));
    let after = drawn(&mut watched.view, &watched.target);
    assert!((0..300).all(|y| (0..400).all(|x| before(x, y) == after(x, y))));
    // Who has been silent longest gives way to a ninth.
    let silent: Vec<_> = (0..8).map(|_| watched.connect()).collect();
    let mut ninth = watched.connect();
    ninth.write_all(CREATE).unwrap();
    watched.wait("pic", |view| view.title().starts_with("pic"));
    silent[0].set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let is_closed =
        |mut of: &TcpStream| matches!(of.read(&mut [0]), Ok(0)) || of.take_error().is_ok_and(|e| e.is_some());
    assert!(is_closed(&stream) && is_closed(&silent[0]));
    let address = watched.listener.address();
    drop(watched);
    let mut patience = Patience::new();
    while TcpStream::connect(address).is_ok() {
        assert!(!patience.is_over(), "a listener that was dropped listens");
    }
}

#[test]
fn an_image_is_refused_before_its_memory_is_taken_with_all_copies_counted() {
    // 400 bytes of numbers here, as many in the window, and 2000 of the picture: what is below that does not go.
    for (most, is_taken) in [(2799, false), (2800, true)] {
        let Some(mut watched) = watched(most) else { return };
        let mut stream = watched.connect();
        let create = |name: &[u8], side: u32| {
            let body = [b"\x04\x01", name, b"\0", &side.to_le_bytes(), &side.to_le_bytes(), b"\x01\0\0\0Y\0"].concat();
            [&(body.len() as u32 + 4).to_le_bytes()[..], &body].concat()
        };
        let all = [create(b"huge", i32::MAX as u32), create(b"ten", 10), create(b"one", 1)].concat();
        stream.write_all(&all).unwrap();
        stream.write_all(b"\x0a\0\0\0\x02none\0").unwrap();
        let seen = if is_taken { "ten (2 of 2)" } else { "one (2 of 2)" };
        watched.wait(seen, |view| view.title().starts_with(seen));
    }
}

#[test]
fn mutated_messages_leave_what_is_on_show() {
    let Some(mut watched) = watched(1 << 20) else { return };
    let before = drawn(&mut watched.view, &watched.target);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut create = CREATE.to_vec();
    create[5] = 0;
    let all = [&create[..], FIRST, SECOND, THIRD, CLOSE];
    for _ in 0..by_level(10_000, 10_000, 1_000_000) {
        let mut bytes = all[random(all.len())].to_vec();
        for _ in 0..=random(3) {
            // The flag stays: it asks for what is on show to change.
            let at = [random(5), 6 + random(bytes.len() - 6)][usize::from(random(4) > 0)];
            match random(6) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes[at] ^= 1 << random(8),
                2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random(5)],
                3 => bytes.truncate(at.max(7)),
                4 => bytes.insert(at.max(6), random(256) as u8),
                _ => bytes.extend(std::iter::repeat_n(random(256) as u8, random(40))),
            }
            if random(2) == 0 {
                let length = (bytes.len() as u32).to_le_bytes();
                bytes[..4].copy_from_slice(&length);
            }
        }
        // So that the rest is heard, too.
        sent(&watched, &[&create, &bytes[..]].concat());
        watched.view.follow(&watched.listener);
    }
    assert!(watched.view.title().starts_with("kept (1 of "), "{}", watched.view.title());
    // The line at the top left, which says how many arrays there are, is another.
    let after = drawn(&mut watched.view, &watched.target);
    assert!((40..300).all(|y| (0..400).all(|x| before(x, y) == after(x, y))));
    sent(&watched, &[CREATE, FIRST].concat());
    watched.sees(350.0, 50.0, "row 0, column 3: 0.0 1.0 0.0");
}
