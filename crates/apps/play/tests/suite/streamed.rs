//! Streams of other processes that texts read. The trial's process reads them, too.

use crate::suite::{folder, opened, options, pixels, trial, vouched};
use pixelferry::stream::{StreamDisplay, StreamOptions, publish};
use pixelferry::{
    BackendChoice, Encoding, Extent, ImageDesc, Link, LinkOptions, PixelFormat, SurfaceDesc, open_backend,
};
use pixelferry_play::{PlayError, Player, PlayerOptions, Wishes, play_headless};
use pixelferry_testing::{Need, wait_until};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The channel's middle, and its columns as blue.
const TEXT: &str = "void mainImage(out vec4 c, in vec2 at) {
    c = texture(iChannel0, vec2(0.5)); c.b = iChannelResolution[0].x / 255.0;
}";

/// The same as a kernel.
const KERNEL: &str = "@compute @workgroup_size(8, 8) fn k(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = iChannel0_size();
    pf_store(id.xy, vec4(iChannel0(size / 2).rg, f32(size.x) / 255.0, 1.0));
}";

fn text(file: &str) -> &'static str {
    if file.ends_with("wgsl") { KERNEL } else { TEXT }
}

struct Publisher {
    stream: Arc<StreamDisplay>,
    link: Link,
}

impl Publisher {
    fn of(name: &str, desc: SurfaceDesc) -> Self {
        let backend = open_backend(BackendChoice::Cpu, &[]).unwrap();
        let stream = publish(name, backend.as_ref(), StreamOptions::default()).unwrap();
        let link = Link::open(backend, stream.clone(), desc, LinkOptions::default()).unwrap();
        Self { stream, link }
    }

    fn new(name: &str, width: u32, height: u32) -> Self {
        Self::of(name, SurfaceDesc::image(width, height, PixelFormat::Rgba8))
    }

    /// Publishes a frame whose pixels are all the same.
    fn show(&mut self, pixel: &[u8]) {
        let pixels = pixel.repeat(self.link.desc().byte_len().unwrap() / pixel.len());
        self.link.frame(|frame| frame.write(&pixels)).unwrap();
        self.stream.publish(&self.link.shown().unwrap()).unwrap();
    }
}

fn file(name: &str) -> (PathBuf, String) {
    let (file, stream) = (folder("streamed").join(name), format!("play-{}-{name}", std::process::id()));
    std::fs::write(&file, format!("// @channel 0 stream:{stream}\n{}", text(name))).unwrap();
    (file, stream)
}

fn play(options: PlayerOptions, backend: BackendChoice, of: Need) -> Option<Player> {
    Some(opened(options, backend, of)?.unwrap())
}

/// Computes frames until one has this colour everywhere.
fn wait_for(player: &mut Player, wanted: [u8; 4]) {
    wait_until(&format!("{wanted:?}"), || {
        player.frame(true);
        assert!(player.faults().is_empty(), "{:?}", player.faults());
        pixels(player)(9, 9) == wanted
    });
}

fn said(player: &Player) -> String {
    player.streams().remove(0).1
}

/// Waits until this is said; the last frame stays meanwhile.
#[track_caller]
fn wait_for_words(player: &mut Player, words: &str, stays: [u8; 4]) {
    wait_until(words, || {
        player.frame(true);
        assert_eq!(pixels(player)(9, 9), stays);
        said(player).contains(words)
    });
}

#[test]
fn a_stream_comes_ends_comes_again_and_changes_its_size() {
    for (name, backend, of) in
        [("comes.glsl", BackendChoice::Gl, Need::Egl), ("comes.wgsl", BackendChoice::Vulkan, Need::Lavapipe)]
    {
        let (file, stream) = file(name);
        let Some(mut player) = play(options(&file, backend), backend, of) else { continue };
        // One black pixel.
        wait_for_words(&mut player, "publishes", [0, 0, 1, 255]);
        let Err(PlayError::Channel { channel: 0, reason, .. }) =
            player.running.as_ref().unwrap().wait_for_streams(Duration::from_millis(1))
        else {
            panic!("it waited for nobody's frame")
        };
        assert!(reason.contains("publishes"), "{reason}");
        let mut publisher = Publisher::new(&stream, 4, 2);
        for level in [30, 60, 90] {
            publisher.show(&[level, 2, 3, 255]);
            wait_for(&mut player, [level, 2, 4, 255]);
        }
        assert_eq!(said(&player), "");
        publisher.link.resize(SurfaceDesc::image(7, 3, PixelFormat::Rgba8)).unwrap();
        publisher.show(&[80, 9, 0, 255]);
        wait_for(&mut player, [80, 9, 7, 255]);
        drop(publisher);
        wait_for_words(&mut player, "ended", [80, 9, 7, 255]);
        // It stays for a text that is saved meanwhile, from its first frame on.
        std::fs::write(&file, format!("// @channel 0 stream:{stream}\n{}\n// saved", text(name))).unwrap();
        wait_until("the text", || {
            let is_another = player.look();
            assert_eq!(pixels(&mut player)(9, 9), [80, 9, 7, 255]);
            is_another
        });
        assert!(player.faults().is_empty(), "{:?}", player.faults());
        let mut publisher = Publisher::new(&stream, 3, 3);
        publisher.show(&[5, 6, 7, 255]);
        wait_for(&mut player, [5, 6, 3, 255]);
        drop(publisher);
        // A buffer is refused in words, and changes nothing.
        let mut publisher = Publisher::of(&stream, SurfaceDesc::buffer(64));
        publisher.show(&[1]);
        wait_for_words(&mut player, "not a picture", [5, 6, 3, 255]);
    }
}

#[test]
fn every_format_is_read_as_it_is_meant() {
    let (file, stream) = file("formats.glsl");
    let image = |format, encoding| SurfaceDesc::Image(ImageDesc::new(2, 2, format).with_encoding(encoding));
    // Half the light is 188 of 255 in sRGB.
    let half = [0x00, 0x38, 0x00, 0x34, 0x00, 0x00, 0x00, 0x3c];
    let rows = [
        (image(PixelFormat::Bgra8, Encoding::Srgb), vec![1, 2, 3, 255], [3, 2, 2, 255]),
        (image(PixelFormat::R8, Encoding::Unmanaged), vec![77], [77, 77, 2, 255]),
        (image(PixelFormat::Rgba16F, Encoding::Linear), half.to_vec(), [188, 137, 2, 255]),
    ];
    let Some(mut player) = play(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    for (desc, pixel, wanted) in rows {
        let mut publisher = Publisher::of(&stream, desc);
        publisher.show(&pixel);
        wait_for(&mut player, wanted);
    }
    // One that is too large leaves the last.
    let mut publisher = Publisher::of(&stream, SurfaceDesc::image(70_000, 1, PixelFormat::R8));
    publisher.show(&[1]);
    wait_for_words(&mut player, "65535 per side", [188, 137, 2, 255]);
}

#[test]
fn frames_without_a_window_see_it() {
    let (file, stream) = file("headless.glsl");
    let mut publisher = Publisher::new(&stream, 5, 5);
    publisher.show(&[200, 100, 0, 255]);
    let Some(mut player) = play(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    wait_for(&mut player, [200, 100, 5, 255]);
    drop(player);
    let out = folder("streamed").join("headless.png");
    // By an option instead of the text's own words.
    std::fs::write(&file, TEXT).unwrap();
    let channel = pixelferry_play::Channel::read(&format!("stream:{stream} nearest"), "".as_ref()).unwrap();
    let wishes = Wishes { backend: BackendChoice::Gl, channels: vec![(0, channel)] };
    let options = PlayerOptions { wishes, size: Extent::new(20, 20), ..options(&file, BackendChoice::Gl) };
    play_headless(options, 1, Some(&out), None, trial(BackendChoice::Gl), vouched()).unwrap();
    let picture = image::open(&out).unwrap().into_rgba8();
    assert!(picture.pixels().all(|pixel| pixel.0 == [200, 100, 5, 255]), "{:?}", picture.get_pixel(0, 0));
}

#[test]
fn a_name_that_no_stream_has_is_a_fault() {
    let file = folder("streamed").join("name.glsl");
    std::fs::write(&file, format!("// @channel 0 stream:a/b\n{TEXT}")).unwrap();
    let Some(refused) = opened(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    let Err(PlayError::Faults(faults)) = refused.map(drop) else { panic!("it was taken") };
    assert!(faults[0].text.contains("stream:a/b"), "{faults:?}");
}
