//! Pictures, videos and buffers that texts read.

use crate::suite::{SIZE, folder, opened, options, pixels};
use pixelferry::BackendChoice;
use pixelferry_play::{PlayError, Player, PlayerOptions};
use pixelferry_testing::Need;
use std::path::Path;

fn play(options: PlayerOptions, backend: BackendChoice, of: Need) -> Option<Player> {
    let mut player = opened(options, backend, of)?.unwrap();
    player.rewind();
    Some(player)
}

/// A picture of 4 by 2 pixels, whose red counts columns and green rows.
fn picture(folder: &Path) {
    let picture = image::RgbaImage::from_fn(4, 2, |x, y| image::Rgba([x as u8 * 60, y as u8 * 200, 7, 255]));
    picture.save(folder.join("small.png")).unwrap();
}

#[test]
fn a_picture_stands_upright_and_is_read_by_texel_and_between() {
    let folder = folder("channels");
    picture(&folder);
    let text = "// @channel 2 small.png nearest
vec4 of(sampler2D s, vec2 at) { return texture(s, at); }
void mainImage(out vec4 c, in vec2 at) {
    vec2 uv = at / iResolution.xy;
    c = of(iChannel2, uv);
    c.b = texelFetch(iChannel2, ivec2(0), 0).g * step(3.5, iChannelResolution[2].x) * float(textureSize(iChannel2, 0).y) * 0.5;
    c.b *= step(texture(iChannel1, uv).r, 0.0);
}";
    std::fs::write(folder.join("upright.glsl"), text).unwrap();
    let file = folder.join("upright.glsl");
    let Some(mut player) = play(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    player.frame(true);
    let at = pixels(&mut player);
    for (x, y) in [(3, 3), (90, 5), (40, 50), (95, 53)] {
        let wanted = [(x * 4 / SIZE.width * 60) as u8, (y * 2 / SIZE.height * 200) as u8, 200, 255];
        assert_eq!(at(x, y), wanted, "{x}, {y}");
    }
    let text = "// @channel 0 small.png linear clamp
void mainImage(out vec4 c, in vec2 at) { c = texture(iChannel0, vec2(at.x / iResolution.x, 0.25)); }";
    std::fs::write(folder.join("between.glsl"), text).unwrap();
    let file = folder.join("between.glsl");
    let Some(mut player) = play(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    player.frame(true);
    let at = pixels(&mut player);
    for x in 0..SIZE.width {
        let place = (4.0 * (x as f32 + 0.5) / SIZE.width as f32 - 0.5).clamp(0.0, 3.0);
        assert!((f32::from(at(x, 9)[0]) - 60.0 * place).abs() <= 1.0, "column {x}");
        assert_eq!(at(x, 9)[1], 200);
    }
}

#[test]
fn a_picture_is_turned_as_its_exif_says_and_refused_where_it_claims_too_much() {
    use image::ImageEncoder as _;
    let folder = folder("channels");
    let quarter = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
    // Red on the left, as stored; seen on top.
    let stored = image::RgbImage::from_fn(64, 32, |x, _| image::Rgb(if x < 32 { [255, 0, 0] } else { [0, 0, 255] }));
    let mut file = Vec::new();
    let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut file, 95);
    encoder.set_exif_metadata(quarter).unwrap();
    encoder.write_image(&stored, 64, 32, image::ExtendedColorType::Rgb8).unwrap();
    std::fs::write(folder.join("turned.jpg"), &file).unwrap();
    let text = "// @channel 0 turned.jpg\nvoid mainImage(out vec4 c, in vec2 at) { c = texture(iChannel0, at / iResolution.xy);
    c.g = iChannelResolution[0].x / 64.0; }";
    let path = folder.join("turned.glsl");
    std::fs::write(&path, text).unwrap();
    let Some(mut player) = play(options(&path, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    player.frame(true);
    let at = pixels(&mut player);
    let (top, bottom) = (at(SIZE.width / 2, 5), at(SIZE.width / 2, SIZE.height - 6));
    assert!(top[0] > 240 && top[2] < 15 && bottom[2] > 240 && bottom[0] < 15, "{top:?} {bottom:?}");
    assert_eq!(top[1], 128, "32 columns are seen");
    let sides = file.windows(2).position(|mark| mark == b"\xff\xc0").unwrap() + 5;
    file[sides..sides + 4].copy_from_slice(&[30_000_u16; 2].map(u16::to_be_bytes).concat());
    std::fs::write(folder.join("turned.jpg"), &file).unwrap();
    let Some(refused) = opened(options(&path, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    let said = refused.map(drop).unwrap_err().to_string();
    assert!(said.contains("turned.jpg") && said.contains("PIXELFERRY_MEMORY_MIB"), "{said}");
}

#[test]
fn other_languages_read_texels_from_the_top() {
    let folder = folder("channels");
    picture(&folder);
    let rows = [
        (
            "texel.wgsl",
            BackendChoice::Gl,
            Need::Egl,
            "// @channel 0 small.png
@compute @workgroup_size(8, 8) fn t(@builtin(global_invocation_id) id: vec3<u32>) {
  pf_store(id.xy, iChannel0(vec2<i32>(id.xy) * iChannel0_size() / vec2<i32>(pf_size())));
}",
        ),
        (
            "texel.comp",
            BackendChoice::Gl,
            Need::Egl,
            "// @channel 0 small.png
layout(local_size_x = 8, local_size_y = 8) in;
void main() {
  ivec2 at = ivec2(gl_GlobalInvocationID.xy);
  pf_store(uvec2(at), iChannel0(at * iChannel0_size() / ivec2(pf_size())));
}",
        ),
        (
            "texel.cl",
            BackendChoice::OpenCl,
            Need::OpenCl,
            "// @channel 0 small.png
kernel void t(PF_IMAGE(uchar4, out), global const float4 *iChannel0, int iChannel0_width, int iChannel0_height) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= out_width || y >= out_height) return;
  float4 c = iChannel0[y * iChannel0_height / out_height * iChannel0_width + x * iChannel0_width / out_width];
  PF_STORE(out, x, y, convert_uchar4_sat_rte(c * 255.0f));
}",
        ),
    ];
    for (name, backend, of, text) in rows {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        let Some(mut player) = play(options(&file, backend), backend, of) else { continue };
        player.frame(true);
        let at = pixels(&mut player);
        for (x, y) in [(3, 3), (90, 5), (40, 50)] {
            let wanted = [(x * 4 / SIZE.width * 60) as u8, (y * 2 / SIZE.height * 200) as u8, 7, 255];
            assert_eq!(at(x, y), wanted, "{name}: {x}, {y}");
        }
    }
}

#[test]
fn a_video_goes_with_the_time_and_begins_again() {
    let folder = folder("channels");
    // Three frames of grey, four a second.
    let mut film = b"YUV4MPEG2 W2 H2 F4:1 Ip Cmono XCOLORRANGE=FULL\n".to_vec();
    for level in [50, 100, 150] {
        film.extend(b"FRAME\n");
        film.extend([level; 4]);
    }
    std::fs::write(folder.join("three.y4m"), &film).unwrap();
    let file = folder.join("film.glsl");
    let text = "// @channel 0 three.y4m\nvoid mainImage(out vec4 c, in vec2 at) { c = texture(iChannel0, vec2(0.5)); }";
    std::fs::write(&file, text).unwrap();
    let Some(mut player) = play(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    for wanted in [50, 100, 150, 50, 100, 150, 50] {
        player.frame(true);
        assert_eq!(pixels(&mut player)(5, 5), [wanted, wanted, wanted, 255]);
    }
    player.rewind();
    player.frame(true);
    assert_eq!(pixels(&mut player)(5, 5)[0], 50);
    // One that is cut is refused before it is shown.
    std::fs::write(folder.join("three.y4m"), &film[..50]).unwrap();
    let refused = opened(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl).unwrap().map(drop);
    assert!(matches!(&refused, Err(PlayError::Faults(faults)) if faults[0].text.contains("three.y4m")), "{refused:?}");
}

#[test]
fn buffers_see_what_was_written_before_them() {
    let folder = folder("channels");
    // A counts frames; B adds A of this frame and itself of the last; the picture shows both.
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write(
        "chain.bufA.glsl",
        "// @channel 0 bufA\nvoid mainImage(out vec4 c, in vec2 at) { c = texelFetch(iChannel0, ivec2(at), 0) + vec4(1.0, 0.0, 0.0, -3.0); }",
    );
    write(
        "chain.bufB.glsl",
        "// @channel 0 bufA\n// @channel 3 bufB\nvoid mainImage(out vec4 c, in vec2 at) {
    c = texelFetch(iChannel0, ivec2(at), 0) + texelFetch(iChannel3, ivec2(at), 0);
}",
    );
    write(
        "chain.glsl",
        "// @channel 0 bufA\n// @channel 1 bufB\nvoid mainImage(out vec4 c, in vec2 at) {
    ivec2 p = ivec2(at);
    c = vec4(texelFetch(iChannel0, p, 0).x, texelFetch(iChannel1, p, 0).x, -texelFetch(iChannel0, p, 0).w, 0.0) / 255.0;
}",
    );
    let file = folder.join("chain.glsl");
    let Some(mut player) = play(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    for n in 1..=5_u8 {
        player.frame(true);
        assert_eq!(pixels(&mut player)(60, 20), [n, n * (n + 1) / 2, 3 * n, 255]);
    }
}
