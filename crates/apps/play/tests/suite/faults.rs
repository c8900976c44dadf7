//! Texts that are wrong: what is said, and where.

use crate::suite::{folder, opened, options, pixels, trial, vouched};
use pixelferry::BackendChoice;
use pixelferry_play::PlayError;
use pixelferry_testing::{Need, need, wait_until};

/// What is said of a text, or `None` where the machine lacks the driver.
fn said(name: &str, text: &str, backend: BackendChoice, of: Need) -> Option<String> {
    let file = folder("faults").join(name);
    std::fs::write(&file, text).unwrap();
    match opened(options(&file, backend), backend, of)? {
        Err(PlayError::Faults(faults)) => Some(pixelferry_play::lines(&faults)),
        Err(other) => Some(other.to_string()),
        Ok(_) => panic!("{name} passed"),
    }
}

#[test]
fn each_language_tells_line_and_column() {
    let shader = "// a comment\nvoid mainImage(out vec4 c, in vec2 at) {\n    c =  nothing;\n}";
    let rows = [
        ("a.glsl", BackendChoice::Gl, Need::Egl, shader, "a.glsl:3:10: `nothing' undeclared"),
        (
            "a.comp",
            BackendChoice::Gl,
            Need::Egl,
            "#version 430\nlayout(local_size_x = 8) in;\nvoid main() {\n    nothing = 1;\n}",
            "a.comp:4:5: `nothing' undeclared",
        ),
        (
            "a.wgsl",
            BackendChoice::Gl,
            Need::Egl,
            "@compute @workgroup_size(8)\nfn a() {\n    let x = nothing;\n}",
            "a.wgsl:3:13: no definition in scope for identifier: `nothing`",
        ),
        (
            "a.cl",
            BackendChoice::OpenCl,
            Need::OpenCl,
            "kernel void a(PF_IMAGE(uchar4, out),\n    float iTime) {\n    int x = nothing;\n}",
            "a.cl:3:13: use of undeclared identifier 'nothing'",
        ),
    ];
    for (name, backend, of, text, wanted) in rows {
        let Some(said) = said(name, text, backend, of) else { continue };
        assert!(said.contains(wanted), "{name}: {said}");
    }
}

#[test]
fn what_a_compiler_does_not_see_is_told_too() {
    let gl = |name: &str, text: &str| said(name, text, BackendChoice::Gl, Need::Egl);
    for (name, text, wanted) in [
        ("c.glsl", "\n// @slider x 3..1", "c.glsl:2: invalid slider '@slider x 3..1'"),
        ("d.glsl", "// @channel 7 a.png", "d.glsl:1: '@channel 7 a.png' has no number from 0 to 3"),
        ("e.glsl", "// @channel 0 a.gif", "is neither a picture"),
        ("f.glsl", "// @channel 0 bufB\nvoid mainImage(out vec4 c, in vec2 at) {}", "names bufB, but there is no file"),
        (
            "g.glsl",
            "// @channel 0 absent.png\nvoid mainImage(out vec4 c, in vec2 at) { c = vec4(1.0); }",
            "channel 0: ",
        ),
        ("i.glsl", "void main() {}", "i.glsl: there is no entry point; add 'void mainImage("),
        ("a.fs", "void main() {}", "first comment is not"),
        (
            "b.fs",
            "/*{ \"INPUTS\": [ {\"NAME\": \"a\", \"TYPE\": \"sound\"} ] }*/ void main() {}",
            "'a' has the unknown type 'sound'; use float",
        ),
        (
            "d.fs",
            "/*{ \"INPUTS\": [] }*/\nvoid main() {\n  gl_FragColor = nothing;\n}",
            "d.fs:3:18: `nothing' undeclared",
        ),
        ("b.wgsl", "fn f() {}", "there is no entry point"),
        ("b.comp", "layout(local_size_x = 1) in; void main() {}", "the kernel writes no pixel"),
    ] {
        let Some(said) = gl(name, text) else { return };
        assert!(said.contains(wanted), "{name}: {said}");
    }
    let cl = |name: &str, text: &str| said(name, text, BackendChoice::OpenCl, Need::OpenCl);
    for (name, text, wanted) in [
        ("c.cl", "void f() {}", "there is no kernel"),
        ("d.cl", "\nkernel void f(float iTime) {}", "d.cl:2: the kernel 'f' has no target"),
        ("e.cl", "kernel void f(PF_IMAGE(uchar4, out), float wind) {}", "unknown parameter 'wind'"),
        ("f.cl", "kernel void f(PF_IMAGE(uchar4, out), global float4 *iChannel1) {}", "iChannel1 is unset"),
    ] {
        let Some(said) = cl(name, text) else { return };
        assert!(said.contains(wanted), "{name}: {said}");
    }
}

#[test]
fn a_common_text_has_its_own_lines() {
    let rows = [
        (
            "glsl",
            BackendChoice::Gl,
            Need::Egl,
            "float one() { return 1.0; }\nfloat two() {\n  return twice;\n}\n",
            "void mainImage(out vec4 c, in vec2 at) { c = vec4(two()); }",
            "h.common.glsl:3:10: `twice' undeclared",
        ),
        (
            "wgsl",
            BackendChoice::Gl,
            Need::Egl,
            "fn one() -> f32 { return 1.0; }\nfn two() -> f32 {\n  return twice;\n}\n",
            "@compute @workgroup_size(8)\nfn a() {\n    let x = two();\n}",
            "h.common.wgsl:3:10: no definition in scope for identifier: `twice`",
        ),
        (
            "cl",
            BackendChoice::OpenCl,
            Need::OpenCl,
            "float two() {\n  return twice;\n}\n",
            "kernel void a(PF_IMAGE(uchar4, out)) {\n    int x = nothing;\n}",
            "h.common.cl:2:10: use of undeclared identifier 'twice'\nh.cl:2:13: use of undeclared",
        ),
    ];
    for (ending, backend, of, common, text, wanted) in rows {
        std::fs::write(folder("faults").join(format!("h.common.{ending}")), common).unwrap();
        let Some(said) = said(&format!("h.{ending}"), text, backend, of) else { continue };
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn what_does_not_end_or_kills_its_process_is_a_fault() {
    let file = folder("faults").join("endless.glsl");
    // Mesa's llvmpipe ends any loop after 65 535 rounds: each is to take its time.
    let round = "x = abs(x) + sin(x); ".repeat(64);
    let endless = format!(
        "void mainImage(out vec4 c, in vec2 at) {{ float x = at.x; while (x > -1.0) {{ {round} }} c = vec4(x); }}"
    );
    std::fs::write(&file, &endless).unwrap();
    let brief = pixelferry_play::PlayerOptions {
        limit: std::time::Duration::from_millis(700),
        ..options(&file, BackendChoice::Gl)
    };
    let Some(said) = opened(brief.clone(), BackendChoice::Gl, Need::Egl) else { return };
    let said = said.map(drop).unwrap_err().to_string();
    assert!(said.contains("did not end within 0.7 s"), "{said}");
    // One that does so only after a while.
    std::fs::write(&file, endless.replace("while (x > -1.0)", "while (iTime > 8.0 && x > -1.0)")).unwrap();
    let said = opened(brief, BackendChoice::Gl, Need::Egl).unwrap().map(drop).unwrap_err().to_string();
    assert!(said.contains("did not end within 0.7 s"), "{said}");
}

#[test]
#[cfg(unix)]
fn a_process_that_is_killed_is_replaced() {
    let file = folder("faults").join("killed.glsl");
    let text = "void mainImage(out vec4 c, in vec2 at) { c = vec4(0.2); }";
    for (name, script, wanted) in [
        ("while it tries", "echo 'pixelferry-answer \"Ready\"'; read text; kill -9 $$", "signal: 9"),
        ("before it is ready", "exit 3", "exit status: 3"),
        ("as it has no device", "echo 'pixelferry-answer {\"Unable\":\"no device\"}'; read text", "no device"),
    ] {
        std::fs::write(&file, text).unwrap();
        let mut others = trial(BackendChoice::Gl);
        let mut is_first = true;
        let command = move || {
            if std::mem::take(&mut is_first) {
                let mut command = std::process::Command::new("sh");
                command.args(["-c", script]);
                return command;
            }
            others()
        };
        let Some(mut player) =
            need(Need::Egl, pixelferry_play::Player::open(options(&file, BackendChoice::Gl), None, command, vouched()))
        else {
            return;
        };
        let said = player.settle().unwrap_err().to_string();
        assert!(said.contains(wanted), "{name}: {said}");
        std::fs::write(&file, text.replace("0.2", "0.4")).unwrap();
        wait_until("the next text", || player.look());
        assert!(player.faults().is_empty(), "{name}: {:?}", player.faults());
        assert_eq!(pixels(&mut player)(3, 3), [102, 102, 102, 255], "{name}");
    }
}

/// PoCL's `printf` writes to the standard output of the trial's process.
#[test]
fn a_text_cannot_forge_the_answer_of_its_trial() {
    let file = folder("faults").join("forge.cl");
    let answer = r#"\npixelferry-answer {\"Tried\":{\"Err\":[{\"file\":\"forge.cl\",\"line\":null,\"column\":null,\"text\":\"forged\"}]}}\n"#;
    let text = format!(
        "kernel void forge(PF_IMAGE(uchar4, out)) {{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= out_width || y >= out_height) return;
    if (x == 0 && y == 0) printf(\"{answer}\");
    PF_STORE(out, x, y, (uchar4)(255, 0, 0, 255));
}}"
    );
    std::fs::write(&file, text).unwrap();
    let Some(opened) = opened(options(&file, BackendChoice::OpenCl), BackendChoice::OpenCl, Need::OpenCl) else {
        return;
    };
    let mut player = opened.unwrap_or_else(|error| panic!("the text passed its trial, and it was said: {error}"));
    assert_eq!(pixels(&mut player)(3, 3), [255, 0, 0, 255]);
}
