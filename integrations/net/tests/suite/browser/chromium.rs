//! A headless Chromium, driven by the DevTools protocol over loopback.

use pixelferry_testing::CHROMIUM_FLAGS;
use serde_json::{Value, json};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

/// What these pages need beside [`CHROMIUM_FLAGS`].
const FLAGS: [&str; 3] = ["--disable-gpu", "--window-size=900,640", "--remote-debugging-port=0"];
/// Time that a loaded machine may take to start it.
const START: Duration = Duration::from_secs(120);

pub type Result<T> = std::result::Result<T, String>;

/// Ended when it goes, and its profile with it.
pub struct Chromium {
    child: Child,
    profile: PathBuf,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    calls: u64,
}

impl Chromium {
    /// Starts it with an empty page, and these flags more.
    pub fn start(program: &str, flags: &[&str]) -> Result<Self> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chromium-{}-{number}", std::process::id()));
        let folder = format!("--user-data-dir={}", profile.display());
        let mut command = Command::new(program);
        command
            .args(CHROMIUM_FLAGS)
            .args(FLAGS)
            .args(flags)
            .arg(folder)
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().map_err(|error| error.to_string())?;
        let mut starting = StartingBrowser { child: Some(child), profile };
        let socket = starting.connect()?;
        let Some(child) = starting.child.take() else { return Err("it is gone".into()) };
        let profile = std::mem::take(&mut starting.profile);
        let mut chromium = Self { child, profile, socket, session: None, calls: 0 };
        let target = chromium.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = chromium.call("Target.attachToTarget", attach)?;
        chromium.session = attached["sessionId"].as_str().map(String::from);
        Ok(chromium)
    }

    /// One call of the DevTools protocol.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = &self.session {
            call["sessionId"] = json!(session);
        }
        let failed = |error: tungstenite::Error| format!("{method}: {error}");
        self.socket.send(Message::Text(call.to_string().into())).map_err(failed)?;
        loop {
            let Message::Text(text) = self.socket.read().map_err(failed)? else { continue };
            let answer: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            if answer["id"] == json!(self.calls) {
                let error = &answer["error"];
                return if error.is_null() { Ok(answer["result"].clone()) } else { Err(format!("{method}: {error}")) };
            }
        }
    }

    /// Opens an address, and waits until its scripts have run.
    pub fn open(&mut self, address: &str) -> Result<()> {
        self.call("Page.navigate", json!({ "url": address }))?;
        let begun = Instant::now();
        while self.evaluate("document.readyState + location.href")? != json!(format!("complete{address}")) {
            if begun.elapsed() > START {
                return Err(format!("{address} does not open"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The value of a JavaScript expression; a promise's where it is one.
    pub fn evaluate(&mut self, script: &str) -> Result<Value> {
        let params = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", params)?;
        match &answer["exceptionDetails"] {
            Value::Null => Ok(answer["result"]["value"].clone()),
            thrown => Err(format!("{script}: {thrown}")),
        }
    }

    /// `mouseMoved`, `mousePressed` or `mouseReleased` at a place in the window.
    pub fn mouse(&mut self, kind: &str, (x, y): (f64, f64), buttons: u32) -> Result<()> {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let params = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", params).map(drop)
    }

    /// Types a key.
    pub fn key(&mut self, code: &str, key: &str) -> Result<()> {
        for kind in ["rawKeyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "code": code, "key": key }))?;
        }
        Ok(())
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        end(&mut self.child, &self.profile);
    }
}

/// One that has not told yet where it listens.
struct StartingBrowser {
    child: Option<Child>,
    profile: PathBuf,
}

impl StartingBrowser {
    fn connect(&mut self) -> Result<WebSocket<TcpStream>> {
        let begun = Instant::now();
        let file = self.profile.join("DevToolsActivePort");
        loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.trim().split_once('\n') {
                let stream = TcpStream::connect(format!("127.0.0.1:{port}")).map_err(|error| error.to_string())?;
                let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
                let address = format!("ws://127.0.0.1:{port}{path}");
                let opened = tungstenite::client::client_with_config(address, stream, Some(config));
                return opened.map(|(socket, _)| socket).map_err(|error| error.to_string());
            }
            if let Some(Ok(Some(status))) = self.child.as_mut().map(Child::try_wait) {
                return Err(format!("it ended at once: {status}"));
            }
            if begun.elapsed() > START {
                return Err("it does not tell where it listens".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for StartingBrowser {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            end(child, &self.profile);
        }
    }
}

/// Ends the child; all that it started ends with it, and its files can be removed once those are gone.
fn end(child: &mut Child, profile: &Path) {
    // One that ended on its own is not there any more.
    let _ = child.kill();
    let _ = child.wait();
    for _ in 0..100 {
        if !profile.exists() || std::fs::remove_dir_all(profile).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
