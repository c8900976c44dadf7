//! Age of pictures in a browser, from `PageServer::put` to the pixel in the page's canvas, beside a bare page that draws the same bytes from
//! a bare WebSocket by `putImageData`. Takes the path of Chromium's headless shell.

use pixelferry_look::{Number, Request};
use pixelferry_view::{Array, LiveArrays, PageServer};
use std::error::Error;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::{self, sleep};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tungstenite::{Message, WebSocket};

type AgeError = Box<dyn Error + Send + Sync>;

const SIZE: [usize; 2] = [640, 480];
const FRAMES: usize = 400;
const PERIOD: Duration = Duration::from_millis(33);
/// Bytes of a header, which the bare page skips, too.
const HEADER: usize = 128;

/// The bare page. Both pages note the pixel in the middle, and when it was there.
const BARE: &str = "<canvas id=picture width=640 height=480></canvas><script>
const c = document.getElementById('picture'), to = c.getContext('2d', { alpha: false });
const socket = new WebSocket(`ws://${location.host}/bare`);
socket.binaryType = 'arraybuffer';
socket.onmessage = ({ data }) => {
  to.putImageData(new ImageData(new Uint8ClampedArray(data, 128), 640, 480), 0, 0);
  c.dispatchEvent(new CustomEvent('picture'));
};</script>";
const NOTE: &str = "window.seen = []; { const c = document.getElementById('picture'), to = c.getContext('2d');
c.addEventListener('picture', () => { const level = to.getImageData(320, 240, 1, 1).data[0];
seen.push([level, performance.timeOrigin + performance.now()]); }); } 1";

/// Milliseconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1e3)
}

/// Level of a frame, unlike those of many before and after.
fn level(frame: usize) -> u8 {
    20 + (frame % 200) as u8
}

fn array(level: u8) -> Result<Array, pixelferry_view::ReadError> {
    let number = Number { code: 1, bits: 8, foreign: false };
    Array::new("flow", &vec![level; SIZE[0] * SIZE[1]], vec![SIZE[1] as i64, SIZE[0] as i64], number)
}

/// A browser with a page, controlled through the protocol of its developer tools.
struct Browser {
    child: Child,
    tools: WebSocket<TcpStream>,
}

impl Browser {
    fn open(program: &str, url: &str) -> Result<Self, AgeError> {
        let options = ["--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", url];
        let mut child = Command::new(program).args(options).stderr(Stdio::piped()).spawn()?;
        let said = BufReader::new(child.stderr.take().ok_or("no output")?).lines().map_while(Result::ok);
        let mut said = said.skip_while(|line| !line.contains("listening on ws://"));
        let line = said.next().ok_or("the browser has no tools")?;
        thread::spawn(move || said.for_each(drop));
        let address = line.split("ws://").nth(1).and_then(|rest| rest.split('/').next()).ok_or("no address")?;
        let mut tools = None;
        for _ in 0..50 {
            let mut stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(Duration::from_millis(300)))?;
            write!(stream, "GET /json/list HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let answer = String::from_utf8_lossy(&answer);
            let body = answer.split_once("\r\n\r\n").map_or("[]", |(_, body)| body);
            let pages: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
            let mut pages = pages.as_array().into_iter().flatten();
            let page = pages.find(|page| page["url"].as_str().is_some_and(|of| of.starts_with("http")));
            tools = page.and_then(|page| page["webSocketDebuggerUrl"].as_str()).map(str::to_owned);
            if tools.is_some() {
                break;
            }
        }
        let tools = tools.ok_or("the browser has no page")?;
        let (tools, _) = tungstenite::client::client(tools, TcpStream::connect(address)?)?;
        Ok(Self { child, tools })
    }

    fn evaluate(&mut self, text: &str) -> Result<serde_json::Value, AgeError> {
        let parameters = serde_json::json!({ "expression": text, "returnByValue": true });
        let asked = serde_json::json!({ "id": 1, "method": "Runtime.evaluate", "params": parameters });
        self.tools.send(Message::text(asked.to_string()))?;
        loop {
            if let Message::Text(answer) = self.tools.read()? {
                let answer: serde_json::Value = serde_json::from_str(&answer)?;
                if answer["id"] == 1 {
                    return Ok(answer["result"]["result"]["value"].clone());
                }
            }
        }
    }

    /// Shows frames, and prints how old they were when they were seen first.
    fn measure(&mut self, what: &str, mut show: impl FnMut(u8) -> Result<(), AgeError>) -> Result<(), AgeError> {
        sleep(Duration::from_secs(1));
        self.evaluate(NOTE)?;
        let mut shown = Vec::new();
        for frame in 0..FRAMES {
            shown.push(now());
            show(level(frame))?;
            sleep(PERIOD);
        }
        sleep(Duration::from_secs(1));
        let seen = self.evaluate("seen")?;
        let (mut ages, mut last) = (Vec::new(), None);
        for seen in seen.as_array().into_iter().flatten() {
            let (of, at) = (seen[0].as_f64().unwrap_or(0.0), seen[1].as_f64().unwrap_or(0.0));
            let frame = (0..FRAMES).rev().find(|frame| f64::from(level(*frame)) == of && shown[*frame] <= at);
            if let Some(frame) = frame.filter(|frame| last < Some(*frame)) {
                last = Some(frame);
                ages.push(at - shown[frame]);
            }
        }
        ages.sort_by(f64::total_cmp);
        let part = |part: f64| ages.get((ages.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN);
        let (p50, p99) = (part(0.5), part(0.99));
        println!("{what}: {} of {FRAMES} frames seen; age p50 {p50:.1} ms, p99 {p99:.1} ms", ages.len());
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn served(program: &str) -> Result<(), AgeError> {
    let serve = Arc::new(PageServer::open(([127, 0, 0, 1], 0).into())?);
    let shows = thread::spawn({
        let serve = Arc::clone(&serve);
        move || {
            let first = array(0).map_err(|error| error.to_string())?;
            serve.run(vec![first], Request::default(), LiveArrays::default(), || ()).map_err(|error| error.to_string())
        }
    });
    let mut browser = Browser::open(program, &serve.url())?;
    let measured = browser.measure("view --serve", |level| {
        serve.put("flow", None, move || array(level));
        Ok(())
    });
    serve.stop();
    shows.join().map_err(|_| "the page's thread died")??;
    measured
}

fn bare(program: &str) -> Result<(), AgeError> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/", listener.local_addr()?);
    let opens = thread::spawn({
        let (program, url) = (program.to_owned(), url);
        move || Browser::open(&program, &url)
    });
    let mut socket = loop {
        let (mut stream, _) = listener.accept()?;
        let mut first = [0; 9];
        let count = stream.peek(&mut first)?;
        if first[..count].starts_with(b"GET /bare") {
            stream.set_nodelay(true)?;
            break tungstenite::accept(stream).map_err(|error| error.to_string())?;
        }
        let length = BARE.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{BARE}"
        )?;
        let _ = stream.read(&mut [0; 4096]);
    };
    let mut browser = opens.join().map_err(|_| "the browser's thread died")??;
    let mut bytes = vec![255; HEADER + 4 * SIZE[0] * SIZE[1]];
    browser.measure("a bare page", |level| {
        bytes[HEADER..].chunks_exact_mut(4).for_each(|pixel| pixel[..3].fill(level));
        Ok(socket.send(Message::binary(bytes.clone()))?)
    })
}

fn main() -> Result<(), AgeError> {
    let program = std::env::args().nth(1).ok_or("give the path of Chromium's headless shell")?;
    for _ in 0..2 {
        served(&program)?;
        bare(&program)?;
    }
    Ok(())
}
