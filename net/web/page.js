// The page: pictures of a scene into its canvas, and what is known about them.

import { decode, readHeader } from "./picture.js";
import { listen } from "./input.js";

const RETRY_MS = 1000;
const TELL_MS = 500;

const canvas = document.getElementById("picture");
const context = canvas.getContext("2d", { alpha: false });
const [state, size, rate, age, bytes] = ["state", "size", "rate", "age", "bytes"].map((id) => document.getElementById(id));

let socket = null;
let scene = "the scene";
let served = false;
let problem = ""; // why pictures that come are not shown
let newest = null; // the message that is decoded next
let waiting = 0; // pictures that came after the one that is decoded
let done = 0; // pictures that were shown or passed over, of which the gateway was not told yet
let isDecoding = false;
let last = null; // header of the picture on show
let counted = { since: performance.now(), shown: 0, bytes: 0, ages: 0 };

// Microseconds since 1970.
const now = () => 1000 * (performance.timeOrigin + performance.now());

function connect() {
  const secure = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${secure}://${location.host}/pictures`);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => (typeof data === "string" ? status(JSON.parse(data)) : picture(data));
  socket.onopen = tell;
  socket.onclose = () => {
    [socket, served, newest, waiting, done] = [null, false, null, 0, 0];
    tell();
    setTimeout(connect, RETRY_MS);
  };
}

function status(told) {
  ({ scene, served } = told);
  document.title = `${scene} - pixelferry`;
  tell();
}

function picture(message) {
  newest = message;
  waiting += 1;
  counted.bytes += message.byteLength;
  if (!isDecoding) show();
}

// Shows the newest picture until there is no newer one. The gateway hears that a picture was taken once it is on show, so that
// it sends no more than the page can show.
async function show() {
  isDecoding = true;
  while (newest) {
    const [message, came, from] = [newest, waiting, socket];
    [newest, waiting] = [null, 0];
    try {
      const header = readHeader(message);
      const decoded = await decode(header, message);
      problem = "";
      draw(header, decoded);
    } catch (error) {
      problem = error.message;
      tell();
    }
    if (from === socket) done += came;
    taken();
  }
  isDecoding = false;
}

function draw(header, decoded) {
  if (canvas.width !== header.width || canvas.height !== header.height) {
    canvas.width = header.width;
    canvas.height = header.height;
  }
  context.drawImage(decoded, 0, 0);
  decoded.close();
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
    size.value = last ? `${last.width}x${last.height} ${last.codec}` : "";
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
    : ["live", scene];
  document.body.dataset.state = name;
  state.value = words;
}

listen(canvas, (input) => {
  if (socket?.readyState === WebSocket.OPEN) socket.send(input);
});
document.addEventListener("visibilitychange", taken);
setInterval(tell, TELL_MS);
connect();
