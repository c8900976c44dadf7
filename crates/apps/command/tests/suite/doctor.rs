//! `pixelferry doctor`: causes that are made for real, and gone when its advice was followed.

use crate::{pixelferry, texts};
use serde_json::Value;
use std::process::Command;

fn doctor(env: &[(&str, &str)]) -> Command {
    let mut command = pixelferry(&["doctor", "--json"]);
    for name in ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "LIBGL_ALWAYS_SOFTWARE"] {
        command.env_remove(name);
    }
    command.envs(env.iter().copied());
    command
}

/// The causes by name, with their commands, and the devices of OpenGL that are programs.
fn found(command: &mut Command) -> (Vec<(String, String)>, Value) {
    let output = command.output().unwrap();
    let [said, errors] = texts(&output);
    let report: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}{errors}"));
    assert_eq!((&report["schema"], &report["schema_version"]), (&"pixelferry-doctor".into(), &1.into()));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let causes: Vec<_> =
        report["found"].as_array().unwrap().iter().map(|c| (text(&c["name"]), text(&c["command"]))).collect();
    assert_eq!(output.status.code(), Some(if causes.is_empty() { 0 } else { 5 }), "{said}{errors}");
    (causes, report["facts"].clone())
}

fn has(causes: &[(String, String)], name: &str) -> bool {
    causes.iter().any(|(cause, _)| cause == name)
}

/// Follows a command `unset NAME` in the environment of the next run, as a shell does.
fn follow(command: &mut Command, advice: &str) {
    let name = advice.strip_prefix("unset ").unwrap_or_else(|| panic!("{advice}"));
    command.env_remove(name);
}

#[cfg(target_os = "linux")]
#[test]
fn a_variable_that_leads_egl_astray() {
    for variable in ["__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS"] {
        let mut ill = doctor(&[(variable, "/dev/null/none")]);
        let (causes, facts) = found(&mut ill);
        let cause = causes.iter().find(|(name, _)| name == "no-egl-vendor-file");
        let (_, advice) = cause.unwrap_or_else(|| panic!("{variable}: {causes:?}"));
        assert_eq!(facts["opengl"].as_array().unwrap().len(), 0);
        follow(&mut ill, advice);
        let (causes, _) = found(&mut ill);
        assert!(!has(&causes, "no-egl-vendor-file"), "{causes:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn opengl_that_is_a_program_on_the_cpu() {
    use ::pixelferry::{DisplayChoice, open_headless};
    use pixelferry_tests::{Need, need};

    let Some(screen) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    let (causes, facts) = found(&mut doctor(&[]));
    let is_software = screen.display().device().software;
    assert_eq!(
        has(&causes, "software-opengl") || has(&causes, "container-without-graphics"),
        is_software,
        "{causes:?}"
    );
    assert_eq!(facts["opengl"][0]["software"], is_software);
    let output = pixelferry(&["doctor"]).output().unwrap();
    let [said, _] = texts(&output);
    for (name, command) in &causes {
        assert!(said.contains(&format!("{name}: ")) && said.contains(&format!("\n    {command}\n")), "{said}");
    }
    assert!(!is_software || said.contains("draws on the CPU (llvmpipe") || !said.contains("software-opengl"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_screen_at_the_other_end_of_ssh() {
    let mut ill = doctor(&[("SSH_CONNECTION", "192.0.2.1 1 192.0.2.2 22"), ("DISPLAY", "localhost:10.0")]);
    ill.env_remove("WAYLAND_DISPLAY");
    let (causes, facts) = found(&mut ill);
    let (_, advice) = causes.iter().find(|(name, _)| name == "ssh-x-forwarding").unwrap();
    assert!(!facts.to_string().contains("192.0.2.1"), "{facts:#}");
    follow(&mut ill, advice);
    let (causes, _) = found(&mut ill);
    assert!(!has(&causes, "ssh-x-forwarding"), "{causes:?}");
}
