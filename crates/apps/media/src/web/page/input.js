// Mouse, wheel and keys of the canvas, as defined in integrations/net/docs/protocol.md.

// The wheel's pixels for two fingers that move e times as far apart.
const PINCH = 40 / Math.log(1.2);

// Calls `send` with bytes to be sent. A move is sent once in each of the browser's frames, everything else at once.
export function listen(canvas, send) {
  const encoder = new TextEncoder();
  const tell = (event) => send(encoder.encode(JSON.stringify(event)));
  let move = null; // waits for the browser's next frame
  const held = new Map(); // keys that are down: code to key

  const flush = () => {
    if (move) tell(move);
    move = null;
  };
  const pointer = (event) => ({ event: "pointer", ...place(canvas, event), buttons: event.buttons });
  const fingers = new Map(); // positions of the fingers that are down, by pointer
  const now = (event) => {
    move = null;
    tell(pointer(event));
  };

  // Two fingers act as a wheel between them. Returns true for their events, which then have no other effect.
  const pinches = (event) => {
    if (event.pointerType !== "touch") return false;
    const before = [...fingers.values()];
    if (event.type === "pointerdown" || fingers.has(event.pointerId)) fingers.set(event.pointerId, event);
    if (["pointerup", "pointercancel"].includes(event.type)) fingers.delete(event.pointerId);
    if (before.length < 2 && fingers.size < 2) return false;
    const after = [...fingers.values()];
    if (before.length === 1 && after.length === 2) {
      // The first finger stops dragging.
      move = null;
      tell({ ...pointer(before[0]), buttons: 0 });
    } else if (before.length === 2 && after.length === 2) {
      const apart = ([one, two]) => Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY) || 1;
      const [one, two] = after;
      const between = { clientX: (one.clientX + two.clientX) / 2, clientY: (one.clientY + two.clientY) / 2 };
      tell({ event: "wheel", ...place(canvas, between), dx: 0, dy: -PINCH * Math.log(apart(after) / apart(before)) });
    }
    return true;
  };

  canvas.addEventListener("pointermove", (event) => {
    if (pinches(event)) return;
    if (!move) requestAnimationFrame(flush);
    move = pointer(event);
  });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
    if (!pinches(event)) now(event);
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => {
      if (!pinches(event)) now(event);
    });
  }
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    flush();
    tell({ event: "wheel", ...place(canvas, event), dx: event.deltaX, dy: event.deltaY });
  }, { passive: false });

  const key = (event, down) => {
    // Tab leaves the canvas; combinations with these keys belong to the browser.
    if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (down) held.set(event.code, event.key);
    else held.delete(event.code);
    tell({ event: "key", code: event.code, key: event.key, down });
  };
  canvas.addEventListener("keydown", (event) => key(event, true));
  canvas.addEventListener("keyup", (event) => key(event, false));
  // Without the focus no key counts as held.
  canvas.addEventListener("blur", () => {
    for (const [code, name] of held) tell({ event: "key", code, key: name, down: false });
    held.clear();
  });
}

// Returns the position of an event in the picture, from the upper left corner. The picture is centred in the canvas' box.
function place(canvas, event) {
  const box = canvas.getBoundingClientRect();
  const scale = Math.min(box.width / canvas.width, box.height / canvas.height) || 1;
  const left = box.left + (box.width - scale * canvas.width) / 2;
  const top = box.top + (box.height - scale * canvas.height) / 2;
  return { x: (event.clientX - left) / scale, y: (event.clientY - top) / scale };
}
