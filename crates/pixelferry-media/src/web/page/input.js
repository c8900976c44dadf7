// Mouse, wheel and keys of the canvas, as integrations/net/docs/protocol.md has them.

// Calls `send` with bytes to be sent. A move is sent once for each of the browser's frames, all else at once.
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
  const now = (event) => {
    move = null;
    tell(pointer(event));
  };

  canvas.addEventListener("pointermove", (event) => {
    if (!move) requestAnimationFrame(flush);
    move = pointer(event);
  });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus({ preventScroll: true });
    if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
    now(event);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, now);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    flush();
    tell({ event: "wheel", ...place(canvas, event), dx: event.deltaX, dy: event.deltaY });
  }, { passive: false });

  const key = (event, down) => {
    // Tab leaves the canvas; what is held with these is the browser's.
    if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (down) held.set(event.code, event.key);
    else held.delete(event.code);
    tell({ event: "key", code: event.code, key: event.key, down });
  };
  canvas.addEventListener("keydown", (event) => key(event, true));
  canvas.addEventListener("keyup", (event) => key(event, false));
  // Who looks elsewhere holds nothing here any more.
  canvas.addEventListener("blur", () => {
    for (const [code, name] of held) tell({ event: "key", code, key: name, down: false });
    held.clear();
  });
}

// Where in the picture an event is, from the upper left corner. The picture lies in the middle of the canvas' box.
function place(canvas, event) {
  const box = canvas.getBoundingClientRect();
  const scale = Math.min(box.width / canvas.width, box.height / canvas.height) || 1;
  const left = box.left + (box.width - scale * canvas.width) / 2;
  const top = box.top + (box.height - scale * canvas.height) / 2;
  return { x: (event.clientX - left) / scale, y: (event.clientY - top) / scale };
}
