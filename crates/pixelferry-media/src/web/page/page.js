// The page: pictures of a scene into its canvas, and what is known about them.

import { Newest, paint, readHeader } from "./picture.js";
import { listen } from "./input.js";
import { Video, whyNot } from "./video.js";

const RETRY_MS = 1000;
const TELL_MS = 500;
// Faults of the decoder in a row after which the page does without video.
const MOST_FAULTS = 3;

const canvas = document.getElementById("picture");
const [state, note, size, rate, age, bytes] =
  ["state", "note", "size", "rate", "age", "bytes"].map((id) => document.getElementById(id));

let socket = null;
let scene = "the scene";
let served = false;
let steering = true; // false where the gateway refuses input
let problem = ""; // why pictures that come are not shown
let wished = new URLSearchParams(location.search).get("codec"); // else what the gateway says
let asked = false; // for video, and the browser decodes it
let [own, gateway] = ["", ""]; // why there is no video: what the browser lacks, what the gateway says
let faults = 0;
let done = 0; // pictures that were shown or passed over, of which the gateway was not told yet
let last = null; // header of the picture on show
let counted = { since: performance.now(), shown: 0, bytes: 0, ages: 0 };

// Microseconds since 1970.
const now = () => 1000 * (performance.timeOrigin + performance.now());

function connect() {
  // Beside the page: a web server in front of it may have put it below another path.
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

// Asks for video, once or for another keyframe. The gateway sends other pictures until there is one.
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
    [own, asked] = [`its decoder says: ${error.message}`, false];
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
    // Told when it is its turn.
  }
  pictures.give(message, socket);
}

// The gateway hears that a picture was taken once it is on show, so that it sends no more than the page can show.
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

// A page that nobody sees takes no more pictures.
function taken() {
  if (document.hidden || !done || socket?.readyState !== WebSocket.OPEN) return;
  socket.send(JSON.stringify({ taken: done }));
  done = 0;
}

// Writes what is known.
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
    socket?.readyState !== WebSocket.OPEN ? ["gone", "no gateway; trying again"]
    : !served ? ["waiting", `waiting: nobody serves ${scene}`]
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
// A page that nobody sees needs no encoder, and one that was left keeps no connection.
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
// Keys work at once. In a frame they stay with the page around it until the picture is clicked.
if (window === window.top) canvas.focus({ preventScroll: true });
connect();
