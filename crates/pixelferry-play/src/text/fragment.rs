//! Fragment shaders: a text of the user's behind what it may name.

use super::parts::names;
use super::zeroed::{Declared, Zeroed};
use crate::log::{Added, COMMON, NOBODYS, Origin, line_mark};
use crate::pass::{Fragment, Pass, Piece, Tongue};

/// Precisions, where nothing else is said: OpenGL ES knows none for floats.
const PRECISIONS: &str = "precision highp float;
precision highp int;
precision highp sampler2D;
";

/// Words of older languages.
pub const OLD: &str = "#define texture2D texture
#define texture2DLod textureLod
#define texture2DLodEXT textureLod
#define texture2DProj textureProj
#define textureCube texture
";

/// A name that a program may not declare, and another of the same length, so that columns stay.
pub const COLOUR: [&str; 2] = ["gl_FragColor", "pf_FragColor"];

/// The vertices of texts that say nothing of them: a triangle around the picture, with places from 0 to 1 by the names that texts know.
pub const TRIANGLE: &str = "out vec2 isf_FragNormCoord, v_texcoord;
void main() {
  isf_FragNormCoord = v_texcoord = 2.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(2.0 * v_texcoord - 1.0, 0.0, 1.0);
}
";

/// What stands around a text.
pub struct Around {
    pub before: String,
    /// Where the body of the text's `main` begins.
    pub first: &'static str,
}

/// The declaration of a text's colour, where it has none of its own, and the zero that it begins with.
pub fn colour(text: &str) -> (&'static str, &'static str) {
    if names(text, COLOUR[0]) { ("out vec4 pf_FragColor;\n", "pf_FragColor=vec4(0);") } else { ("", "") }
}

/// A pass of a text. The version comes first, once a context is known.
pub fn fragment(piece: &Piece, common: Option<&Piece>, around: &Around, fragment: Fragment) -> Pass {
    let mut text = line_mark(NOBODYS) + PRECISIONS + &around.before;
    let all = || [common, Some(piece)].into_iter().flatten();
    // Texts from before WebGL 2 still run, unless they say what that is.
    let is_old = |piece: &Piece| names(&piece.text, "texture2D") && !piece.text.contains("define texture2D");
    if !around.before.contains(OLD) && all().any(is_old) {
        text += OLD;
    }
    let mut origin = Origin::of(piece.file.clone());
    origin.last = Some(piece.text.lines().count() as u32);
    let mut declared = Declared::default();
    for own in all() {
        let first = if std::ptr::eq(own, piece) { 0 } else { COMMON };
        if first == COMMON {
            origin.common = Some((own.file.clone(), COMMON));
        }
        let zeroed = Zeroed::of(&own.text.replace(COLOUR[0], COLOUR[1]), around.first, &mut declared);
        text += &line_mark(first);
        text += &zeroed.text;
        text.push('\n');
        origin.added.extend(zeroed.added.into_iter().map(|added| Added { line: first + added.line, ..added }));
    }
    let (params, channels, kernel) = (Vec::new(), piece.channels.clone(), String::new());
    Pass { kernel, language: Tongue::Fragment, text, params, buffer: None, channels, origin, fragment }
}
