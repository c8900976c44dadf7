//! Why some public texts of ISF differ from the pictures of ISF's renderer for browsers. Each reason has an experiment: with
//! a change of the renderer or of the text that concerns nothing else, the pictures agree.

/// Reasons, and the texts to which they apply.
pub struct IsfReason {
    pub reasons: &'static [&'static str],
    /// JavaScript that changes the renderer.
    pub page: &'static str,
    /// Changes of the text, for both renderers.
    pub replaced: &'static [(&'static str, &'static str)],
    pub files: &'static [&'static str],
}

/// Buffers have their sizes before the first frame.
const SIZES_FIRST: &str = "const draw = Renderer.prototype.draw;
Renderer.prototype.draw = function (to) {
  this.gl.activeTexture(this.gl.TEXTURE15);
  const side = (text) => this.evaluateSize(to, text);
  for (const pass of this.model.passes) if (pass.target) pass.buffer.setSize(side(pass.width), side(pass.height));
  draw.call(this, to);
};";

/// Sizes of buffers are whole numbers.
const WHOLE_SIZES: &str = "const side = Renderer.prototype.evaluateSize;
Renderer.prototype.evaluateSize = function (...all) { return Math.max(1, Math.floor(side.apply(this, all))); };";

/// Pictures that come with a text are inputs, too.
const IMPORTS: &str = "const changed = Renderer.prototype.sourceChanged;
Renderer.prototype.sourceChanged = function (fragment, vertex, model) {
  for (const NAME in model.imports) model.inputs.push({ NAME, TYPE: 'image' });
  changed.call(this, fragment, vertex, model);
};";

const HASH: &str = "the text hashes with fract(sin(x) * 43758.5), so each rounding of sin is another number";
const HALF: &str = "numbers are halfway between two levels, and their rounding decides";
const LATE: &str = "the renderer gives a buffer its size while it draws the first frame: IMG_SIZE is NaN there, and the texture \
                    that is drawn into is also an input, so WebGL draws nothing";
/// Makes such a hash smooth.
const SMOOTH: &[(&str, &str)] = &[("43758.5453", "0.5453"), ("12.9898", "0.9898"), ("78.233", "0.233")];

pub const REASONS: &[IsfReason] = &[
    IsfReason {
        reasons: &[LATE],
        page: SIZES_FIRST,
        replaced: &[],
        files: &[
            "Circular Feedback Mask",
            "Etch-a-Sketch",
            "Life",
            "Shape Morph Feedback Mask",
            "Slit Scan",
            "Trail Mask",
            "Video Snake",
            "Zooming Feedback",
        ],
    },
    IsfReason {
        reasons: &["the renderer's RENDERSIZE of a pass is no whole number, as its texture's size is"],
        page: WHOLE_SIZES,
        replaced: &[],
        files: &["Auto Levels"],
    },
    IsfReason {
        reasons: &["the renderer does not load IMPORTED pictures"],
        page: IMPORTS,
        replaced: &[
            ("cursor.png", "picture.png"),
            ("noise2d.png", "picture.png"),
            ("v002-CRT-Mask-RGB-Shadow.png", "picture.png"),
            ("v002-CRT-Mask-RGB-Staggered.png", "picture.png"),
            ("v002-CRT-Mask-RGB-Straight.png", "picture.png"),
            ("v002-CRT-Mask-Scanline-Staggered.png", "picture.png"),
        ],
        files: &["Cursor", "Cursor Overlay", "Night Vision", "v002-CRT-Mask"],
    },
    IsfReason {
        reasons: &[HASH],
        page: "",
        replaced: SMOOTH,
        files: &["Bad TV", "Frosted Glass", "Noise Pixellate", "VHS Glitch"],
    },
    IsfReason {
        reasons: &[LATE, HASH],
        page: SIZES_FIRST,
        replaced: SMOOTH,
        files: &["Random Freeze", "Random Shape Blast"],
    },
    IsfReason {
        reasons: &[
            "a colour without a DEFAULT is white in play, and nothing in the renderer; the format leaves it open",
        ],
        page: "",
        replaced: &[("\"TYPE\" : \"color\"", "\"TYPE\" : \"color\", \"DEFAULT\" : [0.2, 0.3, 0.0, 1.0]")],
        files: &["Micro Buffer RGB"],
    },
    IsfReason {
        reasons: &[LATE, HALF],
        page: SIZES_FIRST,
        replaced: &[("gl_FragColor = final;", "gl_FragColor = final + 0.001;")],
        files: &["FastMosh"],
    },
    IsfReason {
        reasons: &["the middle of a pixel is on the edge of a cell, and the rounding of its position decides"],
        page: "",
        replaced: &[("0.125", "0.1234")],
        files: &["Collage", "Noise"],
    },
    IsfReason {
        reasons: &["the text asks for mediump where GL_ES is defined, and Mesa then computes with 16 bits"],
        page: "",
        replaced: &[("precision mediump float;", "precision highp float;")],
        files: &["Boxinator"],
    },
    IsfReason {
        reasons: &["the text shows the time of the day"],
        page: "",
        replaced: &[("DATE", "vec4(2026.0, 5.0, 6.0, 7000.0)")],
        files: &["Digital Clock"],
    },
    IsfReason {
        reasons: &[HALF],
        page: "",
        replaced: &[
            ("gl_FragColor = outColor;", "gl_FragColor = outColor + 0.001;"),
            ("gl_FragColor = final;", "gl_FragColor = final + 0.001;"),
            ("(sample0 * 3.0 + sample1) / 4.0;", "(sample0 * 3.0 + sample1) / 4.0 + 0.001;"),
            ("vec4(hsv2rgb(outColor.rgb), inColor.a)", "vec4(hsv2rgb(outColor.rgb) + 0.001, inColor.a)"),
            ("floor(srcPixel", "floor(0.05 + srcPixel"),
            ("float(colorCount))", "float(colorCount) + 0.01)"),
            ("gl_FragColor = result;", "gl_FragColor = result + 0.001;"),
            ("mix(stalePixel,freshPixel,adaptRate);", "mix(stalePixel,freshPixel,adaptRate) + 0.001;"),
        ],
        files: &[
            "Auto Color Tone",
            "Color Posterize",
            "Deinterlace",
            "Emboss",
            "Noise Adapt",
            "Optical Flow Distort",
            "Sorting Smear",
        ],
    },
];
