//! The command as those use it who run it for others: behind a router, with names, certificates and tokens, and with its end.

use crate::papers::{Papers, folder};
use pixelferry_testing::{Patience, wait_until};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

const BINARY: &str = env!("CARGO_BIN_EXE_pixelferry-net");

/// A part of the command, and what it said so far. Killed when it goes.
struct CommandProcess {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl CommandProcess {
    fn start(arguments: &[&str]) -> Self {
        Self::with(arguments, &[])
    }

    fn with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(BINARY);
        command.args(arguments).envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = Arc::<Mutex<String>>::default();
        let (out, err): (ChildStdout, ChildStderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let read = |lines: Box<dyn std::io::Read + Send>| {
            let said = said.clone();
            thread::spawn(move || {
                for line in BufReader::new(lines).lines().map_while(Result::ok) {
                    *said.lock().unwrap() += &(line + "\n");
                }
            })
        };
        read(Box::new(out));
        read(Box::new(err));
        Self { child, said }
    }

    fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    #[track_caller]
    fn wait_for(&self, words: &str) {
        let mut patience = Patience::new();
        while !self.said().contains(words) {
            assert!(!patience.is_over(), "no '{words}' in: {}", self.said());
        }
    }

    /// Sends a signal; the one by which the part ended.
    #[cfg(unix)]
    fn signal(&mut self, name: &str) -> Option<i32> {
        use std::os::unix::process::ExitStatusExt as _;
        assert!(
            Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap().success()
        );
        self.child.wait().unwrap().signal()
    }
}

impl Drop for CommandProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An endpoint and an address that nobody has at the moment.
fn free() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(BINARY).args(arguments).envs(variables.iter().copied()).output().unwrap()
}

fn view(endpoint: &str, more: &[&str], variables: &[(&str, &str)]) -> Output {
    run(&[&["view", "--connect", endpoint, "--frames", "3", "--patience", "20"], more].concat(), variables)
}

/// The answer to a plain request; nothing where nobody listens.
fn ask(address: &str, path: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(address) else { return String::new() };
    let mut answer = String::new();
    let asked = write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let _ = asked.and_then(|()| stream.read_to_string(&mut answer));
    answer
}

#[cfg(unix)]
#[test]
fn a_display_behind_routers_waits_for_workers_counts_and_hears_goodbyes() {
    let (root, leaf, metrics) = (format!("tcp/{}", free()), format!("tcp/{}", free()), free());
    let mut router = CommandProcess::start(&["router", "--listen", &root]);
    // May be there before the one that it connects to.
    let _leaf = CommandProcess::start(&["router", "--listen", &leaf, "--connect", &root]);
    let small = ["--size", "160x90", "--patience", "20", "--metrics", &metrics];
    let mut display = CommandProcess::start(&[&["display", "--connect", &root], &small[..]].concat());
    display.wait_for("waiting for workers of plasma");
    let mut worker = CommandProcess::start(&["worker", "--connect", &leaf, "--patience", "20"]);
    let viewer = CommandProcess::start(&["view", "--connect", &leaf, "--patience", "20"]);
    viewer.wait_for("160x90 jpeg");
    let value = |name: &str| {
        let answer = ask(&metrics, "/metrics");
        let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse::<f64>().ok())
    };
    for name in [
        "pixelferry_frames_total",
        "pixelferry_age_seconds",
        r#"pixelferry_messages_total{role="server",scene="plasma"}"#,
        r#"pixelferry_messages_total{role="display",scene="plasma"}"#,
    ] {
        wait_until(name, || value(name) > Some(0.0));
    }
    assert_eq!(value("pixelferry_workers"), Some(1.0));
    assert_eq!(value(r#"pixelferry_refused_total{role="display",scene="plasma"}"#), Some(0.0));
    assert!(ask(&metrics, "/live").starts_with("HTTP/1.1 200 "));
    assert_eq!(worker.signal("TERM"), Some(15));
    wait_until("the worker's goodbye", || value("pixelferry_workers") == Some(0.0));
    assert_eq!(display.signal("INT"), Some(2));
    assert!(display.said().contains("frames shown"), "{}", display.said());
    viewer.wait_for("no picture of plasma arrived: the scene is not being served; waiting");
    assert_eq!(router.signal("TERM"), Some(15));
}

#[test]
fn names_passwords_and_certificates_are_options_and_secrets_are_no_arguments() {
    let folder = folder("command");
    let (endpoint, papers) = (format!("tls/{}", free()), Papers::issue(&folder, "command"));
    let file = |name: &str, text: &str| {
        fs::write(folder.join(name), text).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    };
    let (users, password) = (file("users", "ada:secret\n"), file("password", "secret\n"));
    let [authority, certificate, key] =
        [&papers.authority, &papers.identity.0, &papers.identity.1].map(|path| path.to_str().unwrap().to_owned());
    let listens = ["--tls-certificate", &certificate, "--tls-key", &key, "--users", &users, "--size", "64x64"];
    let _display = CommandProcess::start(&[&["display", "--listen", &endpoint], &listens[..]].concat());
    let trusts = ["--tls-authority", &authority, "--user", "ada"];
    let by_file = [&trusts[..], &["--password-file", &password]].concat();
    let _worker =
        CommandProcess::start(&[&["worker", "--connect", &endpoint, "--patience", "20"], &by_file[..]].concat());
    for (more, variables) in [(&by_file, &[][..]), (&trusts.to_vec(), &[("PIXELFERRY_PASSWORD", "secret")])] {
        let seen = view(&endpoint, more, variables);
        assert!(seen.status.success(), "{more:?}: {}", String::from_utf8_lossy(&seen.stderr));
    }
    for (more, variables, says) in [
        (&trusts[..], &[][..], "--password-file"),
        (&trusts, &[("PIXELFERRY_PASSWORD", "wrong")], "refused this program"),
        (&trusts[..2], &[], "refused this program"),
    ] {
        let refused = run(&[&["view", "--connect", &endpoint, "--patience", "0"], more].concat(), variables);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(1) && said.contains(says) && !said.contains("wrong"), "{said}");
    }
    // Without its list of names a display would let everybody in.
    let missing = run(&["display", "--listen", "tcp/127.0.0.1:0", "--users", "none-such"], &[]);
    assert!(missing.status.code() == Some(1), "{}", String::from_utf8_lossy(&missing.stderr));
}

#[test]
fn a_page_with_tokens_is_watched_with_one_and_steered_with_the_other() {
    let folder = folder("tokens");
    let (hub, page) = (format!("tcp/{}", free()), free());
    let file = |name: &str| {
        fs::write(folder.join(name), format!("{name}-0123456789\n")).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    };
    let (watch, steer) = (file("watch"), file("steer"));
    let _display = CommandProcess::start(&["display", "--listen", &hub]);
    let tokens = ["--listen", &page, "--watch-token", &watch, "--steer-token", &steer];
    let web = CommandProcess::start(&[&["web", "--connect", &hub, "--patience", "20"], &tokens[..]].concat());
    web.wait_for("open http");
    for (path, status) in [("/", 401), ("/?token=watch-0123456789", 200), ("/?token=steer-0123456789", 200)] {
        let answer = ask(&page, path);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
    }
    assert!(!web.said().contains("0123456789"));
}

#[test]
fn the_log_is_as_wide_as_it_is_asked_for() {
    let endpoint = format!("tcp/{}", free());
    let said = |more: &[&str], variables: &[(&str, &str)]| {
        let ran = run(&[&["probe", "--connect", &endpoint, "--patience", "0"], more].concat(), variables);
        assert_eq!(ran.status.code(), Some(1));
        String::from_utf8(ran.stderr).unwrap()
    };
    // Zenoh's own words come where they are asked for.
    assert_eq!(said(&[], &[]).lines().count(), 1);
    for (more, variables) in
        [(&["--log", "zenoh=debug"][..], &[][..]), (&["-vvv"], &[]), (&[], &[("PIXELFERRY_LOG", "zenoh=debug")])]
    {
        let said = said(more, variables);
        assert!(said.contains("DEBUG") && said.contains("zenoh"), "{more:?}: {said}");
    }
    assert!(said(&["--log", "a=b=c"], &[]).contains("give a level"));
}
