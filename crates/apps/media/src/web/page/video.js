// Decodes the H.264 of the gateway with WebCodecs.

import { HEADER_BYTES } from "./picture.js";

// A decoder that supports this supports what the gateway sends, unless it is too large.
const USUAL = "avc1.42E028";
const [SLICE_OF_KEYFRAME, PARAMETERS] = [5, 7];
// The colour space of the gateway's video, which not every encoder stores in the stream.
const COLOURS = { primaries: "bt709", transfer: "bt709", matrix: "bt709", fullRange: false };

// Returns the reason why this browser cannot decode H.264; empty if it can.
export async function whyNot() {
  if (!isSecureContext) return "browsers decode video only on https and localhost";
  if (!("VideoDecoder" in window)) return "this browser has no WebCodecs";
  const { supported } = await VideoDecoder.isConfigSupported({ codec: USUAL });
  return supported ? "" : "this browser cannot decode it";
}

// Decodes units in the order in which they arrive. Calls `shown(header, frame)` with each picture, `passed(header)` for each that
// does not become one, and `failed(error)` if nothing can be decoded before the next keyframe.
export class Video {
  #decoder = null;
  #parameters = "";
  #inside = new Map(); // headers of the units being decoded, by number
  #number = 0;
  #calls;

  constructor(calls) {
    this.#calls = calls;
  }

  // Decodes a message whose header has been read.
  decode(header, message) {
    const data = new Uint8Array(message, HEADER_BYTES);
    const { isKey, parameters } = look(data);
    try {
      if (isKey) this.#configure(`${header.width} ${header.height} ${parameters}`, parameters);
      if (!this.#decoder) throw new Error("the video began without a keyframe");
      this.#number += 1;
      this.#inside.set(this.#number, header);
      this.#decoder.decode(new EncodedVideoChunk({ type: isKey ? "key" : "delta", timestamp: this.#number, data }));
    } catch (error) {
      if (!this.#inside.delete(this.#number)) this.#number += 1;
      this.#calls.passed(header);
      this.#fail(error);
    }
  }

  // Drops all units.
  end() {
    if (this.#decoder && this.#decoder.state !== "closed") this.#decoder.close();
    this.#decoder = null;
    this.#parameters = "";
    for (const header of this.#inside.values()) this.#calls.passed(header);
    this.#inside.clear();
  }

  #configure(name, parameters) {
    if (this.#decoder && this.#parameters === name) return;
    if (!this.#decoder) {
      const decoder = new VideoDecoder({
        output: (frame) => this.#output(frame),
        error: (error) => decoder === this.#decoder && this.#fail(error),
      });
      this.#decoder = decoder;
    }
    this.#parameters = name;
    // Profile, constraints and level are the three bytes after the unit's kind.
    this.#decoder.configure({ codec: `avc1.${parameters.slice(2, 8)}`, optimizeForLatency: true, colorSpace: COLOURS });
  }

  #output(frame) {
    const header = this.#inside.get(frame.timestamp);
    for (const [number, passed] of this.#inside) {
      if (number > frame.timestamp) break;
      this.#inside.delete(number);
      if (number < frame.timestamp) this.#calls.passed(passed);
    }
    if (header) this.#calls.shown(header, frame);
    else frame.close();
  }

  #fail(error) {
    this.end();
    this.#calls.failed(error);
  }
}

// Returns whether an access unit is a keyframe, and its sequence parameters in hexadecimal digits. Its parts begin with 0, 0, 1.
function look(data) {
  let [isKey, parameters] = [false, ""];
  for (let at = 0; at + 3 < data.length; at += 1) {
    if (data[at] !== 0 || data[at + 1] !== 0 || data[at + 2] !== 1) continue;
    const kind = data[at + 3] & 31;
    if (kind === PARAMETERS) {
      let end = at + 4;
      while (end + 2 < data.length && !(data[end] === 0 && data[end + 1] === 0 && data[end + 2] <= 1)) end += 1;
      parameters = Array.from(data.subarray(at + 3, end), (byte) => byte.toString(16).padStart(2, "0")).join("");
    }
    isKey ||= kind === SLICE_OF_KEYFRAME;
    // Pixels follow: only the first part of a picture is examined.
    if (kind >= 1 && kind <= SLICE_OF_KEYFRAME) break;
  }
  return { isKey: isKey && parameters !== "", parameters };
}
