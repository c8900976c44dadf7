// The notebook widget, by anywidget: pictures arrive as binary messages of the kernel, and inputs go back. This file is appended to
// picture.js and input.js, because notebooks load a single text.

export default {
  render({ model, el }) {
    const canvas = document.createElement("canvas");
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-label", "The arrays; mouse and keyboard control the view");
    canvas.style = "display: block; max-width: 100%; outline: none; touch-action: none";
    const note = document.createElement("output");
    el.append(canvas, note);
    const pictures = new Newest({
      drawn: (header, decoded) => {
        note.value = "";
        paint(canvas, header, decoded);
      },
      failed: (error) => {
        note.value = error.message;
      },
      // The kernel sends no more than is shown.
      taken: (count) => model.send({ taken: count }),
    });
    // Notebooks pass views of a larger buffer.
    const bytes = (given) => given.buffer.slice(given.byteOffset, given.byteOffset + given.byteLength);
    const come = (told, buffers) => {
      if (told.picture) pictures.give(bytes(buffers[0]));
      if (told.ended) note.value = "the page was closed";
    };
    model.on("msg:custom", come);
    listen(canvas, (input) => model.send({ input: true }, undefined, [input]));
    const enter = (is) => () => model.send({ event: { event_type: is ? "pointer_enter" : "pointer_leave" } });
    canvas.addEventListener("pointerenter", enter(true));
    canvas.addEventListener("pointerleave", enter(false));
    const sizes = new ResizeObserver(() => {
      const { width, height } = canvas.getBoundingClientRect();
      model.send({ event: { event_type: "resize", width, height, pixel_ratio: devicePixelRatio } });
    });
    sizes.observe(canvas);
    model.send({ watch: true });
    return () => {
      sizes.disconnect();
      model.off("msg:custom", come);
      model.send({ watch: false });
    };
  },
};
