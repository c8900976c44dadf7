//! The README's shell commands: the demo, and its parts as processes of their own on loopback.

use pixelferry_testing::Patience;
use std::net::TcpListener;
use std::process::Command;

/// The block of the README that begins with these words.
fn block(begin: &str) -> String {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once(&format!("```sh\n{begin}")).expect("the README has the command");
    let (block, _) = rest.split_once("```").unwrap();
    format!("{begin}{block}")
}

/// Runs a block, and returns what it said. A shell's background jobs ignore SIGINT, which nobody sends here.
fn run(script: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_pixelferry-net")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let ran = Command::new("bash").args(["-euc", script]).env("PATH", &path).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    out.into_owned()
}

#[test]
fn the_first_command_shows_pictures() {
    let begin = "pixelferry-net demo";
    // It goes on until Ctrl-C, on the usual ports.
    let ends = format!("{begin} --frames 3 --hub tcp/127.0.0.1:0 --listen 127.0.0.1:0");
    let said = run(&block(begin).replace(begin, &ends));
    assert!(said.starts_with("open http://127.0.0.1:") && said.contains("3 frames shown"), "{said}");
}

#[test]
fn its_parts_are_commands_that_find_each_other() {
    let mut patience = Patience::new();
    loop {
        // A port that nobody has at the moment.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let said = run(&block("export HUB=").replace("7447", &port.to_string()));
        assert!(said.contains("640x360 jpeg") && said.contains("pictures/s"), "{said}");
        // On a machine with much else to do a worker may come when the table is written already.
        let workers = said.lines().filter(|line| line.contains("  worker  ")).count();
        if workers == 2 && said.contains("  display  ") {
            return;
        }
        assert!(!patience.is_over(), "{said}");
    }
}
