//! The README's shell command: two workers, a display and a viewer on loopback.

use pixelferry_testing::Patience;
use std::net::TcpListener;
use std::process::Command;

/// The block of the README that begins with this line.
fn command() -> String {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("```sh\nexport HUB=").expect("the README has the command");
    let (block, _) = rest.split_once("```").unwrap();
    format!("export HUB={block}")
}

#[test]
fn the_readmes_command_shows_pictures() {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_pixelferry-net")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let mut patience = Patience::new();
    loop {
        // A port that nobody has at the moment.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let script = command().replace("7447", &port.to_string());
        let ran = Command::new("bash").args(["-euc", &script]).env("PATH", &path).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success() && out.contains("150 frames shown"), "{out}{err}");
        assert!(out.contains(" 0 messages refused"), "{out}");
        assert!(out.contains("640x360 jpeg") && out.contains("pictures/s"), "{out}{err}");
        // On a machine with much else to do a worker may come when the table is written already.
        let workers = out.lines().filter(|line| line.contains("  worker  ")).count();
        if workers == 2 && out.contains("  display  ") {
            return;
        }
        assert!(!patience.is_over(), "{out}{err}");
    }
}
