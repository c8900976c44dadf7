//! Shadertoy's texts.

use crate::suite::{SIZE, folder, opened, options, pixels};
use pixelferry::BackendChoice;
use pixelferry_testing::Need;

/// Texts that name variables without a first value, as golfed ones do.
pub const BARE: [(&str, &str); 2] = [
    (
        "golfed.glsl",
        "void mainImage(out vec4 O, vec2 U) {
    vec2 R = iResolution.xy;
    for (float i, z, d; i++ < 30.0; O += (cos(z + vec4(0, 1, 2, 3)) + 1.0) / d / 400.0) {
        vec3 p = z * normalize(vec3(U + U, 0.0) - vec3(R, R.y));
        p.z += 5.0;
        z += d = 0.05 + 0.3 * abs(length(p) - 2.0);
    }
    O = O * O / (1.0 + O * O);
}",
    ),
    (
        "globals.glsl",
        "float glow, turns = 1.0;
float field(vec2 p) { glow += 0.1 / (0.1 + length(p)); turns *= 1.01; return length(p) - 0.5; }
void mainImage(out vec4 colour, in vec2 at) {
    vec2 p = (2.0 * gl_FragCoord.xy - iResolution.xy) / iResolution.y;
    for (int i; i < 4; i++) {
        float d;
        d += field(p + 0.2 * float(i));
        colour.x += smoothstep(0.02, 0.0, abs(d));
    }
    vec3 unused, more = vec3(glow, turns, 20.0 * fwidth(p.x)) * 0.3;
    colour.yz += more.xy + unused.zz;
    colour.x += more.z;
}",
    ),
];

#[test]
fn what_has_no_value_is_zero() {
    let text = "#define EIGHTH 0.125
float sum; float kept = EIGHTH;
#undef EIGHTH
void more() { sum += kept; kept += 0.125; }
void mainImage(out vec4 c, vec2 at) {
    float s, t = 0.5;
    bool b; bvec3 bb; uint u; uvec2 uu; ivec4 ii; mat3 m; mat2x4 n;
    t += float(b) + float(bb.z) + float(u + uu.y) + float(ii.w) + m[2].y + n[1].w;
    for (int i; i < 2; i++) { highp float d; d += 0.125; s += d; more(); }
    c += vec4(sum, s, t, 0.0) + vec4(0, 0, gl_FragCoord.x < 48.0 ? 0.0 : 0.25, 0);
    // HERE
}";
    for here in ["", "c.x += 0.0 * fwidth(at.x);"] {
        let file = folder("shadertoy").join("bare.glsl");
        std::fs::write(&file, text.replace("// HERE", here)).unwrap();
        let Some(player) = opened(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
        let at = pixels(&mut player.unwrap());
        for (x, blue) in [(3, 128), (90, 191)] {
            let wanted = [96, 64, blue, 255];
            assert!(at(x, 7).iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 1), "{here}: {:?}", at(x, 7));
        }
    }
}

#[test]
fn a_text_is_run_unchanged() {
    let file = folder("shadertoy").join("plain.glsl");
    let text = "void mainImage(out vec4 fragColor, in vec2 fragCoord) {
    vec2 uv = fragCoord / iResolution.xy;
    fragColor = vec4(uv, 0.5 + 0.5 * sin(iTime), 0.25);
}";
    std::fs::write(&file, text).unwrap();
    let Some(player) = opened(options(&file, BackendChoice::Gl), BackendChoice::Gl, Need::Egl) else { return };
    let mut player = player.unwrap();
    let at = pixels(&mut player);
    for (x, y) in [(0, 0), (95, 53), (17, 30)] {
        let [red, green, blue, alpha] = at(x, y);
        let part = |value: f32| (255.0 * value + 0.5) as u8;
        let wanted = [part((x as f32 + 0.5) / 96.0), part((SIZE.height as f32 - y as f32 - 0.5) / 54.0), 128, 255];
        assert!([red, green, blue, alpha].iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 1), "{x}, {y}");
    }
}
