//! Kinds of texts that others wrote: what is a pixel's colour, where WebGL2 knows it.

use crate::suite::{folder, opened, options, pixels};
use pixelferry::BackendChoice;
use pixelferry_play::Player;
use pixelferry_testing::Need;
use std::path::Path;

/// The colour of the middle after some frames; what is wrong instead.
fn colour(file: &Path, frames: u32) -> Option<Result<[u8; 3], String>> {
    let opened = opened(options(file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl)?;
    let played = |mut player: Player| {
        player.rewind();
        (0..frames).for_each(|_| player.frame(true));
        assert!(player.faults().is_empty(), "{:?}", player.faults());
        let [red, green, blue, alpha] = pixels(&mut player)(40, 20);
        assert_eq!(alpha, 255, "{}", file.display());
        [red, green, blue]
    };
    Some(opened.map(played).map_err(|error| error.to_string()))
}

fn check(name: &str, text: impl AsRef<[u8]>, frames: u32, wanted: [u8; 3]) {
    let file = folder("cases").join(name);
    std::fs::write(&file, text).unwrap();
    let Some(found) = colour(&file, frames) else { return };
    let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(found.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 1), "{name}: {found:?}, not {wanted:?}");
}

/// A picture of 4 by 4 pixels: red goes up by 60 to the right, green downwards.
fn steps() {
    let steps = image::RgbaImage::from_fn(4, 4, |x, y| image::Rgba([60 * x as u8, 60 * y as u8, 100, 255]));
    steps.save(folder("cases").join("steps.png")).unwrap();
}

const BLUE: [u8; 3] = [51, 102, 153];

#[test]
fn macros_of_a_text_meet_nothing_of_ours() {
    for (name, text) in [
        (
            "size.glsl",
            "#define size iResolution.xy
#define id floor(f.x / size.x)
#define colour vec3(0.2, 0.4, 0.6)
#define color x
#define v y
#define c z
void mainImage(out vec4 z, in vec2 f) { z = vec4(colour * (1.0 + id) * step(0.0, f.x / size.x), 1.0); }",
        ),
        (
            "main.glsl",
            "#define main() mainImage(out vec4 fragColor, in vec2 fragCoord)
void main() { fragColor = vec4(0.2, 0.4, 0.6, 1.0); }",
        ),
        (
            "texture2D.glsl",
            "#define texture2D(a, b) vec4(0.2, 0.4, 0.6, 1.0)
void mainImage(out vec4 c, in vec2 f) { c = texture2D(iChannel0, f); }",
        ),
        (
            "words.glsl",
            "#define vec4(a, b, c, d) vec4(a, b, c, d)
#define out out
float buffer, shared, at, zero;
void mainImage(out vec4 c, in vec2 f) { float place = 0.2; c = vec4(place, 0.4 + buffer + shared + at + zero, 0.6, 1.0); }",
        ),
        (
            "declared.glsl",
            "void mainImage(out vec4 c, in vec2 f);
#ifdef HW_PERFORMANCE
void mainImage(out vec4 c, in vec2 f) { st_assert(f.x > 0.0); st_assert(f.x > 0.0, 1); c = vec4(0.2, 0.4, 0.6, float(HW_PERFORMANCE)); }
#endif",
        ),
        (
            "size.fs",
            "/*{ \"INPUTS\": [ { \"NAME\": \"input\", \"TYPE\": \"float\", \"DEFAULT\": 0.2 } ] }*/
#define at vec2(0.4, 0.6)
#define colour vec4(input, at, 1)
vec3 iResolution = vec3(0.0), iTime;
void main (void) { gl_FragColor = colour; }",
        ),
    ] {
        check(name, text, 1, BLUE);
    }
    check(
        "assert.glsl",
        "void mainImage(out vec4 c, in vec2 f) { st_assert(f.x < 0.0, 1); c = vec4(1); }",
        1,
        [0, 255, 0],
    );
}

#[test]
fn bytes_that_editors_leave_harm_nothing() {
    let text = "void mainImage(out vec4 c, in vec2 f) { c = vec4(0.2, 0.4, 0.6, 1.0); }";
    let mark = "\u{feff}";
    check("mark.glsl", format!("{mark}{text}"), 1, BLUE);
    check("mark.fs", format!("{mark}/*{{}}*/ void main() {{ gl_FragColor = vec4(0.2, 0.4, 0.6, 1.0); }}"), 1, BLUE);
    let kernel = "@compute @workgroup_size(8, 8) fn k(@builtin(global_invocation_id) id: vec3<u32>) {
        pf_store(id.xy, vec4(0.2, 0.4, 0.6, 1.0)); }";
    check("mark.wgsl", format!("{mark}{kernel}"), 1, BLUE);
    check("latin.glsl", [b"// M\xfcller, \xa9\n", text.as_bytes()].concat(), 1, BLUE);
    check("lines.glsl", text.replace("{ ", "{\r\n").replace("; ", ";\r\n"), 1, BLUE);
}

#[test]
fn samplers_and_discard_are_the_gpus() {
    steps();
    for (name, text, wanted) in [
        (
            "offsets.glsl",
            "// @channel 0 steps.png nearest clamp
float level(sampler2D s) { return texelFetch(s, ivec2(1, 3), 0).b; }
float level(int n) { return float(n); }
void mainImage(out vec4 c, in vec2 f) {
    vec2 p = vec2(1.5, 1.5) / 4.0;
    c.r = textureOffset(iChannel0, p, ivec2(1, 0)).r - textureProj(iChannel0, vec3(p * 2.0, 2.0)).r;
    c.g = texelFetchOffset(iChannel0, ivec2(1), 0, ivec2(0, 1)).g;
    c.b = level(iChannel0) * level(1);
}",
            [60, 60, 100],
        ),
        (
            "levels.glsl",
            "// @channel 0 steps.png\n// @channel 1 steps.png linear\n// @channel 2 steps.png turned nearest
void mainImage(out vec4 c, in vec2 f) {
    c = vec4(textureLod(iChannel0, vec2(0.1), 9.0).r, textureLod(iChannel1, vec2(0.125), 9.0).g, texelFetch(iChannel2, ivec2(0), 0).g, 1);
}",
            [90, 180, 0],
        ),
        (
            "plugin.glsl",
            "#iChannel0 \"file://steps.png\"\n#iChannel0::MinFilter \"Nearest\"
void mainImage(out vec4 c, in vec2 f) { c = texelFetch(iChannel0, ivec2(1, 3), 0); }",
            [60, 0, 100],
        ),
        (
            "gone.glsl",
            "void mainImage(out vec4 c, in vec2 f) { if (f.x > 1.0) discard; c = vec4(1.0); }",
            [0, 0, 0],
        ),
        (
            "times.glsl",
            "// @channel 0 steps.png
void mainImage(out vec4 c, in vec2 f) { c = vec4(iChannelTime[0] == iTime, iSampleRate == 44100.0, iChannelResolution[1] == vec3(0), 1); }",
            [255, 255, 255],
        ),
    ] {
        check(name, text, 1, wanted);
    }
    // A buffer keeps what it was: every second texture of it.
    let kept = "// @channel 0 bufA\nvoid mainImage(out vec4 c, in vec2 f) { c = texelFetch(iChannel0, ivec2(f), 0); }";
    let once = "void mainImage(out vec4 c, in vec2 f) { if (iFrame > 1) discard; c = vec4(0.2, 0.4, 0.6, 1.0); }";
    std::fs::write(folder("cases").join("kept.bufA.glsl"), once).unwrap();
    check("kept.glsl", kept, 5, BLUE);
}

#[test]
fn arrays_structs_and_what_functions_give_begin_with_zero() {
    let text = "float all[3]; const int N = 2; vec2 pairs[N], one = vec2(0.0);
struct Light { vec3 at; float power; };
struct Lamp { Light light; float more[2]; } lamp;
void add(out float sum) { sum += 0.2; }
void add(out float sums[2], out Light light) { sums[1] += 0.2; light.at.x += 0.2; }
void mainImage(out vec4 c, in vec2 f) {
    Light one; float own[4], sum = 0.9, sums[2];
    for (int i = 0; i < 3; i++) all[i] += 0.2;
    own[2] += 0.4; one.power += 0.6; one.at.y += 0.6;
    add(sum); add(sums, lamp.light);
    c = vec4(all[1] + pairs[1].y, own[2], 0.5 * (one.power + one.at.y), 1.0);
    c.r *= sum == 0.2 && sums[1] == 0.2 && lamp.light.at == vec3(0.2, 0, 0) && lamp.more[1] == 0.0 ? 1.0 : 0.0;
}";
    check("zeroes.glsl", text, 1, BLUE);
}

#[test]
fn isf_has_passes_pictures_and_vertices() {
    steps();
    let many: Vec<_> =
        (0..20).map(|n| format!("{{ \"NAME\": \"s{n}\", \"TYPE\": \"float\", \"DEFAULT\": {n} }}")).collect();
    let passes: Vec<_> = (0..8).map(|n| format!("{{ \"TARGET\": \"t{n}\" }}")).collect();
    for (name, text, frames, wanted) in [
        (
            "feedback.fs",
            "/*{ \"PASSES\": [ { \"TARGET\": \"before\", \"PERSISTENT\": true, \"FLOAT\": true } ] }*/
void main() { gl_FragColor = vec4(IMG_NORM_PIXEL(before, isf_FragNormCoord).rgb + 0.1, 1.0); }"
                .to_owned(),
            6,
            [153; 3],
        ),
        (
            "sized.fs",
            "/*{ \"INPUTS\": [ { \"NAME\": \"by\", \"TYPE\": \"float\", \"DEFAULT\": 2, \"MAX\": 4 } ],
    \"PASSES\": [ { \"TARGET\": \"half\", \"WIDTH\": \"floor($WIDTH / $by)\", \"HEIGHT\": 3 }, {} ] }*/
void main() {
    if (PASSINDEX == 0) gl_FragColor = vec4(RENDERSIZE / 255.0, 1.0, 1.0);
    else gl_FragColor = vec4(IMG_NORM_PIXEL(half, isf_FragNormCoord).rg, IMG_SIZE(half).x / 255.0, 1.0);
}"
            .to_owned(),
            1,
            [48, 3, 48],
        ),
        (
            "outside.fs",
            "/*{ \"INPUTS\": [ { \"NAME\": \"grid\", \"TYPE\": \"float\", \"DEFAULT\": 5.0 } ] }*/
void main() { gl_FragColor = vec4(grid / 10.0); }"
                .to_owned(),
            1,
            [128; 3],
        ),
        (
            "imported.fs",
            "/*{ \"IMPORTED\": { \"map\": { \"PATH\": \"steps.png\" } } }*/
void main() { gl_FragColor = IMG_PIXEL(map, vec2(2.5, 1.5)); }"
                .to_owned(),
            1,
            [120, 120, 100],
        ),
        (
            "many.fs",
            format!(
                "/*{{ \"INPUTS\": [ {} ] }}*/\nvoid main() {{ gl_FragColor = vec4(s19 / 255.0, s7 / 255.0, 0.0, 1.0); }}",
                many.join(", ")
            ),
            1,
            [19, 7, 0],
        ),
        (
            "passes.fs",
            format!(
                "/*{{ \"PASSES\": [ {} ] }}*/\nvoid main() {{ gl_FragColor = vec4(float(PASSINDEX) / 255.0, IMG_THIS_PIXEL(t6).r, IMG_THIS_PIXEL(t7).r, 1.0); }}",
                passes.join(", ")
            ),
            2,
            [7, 6, 7],
        ),
        (
            "sound.fs",
            "/*{ \"INPUTS\": [ { \"NAME\": \"wave\", \"TYPE\": \"audio\" } ] }*/
void main() { gl_FragColor = vec4(IMG_NORM_PIXEL(wave, isf_FragNormCoord).r, texture2D(wave, vec2(0)).g, 1, 1); }"
                .to_owned(),
            1,
            [0, 0, 255],
        ),
    ] {
        check(name, text, frames, wanted);
    }
    let vertices = "varying vec2 twice;\nvoid main() {\n  vv_vertShaderInit();\n  twice = 2.0 * isf_FragNormCoord;\n}";
    std::fs::write(folder("cases").join("vertices.vs"), vertices).unwrap();
    let text = "/*{}*/\nvarying vec2 twice;\nvoid main() { gl_FragColor = vec4(0.5 * twice.x - gl_FragCoord.x / RENDERSIZE.x, 1.0, 0.0, 1.0); }";
    check("vertices.fs", text, 1, [0, 255, 0]);
}

#[test]
fn keys_are_a_texture() {
    let file = folder("cases").join("keys.glsl");
    let text = "// @channel 0 keyboard
void mainImage(out vec4 c, in vec2 f) {
    c = vec4(texelFetch(iChannel0, ivec2(65, 0), 0).x, texelFetch(iChannel0, ivec2(37, 1), 0).x, texture(iChannel0, vec2(32.5, 2.5) / vec2(256, 3)).x, 1);
}";
    std::fs::write(&file, text).unwrap();
    let Some(player) = opened(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    let mut player = player.unwrap();
    assert!(player.reads_keyboard());
    let mut after = |keys: &[(&str, bool)]| {
        keys.iter().for_each(|(key, is_down)| player.keyboard.press(key, *is_down));
        player.frame(true);
        let [red, green, blue, _] = pixels(&mut player)(40, 20);
        [red, green, blue]
    };
    assert_eq!(after(&[]), [0; 3]);
    assert_eq!(after(&[("a", true), ("ArrowLeft", true), ("Space", true)]), [255; 3]);
    assert_eq!(after(&[("ArrowLeft", true), ("Space", false)]), [255, 0, 255]);
    assert_eq!(after(&[("a", false), ("Space", true), ("F40", true), ("Hyper", true)]), [0; 3]);
}

#[test]
fn channels_are_cubes_and_volumes() {
    let side_by_side =
        |count: u32| image::RgbaImage::from_fn(2 * count, 2, |x, y| image::Rgba([20 * x as u8, 100 * y as u8, 9, 255]));
    side_by_side(6).save(folder("cases").join("cube.png")).unwrap();
    side_by_side(4).save(folder("cases").join("volume.png")).unwrap();
    // Rows of a face begin at the top: +x is face 0, -y is face 3, and each has its own directions.
    let cube = "// @channel 0 cube.png cube nearest
void mainImage(out vec4 c, in vec2 f) {
    vec4 first = texture(iChannel0, vec3(1.0, 0.5, 0.5)), fourth = texture(iChannel0, vec3(0.5, -1.0, 0.5));
    c = vec4(first.r, fourth.r, first.g + (iChannelResolution[0] == vec3(2, 2, 1) ? 0.0 : 1.0), 1.0);
}";
    check("cube.glsl", cube, 1, [0, 140, 0]);
    let volume = "// @channel 1 volume.png volume nearest clamp
void mainImage(out vec4 c, in vec2 f) {
    vec4 third = texture(iChannel1, vec3(0.75, 0.75, 0.625)), last = texelFetch(iChannel1, ivec3(0, 0, 3), 0);
    c = vec4(third.rg, last.r + (iChannelResolution[1] == vec3(2, 2, 4) ? 0.0 : 1.0), 1.0);
}";
    check("volume.glsl", volume, 1, [100, 100, 120]);
    let file = folder("cases").join("six.glsl");
    std::fs::write(&file, cube.replace("cube.png", "volume.png")).unwrap();
    let Some(found) = colour(&file, 1) else { return };
    assert!(found.unwrap_err().contains("size 8x2 is not that of a cube: six square faces"));
}

#[test]
fn a_buffer_is_a_cube() {
    let ray = "void mainCubemap(out vec4 c, in vec2 f, in vec3 o, in vec3 d) { c = vec4(d + float(iFrame) + step(iResolution.xy, f).xyx, o.x); }";
    std::fs::write(folder("cases").join("rays.cubeA.glsl"), ray).unwrap();
    let text = "// @channel 2 cubeA
void mainImage(out vec4 c, in vec2 f) {
    float most = 0.0;
    for (int n = 0; n < 60; n++) {
        vec3 d = normalize(sin(vec3(1.3, 2.1, 3.7) * float(n + 1)));
        most = max(most, distance(texture(iChannel2, d).xyz - float(iFrame), d));
    }
    c = vec4(most < 0.01 ? 0.2 : 1.0, 0.4, 0.6, 1.0);
}";
    check("rays.glsl", text, 2, BLUE);
}

#[test]
fn a_minimised_window_comes_back() {
    let (file, size) = (folder("cases").join("minimised.glsl"), pixelferry::Extent::new(30, 20));
    std::fs::write(file.with_extension("bufA.glsl"), "void mainImage(out vec4 c, in vec2 f) { c = vec4(1.0); }")
        .unwrap();
    let text = "// @channel 0 bufA\nvoid mainImage(out vec4 c, in vec2 f) { c = vec4(texelFetch(iChannel0, ivec2(f), 0).x, f / 255.0, 1); }";
    std::fs::write(&file, text).unwrap();
    let Some(player) = opened(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    let mut player = player.unwrap();
    for small in [pixelferry::Extent::new(0, 0), pixelferry::Extent::new(7, 0)] {
        player.resize(small).unwrap();
        player.frame(true);
        assert!(player.faults().is_empty(), "{:?}", player.faults());
        player.resize(size).unwrap();
        assert_eq!((player.size(), pixels(&mut player)(29, 0)), (size, [255, 30, 20, 255]));
    }
}

#[test]
fn a_menu_has_only_its_values() {
    let file = folder("cases").join("menu.fs");
    let text = "/*{ \"INPUTS\": [ { \"NAME\": \"mode\", \"TYPE\": \"long\", \"VALUES\": [8, 2, 40], \"LABELS\": [\"a\", \"b\"], \"DEFAULT\": 9 } ] }*/
void main() { gl_FragColor = vec4(float(mode) / 255.0); }";
    std::fs::write(&file, text).unwrap();
    let mut options = options(&file, BackendChoice::Gl);
    for (set, wanted) in [(None, 8), (Some(30.0), 40)] {
        options.set = set.map(|value| ("mode".to_owned(), value)).into_iter().collect();
        let Some(player) = opened(options.clone(), BackendChoice::Gl, Need::Egl) else { return };
        let mut player = player.unwrap();
        let labels: Vec<_> = player.sliders().0[0].menu.iter().map(|(_, label)| label.clone()).collect();
        assert_eq!((pixels(&mut player)(40, 20)[0], labels), (wanted, vec!["a".into(), "b".into(), "40".to_owned()]));
    }
}

#[test]
fn a_filter_is_as_large_as_its_image() {
    steps();
    let file = folder("cases").join("filter.fs");
    let text = "/*{ \"INPUTS\": [ { \"NAME\": \"inputImage\", \"TYPE\": \"image\" } ] }*/
// @channel 0 steps.png
void main() { gl_FragColor = IMG_PIXEL(inputImage, gl_FragCoord.xy); }";
    std::fs::write(&file, text).unwrap();
    let options = pixelferry_play::PlayerOptions { follows_image: true, ..options(&file, BackendChoice::Gl) };
    let Some(player) = opened(options, BackendChoice::Gl, Need::Egl) else { return };
    let mut player = player.unwrap();
    let steps = image::open(folder("cases").join("steps.png")).unwrap().into_rgba8();
    assert_eq!(player.picture().unwrap(), steps);
}

#[test]
fn names_of_glslviewer_are_known() {
    let text = "#version 120
#ifdef GL_ES
precision mediump float;
#endif
uniform vec2 u_resolution; uniform float u_time; uniform vec2 u_mouse;
varying vec2 v_texcoord;
void main() {
    vec2 st = gl_FragCoord.xy / u_resolution;
    gl_FragColor = vec4(u_time, abs(st - v_texcoord).x < 0.001 ? 1.0 : 0.0, u_mouse.x, 1.0);
}";
    check("viewer.frag", text, 3, [128, 255, 0]);
    let text = "#version 330\nuniform vec2 u_resolution;\nout vec4 colour;\nvoid main() { colour = vec4(u_resolution / 255.0, 0.0, 1.0); }";
    check("own.frag", text, 1, [96, 54, 0]);
}

#[test]
fn faults_have_their_places_in_the_users_words() {
    for (name, text, wanted) in [
        ("brace.glsl", "void mainImage(out vec4 c, in vec2 f) {\n  c = vec4(1.0);\n", "brace.glsl:2"),
        ("brace.fs", "/*{}*/\nvoid main() {\n  gl_FragColor = vec4(1.0);", "brace.fs:3"),
        (
            "slider.glsl",
            "// @slider speed 0..1\nvoid mainImage(out vec4 c, in vec2 f) {\n  c = speed.x;\n}",
            "slider.glsl:3:",
        ),
        ("type.glsl", "void mainImage(out vec4 c, in vec2 f) {\n  float a[2], b;\n  int d = 1.0;\n}", "type.glsl:3:"),
        (
            "behind.glsl",
            "void mainImage(out vec4 c, in vec2 f) {\n  float a[2], b; c = gone;\n}",
            "behind.glsl:2:22: `gone' undeclared",
        ),
        ("colour.fs", "/*{}*/\nvoid main() {\n  gl_FragColor = vec3(1.0);\n}", "colour.fs:3:"),
        (
            "viewer.frag",
            "#version 120\nvoid main() {\n  gl_FragColor = u_tim;\n}",
            "viewer.frag:3:18: `u_tim' undeclared",
        ),
    ] {
        let file = folder("cases").join(name);
        std::fs::write(&file, text).unwrap();
        let Some(found) = colour(&file, 1) else { return };
        let said = found.unwrap_err();
        assert!(said.contains(wanted), "{said}");
        assert!(!said.contains("pf_") && !said.contains("zeroAt") && !said.contains("shadertoy"), "{said}");
    }
    let file = folder("cases").join("wrong.fs");
    std::fs::write(&file, "/*{}*/ void main() { gl_FragColor = vec4(1.0); }").unwrap();
    std::fs::write(file.with_extension("vs"), "void main() {\n  isf_vertShaderInit();\n  gone = 1;\n}").unwrap();
    let Some(found) = colour(&file, 1) else { return };
    assert!(found.unwrap_err().contains("wrong.vs:3:3: `gone' undeclared"));
    let refused = opened(
        options(&folder("cases").join("own.frag"), BackendChoice::Vulkan),
        BackendChoice::Vulkan,
        Need::Lavapipe,
    );
    assert!(
        refused
            .unwrap()
            .map(drop)
            .unwrap_err()
            .to_string()
            .contains("does not run a fragment shader with glslViewer's names; use gl")
    );
}
