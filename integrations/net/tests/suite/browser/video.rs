//! Pictures as H.264 in the page, beside what was served; and pages and machines that have no H.264.

use super::chromium::Chromium;
use super::command::{CommandChild, later};
use super::{browser, canvas, wait_for, wait_for_state};
use pixelferry::{ImageDesc, PixelFormat, RowOrder};
use pixelferry_media::web::{BrowserCodec, Gateway, WebOptions};
use pixelferry_net::{Codec, Net, NetOptions, Server};
use pixelferry_testing::{Need, Patience, need, wait_until};
use serde_json::json;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

const CODEC: &str = "document.getElementById('size').value.split(' ')[1]";
const NOTE: &str = "document.getElementById('note').value";

/// A browser and GStreamer, or SKIPPED and why.
fn browser_and_gstreamer() -> Option<Chromium> {
    let found = pixelferry_media::video::encoders().map_err(|error| error.to_string());
    need(Need::Gstreamer, found).and_then(|_| browser(&[]))
}

fn gateway(net: &Net) -> Gateway {
    let mut options = WebOptions::at(([127, 0, 0, 1], 0).into());
    options.hop = BrowserCodec::H264;
    net.gateway("sea", options).unwrap()
}

/// Smooth, and of another colour in each corner and frame.
fn colour(image: &ImageDesc, (x, y): (u32, u32), frame: u64) -> [u8; 3] {
    let part = |at: u32, of: u32| (100 * at / of) as u8;
    let (right, down) = (part(x, image.extent.width), part(y, image.extent.height));
    [40 + right, 200 - down, 60 + (frame * 40 % 160) as u8]
}

fn publish(server: &Server, image: ImageDesc, frame: u64) {
    let (width, height) = (image.extent.width, image.extent.height);
    let rows = (0..height).map(|row| if image.row_order == RowOrder::BottomUp { height - 1 - row } else { row });
    let pixel = |x, y| {
        let [red, green, blue] = colour(&image, (x, y), frame);
        match image.format {
            PixelFormat::Bgra8 => vec![blue, green, red, 255],
            PixelFormat::R8 => vec![red],
            _ => vec![red, green, blue, 255],
        }
    };
    let pixels: Vec<u8> = rows.flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect();
    server.publish(image, frame, None, &pixels).unwrap();
}

/// Waits until the page shows this frame as video, and compares all of its pixels.
#[track_caller]
fn compare(browser: &mut Chromium, image: &ImageDesc, frame: u64) {
    let size = format!("{}x{} h264", image.extent.width, image.extent.height);
    wait_for(browser, "document.getElementById('size').value", size);
    wait_for(browser, "document.getElementById('picture').dataset.frame", frame.to_string());
    let found = canvas(browser);
    assert_eq!(found.len() as u64, 4 * image.extent.pixels());
    let mut far = 0;
    for (at, found) in (0..).zip(found.chunks_exact(4)) {
        let [red, green, blue] = colour(image, (at % image.extent.width, at / image.extent.width), frame);
        let expected = if image.format == PixelFormat::R8 { [red; 3] } else { [red, green, blue] };
        far = found.iter().zip(expected).map(|(a, b)| a.abs_diff(b)).fold(far, u8::max);
        assert_eq!(found[3], 255);
    }
    assert!(far <= 16, "{image:?}, frame {frame}: {far} apart");
}

#[test]
fn video_shows_what_is_served_in_all_shapes() {
    let Some(mut browser) = browser_and_gstreamer() else { return };
    let net = Net::join(NetOptions::hub("tcp/127.0.0.1:0")).unwrap();
    let gateway = gateway(&net);
    browser.open(&format!("http://{}/", gateway.address())).unwrap();
    wait_for_state(&mut browser, "waiting");
    let mut frame = 0;
    let mut server = net.serve("sea").unwrap();
    // Sizes that are odd, small, and others than before.
    for (codec, format, order, (width, height)) in [
        (Codec::None, PixelFormat::Rgba8, RowOrder::TopDown, (320, 180)),
        (Codec::Lz4, PixelFormat::Bgra8, RowOrder::BottomUp, (320, 180)),
        (Codec::Jpeg, PixelFormat::Rgba8, RowOrder::BottomUp, (333, 201)),
        (Codec::None, PixelFormat::R8, RowOrder::TopDown, (61, 37)),
        (Codec::None, PixelFormat::Rgba8, RowOrder::TopDown, (1, 1)),
        (Codec::None, PixelFormat::Rgba8, RowOrder::TopDown, (320, 180)),
    ] {
        server = server.with_codec(codec, 95);
        let image = ImageDesc::new(width, height, format).with_row_order(order);
        for _ in 0..3 {
            frame += 1;
            publish(&server, image, frame);
            compare(&mut browser, &image, frame);
        }
    }
    wait_for(&mut browser, NOTE, "");
    // A picture that H.264 cannot have: the page says so, and goes on with what it can show.
    let deep = ImageDesc::new(9, 9, PixelFormat::Rg8);
    server.publish(deep, frame + 1, None, &[0; 162]).unwrap();
    wait_for_state(&mut browser, "problem");
    wait_for(&mut browser, NOTE, "no H.264: cannot encode RG8 pictures as H.264; use RGBA8, BGRA8 or R8");
    let image = ImageDesc::new(320, 180, PixelFormat::Rgba8);
    publish(&server, image, frame + 2);
    compare(&mut browser, &image, frame + 2);
    wait_for(&mut browser, NOTE, "");
    wait_for_state(&mut browser, "live");
}

#[test]
fn a_browser_that_comes_later_gets_a_keyframe_and_stops_nobody() {
    let (Some(mut first), Some(mut second)) = (browser_and_gstreamer(), browser(&[])) else { return };
    let net = Net::join(NetOptions::hub("tcp/127.0.0.1:0")).unwrap();
    let (gateway, server) = (gateway(&net), net.serve("sea").unwrap());
    let image = ImageDesc::new(320, 180, PixelFormat::Rgba8);
    first.open(&format!("http://{}/", gateway.address())).unwrap();
    publish(&server, image, 1);
    compare(&mut first, &image, 1);
    publish(&server, image, 2);
    compare(&mut first, &image, 2);
    // Nothing new is served: it gets the picture of now, as video, too.
    second.open(&format!("http://{}/", gateway.address())).unwrap();
    compare(&mut second, &image, 2);
    publish(&server, image, 3);
    compare(&mut first, &image, 3);
    compare(&mut second, &image, 3);
}

#[test]
fn pages_without_h264_show_jpeg_and_say_why() {
    let Some(mut browser) = browser_and_gstreamer() else { return };
    let net = Net::join(NetOptions::hub("tcp/127.0.0.1:0")).unwrap();
    let (gateway, server) = (gateway(&net), net.serve("sea").unwrap().with_codec(Codec::Jpeg, 95));
    let image = ImageDesc::new(320, 180, PixelFormat::Rgba8);
    publish(&server, image, 1);
    let address = format!("http://{}/", gateway.address());
    browser.call("Page.enable", json!({})).unwrap();
    for (script, words) in [
        ("delete window.VideoDecoder", "this browser has no WebCodecs"),
        ("VideoDecoder.isConfigSupported = async () => ({ supported: false })", "this browser cannot decode it"),
        (
            "window.VideoDecoder = class {
                static isConfigSupported = async () => ({ supported: true });
                constructor({ error }) { this.error = error; this.state = 'configured'; }
                configure() { setTimeout(() => this.error(new Error('a broken decoder'))); }
                decode() {}
                close() { this.state = 'closed'; }
            }",
            "the decoder reports: a broken decoder",
        ),
    ] {
        let added = browser.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script })).unwrap();
        browser.open(&address).unwrap();
        wait_for(&mut browser, NOTE, format!("no H.264: {words}"));
        wait_for(&mut browser, CODEC, "jpeg");
        wait_for_state(&mut browser, "live");
        browser.call("Page.removeScriptToEvaluateOnNewDocument", added).unwrap();
    }
    browser.open(&format!("{address}?codec=served")).unwrap();
    wait_for(&mut browser, CODEC, "jpeg");
    wait_for(&mut browser, NOTE, "");
    browser.open(&address).unwrap();
    compare(&mut browser, &image, 1);
}

/// A display and a worker of the command, and the hub.
fn display() -> ([CommandChild; 2], String) {
    // A port that nobody has at the moment.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let hub = format!("tcp/127.0.0.1:{port}");
    let display = CommandChild::start(&["display", "--listen", &hub, "--size", "320x180"]);
    ([display, CommandChild::start(&["worker", "--connect", &hub])], hub)
}

/// With a gateway, and its address.
fn command(variables: &[(&str, &str)]) -> ([CommandChild; 3], String) {
    let ([display, worker], hub) = display();
    let web = ["web", "--connect", &hub, "--listen", "127.0.0.1:0", "--codec", "h264"];
    let mut web = CommandChild::start_with(&web, variables);
    let address = format!("{}/", web.address());
    ([display, worker, web], address)
}

#[test]
fn a_machine_without_gstreamer_shows_jpeg_and_says_why() {
    let Some(mut browser) = browser(&[]) else { return };
    let (_parts, address) = command(&[("PATH", "/nowhere")]);
    // The second page comes when the reason is known already.
    for _ in 0..2 {
        browser.open(&address).unwrap();
        wait_for(&mut browser, CODEC, "jpeg");
        wait_for(&mut browser, &format!("{NOTE}.includes('gst-inspect-1.0 does not run')"), true);
        wait_for_state(&mut browser, "live");
        later(&mut browser);
    }
}

/// The processes that another one started.
fn children(of: u32) -> Vec<u32> {
    let listed = Command::new("ps").args(["-o", "pid=", "--ppid", &of.to_string()]).output().unwrap();
    String::from_utf8(listed.stdout).unwrap().split_whitespace().map(|id| id.parse().unwrap()).collect()
}

#[test]
fn an_encoder_that_is_killed_is_started_again() {
    let Some(mut browser) = browser_and_gstreamer() else { return };
    let ([_display, _worker, web], address) = command(&[]);
    browser.open(&address).unwrap();
    for _ in 0..2 {
        wait_for(&mut browser, CODEC, "h264");
        let mut patience = Patience::new();
        let encoder = loop {
            if let [encoder] = children(web.id())[..] {
                break encoder;
            }
            assert!(!patience.is_over(), "{:?} encode", children(web.id()));
        };
        assert!(Command::new("kill").args(["-9", &encoder.to_string()]).status().unwrap().success());
        wait_until("it is gone", || !children(web.id()).contains(&encoder));
        later(&mut browser);
        wait_for(&mut browser, CODEC, "h264");
    }
    browser.open("about:blank").unwrap();
    wait_until("nobody looks on, and nothing encodes", || children(web.id()).is_empty());
}

#[test]
fn a_scene_is_recorded() {
    if need(Need::Gstreamer, pixelferry_media::video::encoders().map_err(|error| error.to_string())).is_none() {
        return;
    }
    let (_parts, hub) = display();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scene-{}.mp4", std::process::id()));
    let record = |file: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pixelferry-net"));
        command.args(["video", "--connect", &hub, "plasma", "--seconds", "2", "--patience", "60", "--output"]);
        command.arg(file).output().unwrap()
    };
    let recorded = record(&file);
    let (out, err) = (String::from_utf8_lossy(&recorded.stdout), String::from_utf8_lossy(&recorded.stderr));
    assert!(recorded.status.success() && out.contains(" pictures"), "{out}{err}");
    // An MP4 whose index was written.
    let bytes = std::fs::read(&file).unwrap();
    assert!(&bytes[4..8] == b"ftyp" && bytes.windows(4).any(|name| name == b"moov"));
    std::fs::remove_file(&file).unwrap();
    let refused = record(Path::new("scene.avi"));
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("use .mp4"));
}
