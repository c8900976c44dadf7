//! `pixelferry-net demo`: one process that shows, computes and serves the page, and whose parts all end with it.

use pixelferry_testing::Patience;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_pixelferry-net");

/// The demo on ports that the system chooses. Killed when it goes, if it has not ended by then.
struct Demo {
    child: Child,
    page: String,
    hub: String,
}

impl Demo {
    fn start(more: &[&str]) -> Self {
        // A shell's background jobs ignore SIGINT, and so would what they start.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", BINARY, "demo", "--listen", "127.0.0.1:0", "--hub", "tcp/127.0.0.1:0"]);
        let mut child = command.args(more).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let page = lines.next().unwrap().strip_prefix("open http://").unwrap().to_owned();
        let words = lines.next().unwrap();
        let hub =
            words.split_whitespace().find(|word| word.starts_with("tcp/")).unwrap().trim_end_matches(';').to_owned();
        Self { child, page, hub }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ran(arguments: &[&str]) -> String {
    let output = Command::new(BINARY).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Roles of all nodes, sorted.
fn roles(hub: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(&ran(&["probe", "--connect", hub, "--json"])).unwrap();
    assert_eq!((&report["schema"], &report["schema_version"]), (&"pixelferry-net-probe".into(), &1.into()));
    let nodes = report["nodes"].as_array().unwrap();
    // All of one place, by whose memory they share pixels.
    let place = nodes[0]["memory"].as_str().unwrap();
    assert!(place.len() == 16 && nodes.iter().all(|node| node["memory"] == place), "{report}");
    let roles = nodes.iter().flat_map(|node| node["roles"].as_array().unwrap());
    let mut roles: Vec<_> = roles.map(|role| role["role"].as_str().unwrap().to_owned()).collect();
    roles.sort_unstable();
    roles
}

#[cfg(target_os = "linux")]
#[test]
fn one_command_shows_a_picture_and_ctrl_c_ends_all_of_it() {
    use std::os::unix::process::ExitStatusExt as _;

    let mut demo = Demo::start(&["--size", "160x90", "--workers", "3"]);
    let said = ran(&["view", "--connect", &demo.hub, "--frames", "5"]);
    assert!(said.contains("160x90 jpeg"), "{said}");
    let mut page = TcpStream::connect(&demo.page).unwrap();
    write!(page, "GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", demo.page).unwrap();
    let mut answer = String::new();
    page.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<canvas"), "{answer}");
    let mut patience = Patience::new();
    loop {
        let roles = roles(&demo.hub);
        let count = |role: &str| roles.iter().filter(|one| *one == role).count();
        if (count("worker"), count("display"), count("server")) == (3, 1, 1) {
            break;
        }
        assert!(!patience.is_over(), "{roles:?}");
    }

    let killed = Command::new("kill").args(["-INT", &demo.child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(demo.child.wait().unwrap().signal(), Some(2));
    // Nobody listens any more, and the ports are free.
    for address in [demo.page.as_str(), demo.hub.strip_prefix("tcp/").unwrap()] {
        assert!(TcpStream::connect(address).is_err(), "{address}");
        TcpListener::bind(address).unwrap();
    }
}

#[test]
fn it_ends_by_itself_after_so_many_frames() {
    let mut demo = Demo::start(&["--size", "64x64", "--workers", "1", "--frames", "3"]);
    assert!(demo.child.wait().unwrap().success());
}

#[test]
fn its_words_are_those_of_the_other_command() {
    let version = ran(&["--version"]);
    assert!(version.starts_with(&format!("pixelferry-net {} (", env!("CARGO_PKG_VERSION"))), "{version}");
    assert!(version.contains("features web"), "{version}");
    for (arguments, says) in [
        (&["demo", "--size", "64x"][..], "a side is missing; give it as WIDTHxHEIGHT"),
        (&["display", "--size", "0x4"], "at least 1x1"),
        (&["demo", "--workers", "0"], "1..=64"),
    ] {
        let output = Command::new(BINARY).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(says), "{said}");
    }
    // A port that somebody has.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let holder = TcpListener::bind(taken).unwrap();
    let listen = ["demo", "--hub", "tcp/127.0.0.1:0", "--listen", &taken.to_string()];
    let output = Command::new(BINARY).args(listen).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains(&taken.to_string()), "{said}");
    drop(holder);
}

#[test]
fn a_table_stands_beside_a_file_of_json() {
    let demo = Demo::start(&["--size", "64x64", "--workers", "1"]);
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("net-probe.json");
    let said = ran(&["probe", "--connect", &demo.hub, "--json", file.to_str().unwrap()]);
    assert!(said.starts_with("host ") && said.contains("  display  "), "{said}");
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(!saved["nodes"].as_array().unwrap().is_empty());
}
