//! Shadertoy's texts.

use crate::{SIZE, folder, opened, options, pixels};
use pixelferry::BackendChoice;
use pixelferry_testing::Need;

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
