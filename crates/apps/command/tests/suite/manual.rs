//! Completions that shells read, and manual pages.

use crate::{pixelferry, texts};
use std::path::PathBuf;
#[cfg(target_os = "linux")]
use std::process::Command;

#[test]
fn every_shell_gets_its_words() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = pixelferry(&["completions", shell]).output().unwrap();
        let [said, errors] = texts(&output);
        assert!(output.status.success(), "{shell}: {errors}");
        for word in ["probe", "doctor", "frames-behind"] {
            assert!(said.contains(word), "{shell}: {word}");
        }
        // Not every shell's words have values.
        assert_eq!(said.contains("host-round-trip"), !["elvish", "powershell"].contains(&shell), "{shell}");
    }
    assert_eq!(pixelferry(&["completions", "none"]).output().unwrap().status.code(), Some(2));
}

/// Bash itself completes the word.
#[cfg(target_os = "linux")]
#[test]
fn bash_completes_a_word() {
    let [words, _] = texts(&pixelferry(&["completions", "bash"]).output().unwrap());
    let script = format!(
        "{words}\nCOMP_WORDS=(pixelferry do); COMP_CWORD=1; _pixelferry pixelferry do pixelferry\necho \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(texts(&output)[0].trim(), "doctor", "{}", texts(&output)[1]);
}

#[test]
fn each_command_has_a_page() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("man/new");
    let _ = std::fs::remove_dir_all(&folder);
    let output = pixelferry(&["man", folder.to_str().unwrap()]).output().unwrap();
    let [said, errors] = texts(&output);
    assert!(output.status.success() && said.contains("pixelferry.1"), "{said}{errors}");
    let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in ["pixelferry.1", "pixelferry-probe.1", "pixelferry-demo.1", "pixelferry-doctor.1", "pixelferry-man.1"] {
        assert!(page(name).contains(".TH "), "{name}");
    }
    assert!(page("pixelferry-probe.1").contains("frames pass through the host only"));
    let output = pixelferry(&["man", "/proc/none"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(texts(&output)[1].contains("cannot write manual pages to /proc/none"));
}
