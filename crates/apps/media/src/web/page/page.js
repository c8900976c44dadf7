// The page: pictures of a scene into its canvas, and what is known about them.

import { Newest, paint, readHeader } from "./picture.js";
import { listen } from "./input.js";
import { Video, whyNot } from "./video.js";

const RETRY_MS = 1000;
const TELL_MS = 500;
// After this many decoder errors in a row the page stops using video.
const MOST_FAULTS = 3;

const canvas = document.getElementById("picture");
const [state, note, size, rate, age, bytes] =
  ["state", "note", "size", "rate", "age", "bytes"].map((id) => document.getElementById(id));

let socket = null;
let scene = "the scene";
let served = false;
let steering = true; // false if the gateway refuses input
let problem = ""; // why arriving pictures are not shown
let wished = new URLSearchParams(location.search).get("codec"); // overrides the codec that the gateway names
let asked = false; // video was requested, and the browser can decode it
let [own, gateway] = ["", ""]; // why there is no video: the reasons of the browser and of the gateway
let faults = 0;
let done = 0; // pictures shown or skipped since the last report to the gateway
let last = null; // header of the shown picture
let counted = { since: performance.now(), shown: 0, bytes: 0, ages: 0 };

// Microseconds since 1970.
const now = () => 1000 * (performance.timeOrigin + performance.now());

function connect() {
  // Relative to the page: a web server in front of the gateway may serve it at another path.
  const there = new URL(`pictures${location.search}`, location.href);
  there.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(there);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => (typeof data === "string" ? status(JSON.parse(data)) : picture(data));
  socket.onopen = tell;
  socket.onclose = () => {
    [socket, served, asked, gateway] = [null, false, false, ""];
    pictures.clear();
    video.end();
    done = 0;
    tell();
    setTimeout(connect, RETRY_MS);
  };
}

function status(told) {
  ({ scene, served, steering = true, problem: gateway = "" } = told);
  document.title = `${scene} - pixelferry`;
  wished ??= told.codec ?? "served";
  if (wished === "h264" && !asked && !own && !document.hidden) ask();
  tell();
}

// Requests video, at first or for another keyframe. The gateway sends other pictures until there is one.
async function ask() {
  const to = socket;
  asked = true;
  own = await whyNot();
  if (to !== socket || to?.readyState !== WebSocket.OPEN) return;
  if (own) asked = false;
  else to.send(JSON.stringify({ codec: "h264" }));
  tell();
}

const video = new Video({
  shown: (header, frame) => {
    [faults, problem] = [0, ""];
    draw(header, frame);
    done += 1;
    taken();
  },
  passed: () => {
    done += 1;
    taken();
  },
  failed: (error) => {
    faults += 1;
    if (faults < MOST_FAULTS) {
      if (asked) ask();
      return;
    }
    [own, asked] = [`the decoder reports: ${error.message}`, false];
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ codec: "served" }));
    tell();
  },
});

function picture(message) {
  counted.bytes += message.byteLength;
  try {
    const header = readHeader(message);
    if (header.codec === "h264") {
      video.decode(header, message);
      return;
    }
  } catch (error) {
    // The error is reported when it is this message's turn.
  }
  pictures.give(message, socket);
}

// The gateway is told about a picture after it is shown, so that it sends no more than the page can show.
const pictures = new Newest({
  drawn: (header, decoded) => {
    problem = "";
    draw(header, decoded);
  },
  failed: (error) => {
    problem = error.message;
    tell();
  },
  taken: (count, from) => {
    if (from === socket) done += count;
    taken();
  },
});

function draw(header, decoded) {
  // Video and other pictures may overtake each other.
  if (last?.epoch === header.epoch && last.frame > header.frame) {
    decoded.close();
    return;
  }
  paint(canvas, header, decoded);
  header.age = Math.max(0, now() - header.time) / 1000;
  last = header;
  canvas.dataset.frame = header.frame;
  counted.shown += 1;
  counted.ages += header.age;
  canvas.dispatchEvent(new CustomEvent("picture", { detail: header }));
  if (document.body.dataset.state !== "live") tell();
}

// A hidden page receives no more pictures.
function taken() {
  if (document.hidden || !done || socket?.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify({ taken: done }));
  done = 0;
}

// Updates the texts below the picture.
function tell() {
  const since = performance.now();
  const seconds = (since - counted.since) / 1000;
  if (seconds * 1000 >= TELL_MS) {
    size.value = last ? `${last.width}x${last.height} ${last.codec === "none" ? "raw" : last.codec}` : "";
    rate.value = `${(counted.shown / seconds).toFixed(1)} pictures/s`;
    age.value = counted.shown ? `${(counted.ages / counted.shown).toFixed(0)} ms old` : last ? "still" : "";
    bytes.value = `${(counted.bytes / seconds / 1e6).toFixed(2)} MB/s`;
    counted = { since, shown: 0, bytes: 0, ages: 0 };
  }
  const [name, words] =
    socket?.readyState !== WebSocket.OPEN ? ["gone", "no connection to the server; trying again"]
    : !served ? ["waiting", `waiting: ${scene} is not being served`]
    : problem ? ["problem", problem]
    : !last ? ["waiting", `waiting for the first picture of ${scene}`]
    : ["live", steering ? scene : `${scene} (watching only)`];
  document.body.dataset.state = name;
  note.value = own || gateway ? `no H.264: ${own || gateway}` : "";
  state.value = words;
}

listen(canvas, (input) => {
  if (steering && socket?.readyState === WebSocket.OPEN) socket.send(input);
});
// A hidden page needs no encoder, and a page that was left keeps no connection.
document.addEventListener("visibilitychange", () => {
  if (document.hidden && asked && socket?.readyState === WebSocket.OPEN) {
    asked = false;
    socket.send(JSON.stringify({ codec: "served" }));
  } else if (!document.hidden && socket?.readyState === WebSocket.OPEN && wished === "h264" && !own) {
    ask();
  }
  taken();
});
addEventListener("pagehide", () => socket?.close());
setInterval(tell, TELL_MS);
// Keys work at once. If the page is embedded, they go to the page around it until the picture is clicked.
if (window === window.top) canvas.focus({ preventScroll: true });
connect();
