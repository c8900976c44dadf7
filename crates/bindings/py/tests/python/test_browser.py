"""The page of serve() in Chromium, behind a web server that puts it below a path, as notebooks' proxies do."""

import json
import queue
import socket
import socketserver
import subprocess
import threading
import urllib.parse

import numpy as np

import pixelferry
from test_notebook import chromium
from test_serve import levels  # noqa: F401

PREFIX = b"/proxy/9013"

# What a user does, and what the page sends then.
SCRIPT = b"""
const said = { sent: [] };
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (data) {
  if (typeof data !== "string") said.sent.push(new TextDecoder().decode(data));
  return send.call(this, data);
};
const until = async (is) => { while (!is()) await new Promise((done) => setTimeout(done, 20)); };
addEventListener("load", async () => {
  await until(() => document.body.dataset.state === "live" && document.getElementById("size").value);
  said.size = document.getElementById("size").value;
  said.focus = document.activeElement.id;
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { code: "KeyR", key: "r", bubbles: true }));
  const canvas = document.getElementById("picture");
  const { left, top } = canvas.getBoundingClientRect();
  const finger = (kind, pointerId, x, y) => canvas.dispatchEvent(
    new PointerEvent(kind, { pointerId, pointerType: "touch", clientX: left + x, clientY: top + y, buttons: kind === "pointerup" ? 0 : 1 }));
  finger("pointerdown", 1, 100, 100);
  finger("pointerdown", 2, 140, 100);
  finger("pointermove", 2, 180, 100);
  finger("pointermove", 1, 60, 100);
  finger("pointerup", 2, 180, 100);
  finger("pointerup", 1, 60, 100);
  await fetch("said", { method: "POST", body: JSON.stringify(said) });
});
"""


class Proxy(socketserver.BaseRequestHandler):
    """Takes the prefix away, and has the script in the page. One request for each connection."""

    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            more = self.request.recv(65536)
            if not more:
                return
            head += more
        head, _, rest = head.partition(b"\r\n\r\n")
        method, path = head.split(b" ")[:2]
        path = path.removeprefix(PREFIX) if path.startswith(PREFIX + b"/") else b"/outside"
        if path in (b"/script.js", b"/said"):
            length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
            while len(rest) < length:
                rest += self.request.recv(65536)
            if path == b"/said":
                self.server.said.put(json.loads(rest))
            body = SCRIPT if path == b"/script.js" else b""
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                                 % (len(body), body))
            return
        lines = head.split(b"\r\n")
        lines[0] = method + b" " + path + b" HTTP/1.1"
        upgrades = any(line.lower().startswith(b"upgrade:") for line in lines)
        if not upgrades:
            lines = [line for line in lines if not line.lower().startswith((b"connection:", b"accept-encoding:"))] + [b"Connection: close"]
        with socket.create_connection(self.server.upstream) as there:
            there.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + rest)
            if upgrades:
                threading.Thread(target=self.pipe, args=(self.request, there), daemon=True).start()
                self.pipe(there, self.request)
                return
            answer = b""
            while more := there.recv(65536):
                answer += more
        if path.split(b"?")[0] == b"/":
            head, _, body = answer.partition(b"\r\n\r\n")
            body = body.replace(b"<script", b'<script src="script.js"></script><script', 1)
            lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
            answer = b"\r\n".join(lines + [b"Content-Length: %d" % len(body)]) + b"\r\n\r\n" + body
        self.request.sendall(answer)

    @staticmethod
    def pipe(come, go):
        try:
            while more := come.recv(65536):
                go.sendall(more)
        except OSError:
            pass


def test_the_page_connects_behind_a_path_hears_keys_at_once_and_zooms_by_fingers(levels, tmp_path):  # noqa: F811
    program = chromium()
    with pixelferry.serve(np.ones((3, 4), "u1")) as server:
        url = urllib.parse.urlsplit(server.url)
        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as proxy:
            proxy.daemon_threads, proxy.upstream, proxy.said = True, (url.hostname, url.port), queue.Queue()
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{proxy.server_address[1]}{PREFIX.decode()}/?{url.query}"
            browser = subprocess.Popen(
                [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--remote-debugging-port=0",
                 f"--user-data-dir={tmp_path}/profile", address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                said = proxy.said.get(timeout=300)
            finally:
                browser.kill()
                browser.wait()
                proxy.shutdown()
    assert said["size"].endswith(" raw") and said["focus"] == "picture", said
    sent = [json.loads(text) for text in said["sent"]]
    assert sent[0] == {"event": "key", "code": "KeyR", "key": "r", "down": True}, sent
    wheels = [event for event in sent if event["event"] == "wheel"]
    # Twice as far apart, and half as much again: the steps of a wheel, each of which zooms by 1.2.
    assert len(wheels) == 2 and abs(-wheels[0]["dy"] / 40 - np.log(2) / np.log(1.2)) < 1e-6, sent
    assert wheels[1]["dy"] < 0 and abs(-wheels[1]["dy"] / 40 - np.log(1.5) / np.log(1.2)) < 1e-6, sent
    pointers = [event["buttons"] for event in sent if event["event"] == "pointer"]
    assert pointers[:2] == [1, 0] and pointers.count(1) == 1, sent
