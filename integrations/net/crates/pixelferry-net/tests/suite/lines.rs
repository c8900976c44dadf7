//! Large pictures over narrow lines: each viewer gets what its line carries, and neither the server nor others wait for it.

use crate::common::*;
use crate::proxy::{LinkQuality, Proxy};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Codec, Net, NetOptions, Viewer};
use pixelferry_testing::{Patience, by_level};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// Bytes of a picture.
const BYTES: usize = 1920 * 1080 * 4;
const PAUSE: Duration = Duration::from_millis(50);

/// A proxy that lets so many bytes a second come down.
fn narrow(endpoint: &str, rate: u64) -> Proxy {
    let proxy = Proxy::before(endpoint);
    proxy.set(LinkQuality::default(), LinkQuality { rate, ..LinkQuality::default() });
    proxy
}

/// Pictures a second that bare TCP brings over such a line.
fn ceiling(rate: u64, time: Duration) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = narrow(&format!("tcp/{}", listener.local_addr().unwrap()), rate);
    let mut receiver = TcpStream::connect(proxy.endpoint().strip_prefix("tcp/").unwrap()).unwrap();
    let mut sender = listener.accept().unwrap().0;
    let sent = std::thread::spawn(move || while sender.write_all(&[7; 1 << 16]).is_ok() {});
    let (begun, mut bytes, mut part) = (Instant::now(), 0, vec![0; 1 << 16]);
    while begun.elapsed() < time {
        bytes += receiver.read(&mut part).unwrap();
    }
    let rate = bytes as f64 / BYTES as f64 / begun.elapsed().as_secs_f64();
    drop((receiver, proxy));
    sent.join().unwrap();
    rate
}

/// What a viewer saw: pictures, and the longest time without one.
#[derive(Default)]
struct ViewerCounts {
    pictures: AtomicUsize,
    gap: Mutex<Duration>,
}

/// A server with four viewers: behind a narrow line, behind one that falls silent, and two beside those, of whom one reads
/// lent memory.
fn look_on(rate: u64, is_routed: bool) {
    let image = ImageDesc::new(1920, 1080, PixelFormat::Rgba8);
    let pixels = expected(&image, image.extent.full(), 3);
    let time = Duration::from_secs(by_level(4, 10, 20));
    let possible = ceiling(rate, time / 2).min(1.0 / PAUSE.as_secs_f64());
    let (hub, endpoint) = hub();
    let net = if is_routed { Net::join(NetOptions::through(&endpoint)).unwrap() } else { hub.clone() };
    let server = net.serve("lines").unwrap().with_codec(Codec::None, 0);
    let proxies = [(); 2].map(|()| narrow(&endpoint, rate));
    let ends = [proxies[0].endpoint(), proxies[1].endpoint(), &endpoint, &endpoint];
    let mut viewers = Vec::new();
    for (number, endpoint) in ends.into_iter().enumerate() {
        let mut options = NetOptions::through(endpoint);
        options.shared_memory = number == 3;
        viewers.push(Net::join(options).unwrap().view("lines").unwrap());
    }
    let (is_over, seen) = (AtomicBool::new(false), [(); 4].map(|()| ViewerCounts::default()));
    let look = |viewer: &Viewer, seen: &ViewerCounts| {
        let mut last = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            if let Some(picture) = viewer.next(LOOK) {
                assert!(*picture.to_bytes().unwrap() == pixels);
                seen.pictures.fetch_add(1, Ordering::Relaxed);
                last = Instant::now();
            }
            let mut gap = seen.gap.lock().unwrap();
            *gap = last.elapsed().max(*gap);
        }
    };
    let mut waits = Vec::new();
    std::thread::scope(|scope| {
        let look = &look;
        viewers.iter().zip(&seen).for_each(|(viewer, seen)| {
            scope.spawn(move || look(viewer, seen));
        });
        let begun = Instant::now();
        for frame in 1.. {
            let now = Instant::now();
            server.publish(image, frame, None, &pixels).unwrap();
            waits.push(now.elapsed());
            if begun.elapsed() >= time {
                break;
            }
            if begun.elapsed() >= time / 2 {
                let silent = LinkQuality { is_silent: true, ..LinkQuality::default() };
                proxies[1].set(silent, silent);
            }
            std::thread::sleep((PAUSE * frame as u32).saturating_sub(begun.elapsed()));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    // Else its viewer's goodbye waits for an answer.
    proxies[1].heal();
    waits.sort_unstable();
    let at = |part: usize| waits[(waits.len() - 1) * part / 100];
    let rates = seen.each_ref().map(|seen| seen.pictures.load(Ordering::Relaxed) as f64 / time.as_secs_f64());
    let [slow, gone, copied, lent] = rates;
    let gaps = seen.map(|seen| seen.gap.into_inner().unwrap());
    let router = if is_routed { "behind a router, " } else { "" };
    let (asked, rate) = (waits.len() as f64 / time.as_secs_f64(), rate / 1_000_000);
    println!(
        "{router}{rate} MB/s carry {possible:.1} pictures/s: {slow:.1} came, {gone:.1} to one that vanished, {copied:.1} and {lent:.1} to others of {asked:.1}, with gaps of {:?}; publish() {:?}, p99 {:?}, max {:?}",
        &gaps[2..],
        at(50),
        at(99),
        at(100)
    );
    // A busy machine carries less than the line does.
    assert!(slow >= 0.3 * possible.min(copied), "{slow:.1} of {possible:.1} pictures/s came");
    assert!(lent >= 0.3 * asked, "{lent:.1} of {asked:.1} pictures/s came");
    // A message that nobody takes holds all that a program of Zenoh sends up for five seconds.
    assert!(gaps[2..].iter().all(|gap| *gap < Duration::from_secs(3)), "one viewer keeps others waiting: {gaps:?}");
    assert!(at(50) < Duration::from_millis(40), "publish() took {:?}", at(50));
}

#[test]
fn a_viewer_gets_what_its_line_carries_and_slows_neither_the_server_nor_others() {
    alone();
    for rate in [125_000_000, 12_500_000] {
        look_on(rate, false);
    }
}

#[test]
fn behind_a_router_too_no_viewer_keeps_others_waiting() {
    alone();
    for rate in [125_000_000, 12_500_000] {
        look_on(rate, true);
    }
}

/// A program that waits makes no pictures that nobody takes.
#[test]
fn a_server_is_free_while_somebody_has_room() {
    let image = ImageDesc::new(1920, 1080, PixelFormat::Rgba8);
    let pixels = expected(&image, image.extent.full(), 5);
    let (net, endpoint) = hub();
    let server = net.serve("free").unwrap().with_codec(Codec::None, 0);
    assert!(!server.wait_until_free(Duration::ZERO).unwrap(), "nobody views");
    let proxy = Proxy::before(&endpoint);
    let mut options = NetOptions::through(proxy.endpoint());
    options.shared_memory = false;
    let viewer = Net::join(options).unwrap().view("free").unwrap();
    let frames = AtomicU64::new(0);
    // Pictures that are published until there is no room for so long.
    let publish = |times: usize, timeout: Duration| {
        let is_free = |_: &usize| server.wait_until_free(timeout).unwrap();
        let publish = |_| {
            let frame = frames.fetch_add(1, Ordering::Relaxed) + 1;
            server.publish(image, frame, None, &pixels).unwrap();
        };
        (0..times).take_while(is_free).map(publish).count()
    };
    let is_over = AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        let look = || {
            while !is_over.load(Ordering::Relaxed) {
                viewer.next(LOOK);
            }
        };
        scope.spawn(look);
        let before = publish(20, Duration::from_secs(60));
        let silent = LinkQuality { is_silent: true, ..LinkQuality::default() };
        proxy.set(silent, silent);
        // What is on its way, and one that waits.
        let meanwhile = publish(20, 4 * LOOK);
        proxy.heal();
        let after = publish(20, Duration::from_secs(60));
        is_over.store(true, Ordering::Relaxed);
        [before, meanwhile, after]
    });
    println!("{counts:?}");
    assert_eq!([counts[0], counts[2]], [20; 2]);
    assert!(counts[1] < 20, "a viewer that takes nothing has room: {counts:?}");
}

/// Lent memory is written again all the time, and one viewer gives none of it back.
#[test]
fn the_last_of_many_pictures_without_pause_comes_whole_to_every_viewer() {
    alone();
    let image = ImageDesc::new(1920, 1080, PixelFormat::Rgba8);
    let pictures = [0, 1, 2].map(|seed| expected(&image, image.extent.full(), seed));
    let (net, endpoint) = hub();
    let server = net.serve("burst").unwrap().with_codec(Codec::None, 0);
    let (served, last) = (&AtomicUsize::new(0), &AtomicU64::new(u64::MAX));
    let enough = by_level(30, 100, 500);
    let look = |pause: u64, keeps: bool| {
        let viewer = Net::join(NetOptions::through(&endpoint)).unwrap().view("burst").unwrap();
        let (pictures, mut kept, mut patience) = (&pictures, Vec::new(), Patience::new());
        let (mut seen, mut shared, mut frame) = (0, 0, 0);
        move || {
            while frame < last.load(Ordering::Relaxed) {
                assert!(!patience.is_over(), "{seen} pictures came, the last of them {frame}");
                let Some(picture) = viewer.next(LOOK) else { continue };
                assert!(picture.header().frame > frame, "an older picture after a newer one");
                frame = picture.header().frame;
                assert!(*picture.to_bytes().unwrap() == pictures[frame as usize % 3], "another picture, or a torn one");
                (seen, shared) = (seen + 1, shared + usize::from(picture.is_shared()));
                served.fetch_add(usize::from(seen == enough), Ordering::Relaxed);
                if keeps && seen > enough / 2 {
                    // More than there is memory to lend; copies are not kept.
                    kept.extend(Some(picture).filter(pixelferry_net::Pixels::is_shared));
                }
                patience.renew();
                std::thread::sleep(Duration::from_millis(pause));
            }
            println!("pause of {pause} ms: {seen} pictures, {shared} of them lent");
            shared
        }
    };
    let viewers =
        [(0, false), (0, false), (10, false), (100, false), (0, true)].map(|(pause, keeps)| look(pause, keeps));
    std::thread::scope(|scope| {
        let threads = viewers.map(|look| scope.spawn(look));
        let is_unserved =
            |_: &u64| served.load(Ordering::Relaxed) < 5 && !threads.iter().any(ScopedJoinHandle::is_finished);
        let publish = |frame| {
            server.publish(image, frame, None, &pictures[frame as usize % 3]).unwrap();
            frame
        };
        let frames = (1..).take_while(is_unserved).map(publish).last().unwrap();
        last.store(frames, Ordering::Relaxed);
        println!("{frames} pictures");
        let shared: usize = threads.map(|thread| thread.join().unwrap()).iter().sum();
        assert!(shared > 0, "nothing was lent");
    });
}
