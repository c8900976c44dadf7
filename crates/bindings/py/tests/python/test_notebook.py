"""The widget of notebooks: the kernel's side as a notebook's front end finds it, and the browser's side in Chromium."""

import base64
import os
import queue
import shutil
import subprocess
import sys
import urllib.parse

import numpy as np
import pytest

import pixelferry
from conftest import missing
from patience import wait_for
from test_serve import HEADER, levels  # noqa: F401 (a fixture)

JPEG = 2
VIEW = "application/vnd.jupyter.widget-view+json"
CELLS = [
    """
import numpy as np, pixelferry
server = pixelferry.serve(np.full((4, 4), 60, "u1"))
widget = server.widget()
widget""",
    "server.show(np.full((4, 4), 200, 'u1'))",
    "print([(event.type, event.x, event.button, event.key, event.pwidth) for event in widget.events(5)])",
    "server.close()",
]


def test_without_anywidget_the_error_says_what_to_install(levels, monkeypatch):  # noqa: F811
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "pixelferry.notebook", raising=False)
    with pixelferry.serve(levels) as server, pytest.raises(ImportError, match="pip install anywidget"):
        server.widget()


def test_a_notebook_shows_pictures_as_they_are_taken_and_hears_its_user(levels):  # noqa: F811
    try:
        import anywidget  # noqa: F401
        import ipykernel  # noqa: F401
        import nbclient
        import nbformat.v4
    except ImportError as why:
        missing("notebook", why)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3")
    with client.setup_kernel():
        cells = iter(enumerate(notebook.cells))
        run = lambda: client.execute_cell(*reversed(next(cells))).outputs  # noqa: E731
        model = run()[0]["data"][VIEW]["model_id"]
        front = client.km.blocking_client()
        front.start_channels()
        front.wait_for_ready(timeout=300)

        def say(told, *buffers):
            content = {"comm_id": model, "data": {"method": "custom", "content": told}}
            front.session.send(front.shell_channel.socket, front.session.msg("comm_msg", content), buffers=list(buffers))

        def heard(seconds):
            """What the widget says next in so many seconds."""
            try:
                while True:
                    message = front.get_iopub_msg(timeout=seconds)
                    content = message["content"]
                    if message["msg_type"] == "comm_msg" and content["comm_id"] == model and "content" in content["data"]:
                        return content["data"]["content"], [bytes(buffer) for buffer in message["buffers"]]
            except queue.Empty:
                return None

        say({"watch": True})
        told, (picture,) = heard(300)
        assert told == {"picture": True} and picture[:4] == b"PXFY" and picture[7] == JPEG and picture[HEADER:][:2] == b"\xff\xd8"
        # It was not taken: nothing comes, whatever is shown. Then the newest comes.
        run()
        assert heard(1) is None
        say({"taken": 1})
        _, (newer,) = heard(300)
        assert newer[HEADER:] != picture[HEADER:]
        for event in ['{"event":"pointer","x":12.5,"y":3,"buttons":1}', '{"event":"key","code":"KeyR","key":"r","down":true}', "{}"]:
            say({"input": True}, event.encode())
        say({"event": {"event_type": "resize", "width": 320, "height": 240, "pixel_ratio": 2}})
        # The kernel has heard all of it.
        front.kernel_info(reply=True, timeout=300)
        assert run()[0]["text"] == (
            "[('pointer_down', 12.5, 1, None, None), ('key_down', None, None, 'r', None), ('char', None, None, None, None), ('resize', None, None, None, 640)]\n")
        run()
        assert wait_for(lambda: (heard(1) or ({},))[0] == {"ended": True})
        front.stop_channels()


# What stands in for the notebook: its `model`, whose messages end as text of the page.
PAGE = """<!doctype html><div id=cell></div><pre id=said></pre><script type=module>
import widget from "data:text/javascript;base64,ESM";
const said = [], cell = document.getElementById("cell");
let come = null;
const model = {
  on: (name, call) => { come = call; }, off: () => said.push("off"),
  send: (told, _, buffers) => said.push(buffers ? new TextDecoder().decode(buffers[0]) : told.event?.event_type ?? JSON.stringify(told)),
};
const gone = widget.render({ model, el: cell });
const message = Uint8Array.from(atob("PICTURE"), (letter) => letter.charCodeAt(0));
// As notebooks do, a view of more than the message.
const more = new Uint8Array(message.length + 24);
more.set(message, 8);
for (const _ of [1, 2, 3]) come({ picture: true }, [new DataView(more.buffer, 8, message.length)]);
const canvas = cell.querySelector("canvas");
const taken = () => said.filter((text) => text.includes("taken")).map((text) => JSON.parse(text).taken);
while (taken().reduce((sum, count) => sum + count, 0) < 3) await new Promise((done) => setTimeout(done, 10));
canvas.dispatchEvent(new PointerEvent("pointerenter"));
const { left, top } = canvas.getBoundingClientRect();
canvas.dispatchEvent(new PointerEvent("pointerdown", { clientX: left + 40, clientY: top + 30, buttons: 1 }));
canvas.dispatchEvent(new KeyboardEvent("keydown", { code: "KeyR", key: "r" }));
const pixel = (x, y) => canvas.getContext("2d").getImageData(x, y, 1, 1).data[0];
said.push(`${canvas.width}x${canvas.height}`, pixel(40, 40), pixel(600, 400));
gone();
document.getElementById("said").textContent = said.filter((text) => text !== "resize").join("\\n");
</script>"""


def chromium():
    names = [os.environ.get("PIXELFERRY_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    found = next((path for path in map(shutil.which, filter(None, names)) if path), None)
    return found or missing("chromium", "no chromium, chromium-browser or google-chrome, and no PIXELFERRY_CHROMIUM")


def test_a_browser_draws_the_pictures_and_sends_what_its_user_does(levels, tmp_path):  # noqa: F811
    program = chromium()
    with pixelferry.serve(np.where(levels > 0.5, 1, 0).astype("f4")) as server:
        watcher = server._watcher()
        watcher.watch(True)
        picture = watcher.next(300)
        assert server.encoder.startswith("the host") or "nvjpeg" in server.encoder
    text = lambda data: base64.b64encode(data).decode()  # noqa: E731
    page = tmp_path / "page.html"
    page.write_text(PAGE.replace("ESM", text(pixelferry._pixelferry._WIDGET.encode())).replace("PICTURE", text(picture)))
    dumped = subprocess.run(
        [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", f"--user-data-dir={tmp_path}/profile",
         "--virtual-time-budget=60000", "--dump-dom", "file://" + urllib.parse.quote(str(page))],
        capture_output=True, text=True, timeout=300)
    said = dumped.stdout.partition('<pre id="said">')[2].partition("</pre>")[0].splitlines()
    assert said[0] == '{"watch":true}', dumped
    # The picture between the first and the last was passed over.
    assert said[1:3] == ['{"taken":1}', '{"taken":2}'], said
    rest = said[3:]
    assert rest[0] == "pointer_enter" and rest[1].startswith('{"event":"pointer","x":40,"y":30,"buttons":1'), said
    assert rest[2] == '{"event":"key","code":"KeyR","key":"r","down":true}' and rest[3] == "640x480", said
    # A tolerance for JPEG.
    assert int(rest[4]) <= 3 and int(rest[5]) >= 252 and rest[6:] == ["off", '{"watch":false}'], said
