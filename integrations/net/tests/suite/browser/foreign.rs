//! Pages of other sites in the same browser: they neither see the scene nor send it anything.

use super::{browser, wait_for};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_media::web::WebOptions;
use pixelferry_net::{Net, NetOptions};
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

/// Serves an empty page until the test program ends; its port.
fn foreign_site() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The browser sends its whole request at once; an early connection without one is closed by it.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nempty");
        }
    });
    port
}

#[test]
fn pages_of_other_sites_neither_see_the_scene_nor_send_input() {
    // The browser takes the foreign name for this machine, as after DNS rebinding.
    let Some(mut browser) = browser(&["--host-resolver-rules=MAP evil.example 127.0.0.1"]) else { return };
    let net = Net::join(NetOptions::hub("tcp/127.0.0.1:0")).unwrap();
    let server = net.serve("sea").unwrap();
    let gateway = net.gateway("sea", WebOptions::at(([127, 0, 0, 1], 0).into())).unwrap();
    let (address, port) = (gateway.address(), gateway.address().port());
    let pixels = [7; 4];
    server.publish(ImageDesc::new(1, 1, PixelFormat::Rgba8), 1, None, &pixels).unwrap();
    let connect = |host: &str| {
        format!(
            "new Promise((done) => {{
                const socket = new WebSocket('ws://{host}/pictures');
                socket.onopen = () => socket.send(new Uint8Array([1]));
                socket.onmessage = () => done('seen');
                socket.onclose = () => done('refused');
            }})"
        )
    };
    // Its own page, so that what follows is not refused for another reason.
    browser.open(&format!("http://{address}/")).unwrap();
    wait_for(&mut browser, "document.getElementById('picture').dataset.frame", "1");
    assert_eq!(browser.evaluate(&connect(&address.to_string())).unwrap(), json!("seen"));
    assert_eq!(server.next_input(Duration::from_secs(60)), Some(vec![1]));

    let foreign = foreign_site();
    browser.open(&format!("http://127.0.0.1:{foreign}/")).unwrap();
    for host in [address.to_string(), format!("localhost:{port}")] {
        assert_eq!(browser.evaluate(&connect(&host)).unwrap(), json!("refused"), "{host}");
    }
    let read = format!("fetch('http://{address}/').then((answer) => answer.text()).catch(() => 'refused')");
    assert_eq!(browser.evaluate(&read).unwrap(), json!("refused"));
    browser.open(&format!("http://evil.example:{port}/")).unwrap();
    let text = browser.evaluate("document.body.innerText").unwrap();
    assert!(text.as_str().unwrap().contains("does not answer to the name 'evil.example'"), "{text}");
    assert_eq!(browser.evaluate(&connect(&format!("evil.example:{port}"))).unwrap(), json!("refused"));
    assert_eq!(server.next_input(Duration::from_millis(200)), None, "no input came of other sites");
}
