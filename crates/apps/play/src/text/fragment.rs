//! Fragment shaders: the user's text behind the declarations of its inputs.

use super::parts::names;
use super::zeroed_text::{ZeroDeclarations, ZeroedText};
use crate::log::{AddedText, COMMON, NOBODYS, Origin, line_mark};
use crate::pass::{FragmentInfo, Pass, PassLanguage, Piece};

/// Default precisions, because GLSL ES has none for floats.
const PRECISIONS: &str = "precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler3D;
precision highp samplerCube;
";

/// Functions of older versions of GLSL.
pub const OLD: &str = "#define texture2D texture
#define texture2DLod textureLod
#define texture2DLodEXT textureLod
#define texture2DProj textureProj
#define textureCube texture
";

/// A name that a shader may not declare, and a replacement of the same length, which keeps columns.
pub const COLOUR: [&str; 2] = ["gl_FragColor", "pf_FragColor"];

/// The default vertex shader: a triangle around the picture, with positions from 0 to 1 by the names that shaders use.
pub const TRIANGLE: &str = "out vec2 isf_FragNormCoord, v_texcoord;
void main() {
  isf_FragNormCoord = v_texcoord = 2.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(2.0 * v_texcoord - 1.0, 0.0, 1.0);
}
";

/// Code around a shader.
pub struct TextWrapper {
    pub before: String,
    /// The function that the pass runs, and code where its body begins.
    pub entry: (&'static str, &'static str),
}

/// Declares a shader's colour, if it has none of its own, and gives it a value where `main` begins.
pub fn colour(text: &str) -> (&'static str, (&'static str, &'static str)) {
    match names(text, COLOUR[0]) {
        true => ("out vec4 pf_FragColor;\n", ("main", "pf_FragColor=vec4(0);")),
        false => ("", ("main", "")),
    }
}

/// Makes a pass of a shader. Its version is added when a context is known.
pub fn fragment(piece: &Piece, common: Option<&Piece>, around: &TextWrapper, fragment: FragmentInfo) -> Pass {
    let mut text = line_mark(NOBODYS) + PRECISIONS + &around.before;
    let all = || [common, Some(piece)].into_iter().flatten();
    // Shaders from before WebGL 2 still run, unless they define the old functions themselves.
    let is_old = |piece: &Piece| names(&piece.text, "texture2D") && !piece.text.contains("define texture2D");
    if !around.before.contains(OLD) && all().any(is_old) {
        text += OLD;
    }
    let mut origin = Origin::of(piece.file.clone());
    origin.last = Some(piece.text.lines().count() as u32);
    let mut declared = ZeroDeclarations::default();
    for own in all() {
        let first = if std::ptr::eq(own, piece) { 0 } else { COMMON };
        if first == COMMON {
            origin.common = Some((own.file.clone(), COMMON));
        }
        let zeroed = ZeroedText::of(&own.text.replace(COLOUR[0], COLOUR[1]), around.entry, &mut declared);
        text += &line_mark(first);
        text += &zeroed.text;
        text.push('\n');
        origin.added.extend(zeroed.added.into_iter().map(|added| AddedText { line: first + added.line, ..added }));
    }
    let (params, channels, kernel) = (Vec::new(), piece.channels.clone(), String::new());
    Pass { kernel, language: PassLanguage::Fragment, text, params, buffer: None, channels, origin, fragment }
}
