// Messages with pictures, as defined in integrations/net/docs/protocol.md.

export const HEADER_BYTES = 128;
const MAGIC = 0x59465850; // "PXFY"
const VERSION = 1;
const PICTURE = 2;
const CODECS = ["none", "lz4", "jpeg", "h264"];
const FORMATS = [
  "R8", "RG8", "RGBA8", "R32F", "RGBA16F", "RGBA32F", "R16", "R16F", "BGRA8", "RGB10A2", "RG16F", "RG32F",
];
const ENCODINGS = ["unmanaged", "sRGB", "linear", "gamma 2.2"];

// Returns a message's header; throws an error if it is invalid.
export function readHeader(message) {
  if (message.byteLength < HEADER_BYTES) {
    throw new Error(`${message.byteLength} bytes are too few for a message`);
  }
  const view = new DataView(message);
  if (view.getUint32(0, true) !== MAGIC || view.getUint8(6) !== PICTURE) {
    throw new Error("the message is not a picture");
  }
  if (view.getUint16(4, true) !== VERSION) {
    throw new Error(`protocol version ${view.getUint16(4, true)} is not supported; this page uses ${VERSION}`);
  }
  const header = {
    codec: CODECS[view.getUint8(7)] ?? `codec ${view.getUint8(7)}`,
    epoch: view.getBigUint64(8, true),
    frame: Number(view.getBigUint64(16, true)),
    time: Number(view.getBigUint64(24, true)),
    width: view.getUint32(40, true),
    height: view.getUint32(44, true),
    format: FORMATS[view.getUint8(64)] ?? `format ${view.getUint8(64)}`,
    encoding: ENCODINGS[view.getUint8(65)] ?? `encoding ${view.getUint8(65)}`,
    isBottomUp: view.getUint8(66) === 1,
    bytes: message.byteLength,
  };
  if (Number(view.getBigUint64(72, true)) !== message.byteLength - HEADER_BYTES) {
    throw new Error("the length of the message does not match its header");
  }
  if (header.encoding === "linear" || header.encoding === "gamma 2.2") {
    throw new Error(`cannot show ${header.encoding} pictures; serve sRGB`);
  }
  return header;
}

// Returns the picture as an ImageBitmap, decoded outside the page's own thread; throws an error if the page cannot show it.
export async function decode(header, message) {
  const options = { premultiplyAlpha: "none", colorSpaceConversion: "none" };
  if (header.isBottomUp) options.imageOrientation = "flipY";
  if (header.codec === "jpeg") {
    const picture = await createImageBitmap(new Blob([new Uint8Array(message, HEADER_BYTES)], { type: "image/jpeg" }), options);
    if (picture.width !== header.width || picture.height !== header.height) {
      throw new Error(`the JPEG has ${picture.width}x${picture.height} pixels instead of ${header.width}x${header.height}`);
    }
    return picture;
  }
  if (header.codec !== "none") {
    throw new Error(`cannot show the codec ${header.codec}; serve jpeg or none`);
  }
  const pixels = new Uint8ClampedArray(message, HEADER_BYTES);
  return createImageBitmap(new ImageData(opaque(header, pixels), header.width, header.height), options);
}

// Converts raw pixels to RGBA8 without transparency.
function opaque(header, pixels) {
  if (header.format === "RGBA8" || header.format === "BGRA8") {
    const [red, blue] = header.format === "RGBA8" ? [0, 2] : [2, 0];
    for (let at = 0; at < pixels.length; at += 4) {
      [pixels[at], pixels[at + 2], pixels[at + 3]] = [pixels[at + red], pixels[at + blue], 255];
    }
    return pixels;
  }
  if (header.format === "R8") {
    const grey = new Uint8ClampedArray(4 * pixels.length).fill(255);
    pixels.forEach((value, at) => grey.fill(value, 4 * at, 4 * at + 3));
    return grey;
  }
  throw new Error(`cannot show raw ${header.format}; serve RGBA8, BGRA8 or R8`);
}

// Shows the newest of the arriving messages, one at a time; older ones that arrive in the meantime are skipped.
// `drawn` receives each header with its decoded picture, `failed` each error, and `taken` the number of finished messages and
// their source.
export class Newest {
  constructor({ drawn, failed, taken }) {
    Object.assign(this, { drawn, failed, taken });
    this.isDecoding = false;
    this.clear();
  }

  clear() {
    [this.message, this.waiting, this.from] = [null, 0, null];
  }

  async give(newest, whose = null) {
    [this.message, this.waiting, this.from] = [newest, this.waiting + 1, whose];
    if (this.isDecoding) return;
    this.isDecoding = true;
    while (this.message) {
      const { message, waiting, from } = this;
      this.clear();
      try {
        const header = readHeader(message);
        this.drawn(header, await decode(header, message));
      } catch (error) {
        this.failed(error);
      }
      this.taken(waiting, from);
    }
    this.isDecoding = false;
  }
}

// Draws the picture into a canvas, which takes its size.
export function paint(canvas, header, decoded) {
  if (canvas.width !== header.width || canvas.height !== header.height) {
    canvas.width = header.width;
    canvas.height = header.height;
  }
  canvas.getContext("2d", { alpha: false }).drawImage(decoded, 0, 0);
  decoded.close();
}
