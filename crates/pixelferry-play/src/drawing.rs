//! Fragment shaders of a program on OpenGL, with their buffers, and the texture that they draw into.

use crate::driver::StoredMemory;
use crate::error::PlayError;
use crate::gl::{BuildError, Depth, Draw, Gl, PLAIN, Program as Linked, Texture};
use crate::input::Moment;
use crate::pass::{Channel, Pass, Source, Vouched};
use crate::picture::Pictures;
use crate::program::Program;
use crate::slider::Slider;
use crate::text::{COLOUR, TRIANGLE, evaluate};
use pixelferry::{Extent, Surface};
use std::rc::Rc;

/// Texts that show a buffer as the picture.
const SHOWN: &str = "precision highp float;
precision highp sampler2D;
in vec2 v_texcoord;
uniform sampler2D image;
out vec4 pixel;
void main() { pixel = texture(image, v_texcoord); }
";
/// As Shadertoy has it.
const SAMPLE_RATE: f32 = 44_100.0;
/// Most pixels of a side of a buffer whose text says its size.
const MOST_SIDE: f64 = 16_384.0;

/// The texture that a program draws into, and the surface that shows it.
pub struct Canvas {
    // Before its texture.
    surface: Surface,
    texture: Texture,
    gl: Gl,
}

impl Canvas {
    /// A black one.
    pub fn new(gl: &Gl, size: Extent) -> Result<Self, PlayError> {
        let texture = gl.texture(size, Depth::Bytes, None)?;
        Ok(Self { surface: gl.surface(&texture)?, texture, gl: gl.clone() })
    }

    pub const fn gl(&self) -> &Gl {
        &self.gl
    }

    pub const fn size(&self) -> Extent {
        self.texture.size
    }

    pub const fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The pixels as bytes, rows from the top.
    pub fn read_back(&self) -> Result<Vec<u8>, PlayError> {
        let bytes = self.gl.read(&self.texture)?;
        Ok(bytes.chunks(4 * self.size().width.max(1) as usize).rev().flatten().copied().collect())
    }
}

/// The shaders of all passes.
pub struct Drawing {
    gl: Gl,
    passes: Vec<Rc<Linked>>,
    shown: Linked,
    /// The texture of channels that show nothing.
    nothing: Texture,
    buffers: Vec<Option<Buffer>>,
}

/// Textures of a buffer: what its pass drew last, and room for what it draws next.
struct Buffer {
    newest: Texture,
    next: Texture,
    depth: Depth,
}

impl Drawing {
    /// Compiles and links.
    ///
    /// # Errors
    /// [`PlayError::Faults`] for a text that does not build; what OpenGL reports.
    pub fn build(gl: &Gl, program: &Program, _: Vouched) -> Result<Self, PlayError> {
        let mut passes: Vec<Rc<Linked>> = Vec::new();
        for (at, pass) in program.passes.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| Some((program.passes.get(at)?, passes.get(at)?)));
            match before.filter(|(other, _)| other.text == pass.text && other.fragment.vertex == pass.fragment.vertex) {
                Some((_, same)) => passes.push(Rc::clone(same)),
                None => passes.push(Rc::new(linked(gl, pass)?)),
            }
        }
        let version = gl.version(true);
        let shown = gl.program(&format!("{version}{TRIANGLE}"), &format!("{version}{SHOWN}"));
        let shown = shown.map_err(|error| error.of(PlayError::OpenGl, PlayError::OpenGl))?;
        let nothing = gl.texture(Extent::new(1, 1), Depth::Bytes, Some(&[0, 0, 0, 255]))?;
        Ok(Self { gl: gl.clone(), passes, shown, nothing, buffers: Vec::new() })
    }

    /// Forgets what the buffers hold.
    pub fn clear(&mut self) {
        self.buffers.clear();
    }

    /// Takes over what the buffers of another program hold, where both have the same. True where it did, or there are none.
    pub fn inherit(&mut self, from: Option<Self>) -> bool {
        let has = |drawing: &Self| {
            let buffers = drawing.buffers.iter();
            buffers.map(|buffer| buffer.as_ref().map(|buffer| (buffer.newest.size, buffer.depth))).collect::<Vec<_>>()
        };
        let own = has(self);
        if own.iter().all(Option::is_none) {
            return true;
        }
        match from.filter(|from| has(from) == own) {
            Some(from) => self.buffers = from.buffers,
            None => return false,
        }
        true
    }

    /// Draws all passes of a frame.
    ///
    /// # Errors
    /// What OpenGL reports.
    pub fn draw(
        &mut self,
        program: &Program,
        pictures: &Pictures,
        canvas: &Canvas,
        moment: &Moment,
        sliders: &[f32],
    ) -> Result<(), PlayError> {
        let sliders = Sliders { all: &program.sliders, values: sliders };
        for pass in &program.passes {
            if let Some(at) = pass.buffer {
                self.room(at, pass, sliders.size(pass, canvas.size()))?;
            }
        }
        let last = self.passes.len().saturating_sub(1);
        for (at, pass) in program.passes.iter().enumerate() {
            let buffer = pass.buffer.and_then(|at| self.buffers.get(at)?.as_ref());
            let into = buffer.map_or(&canvas.texture, |buffer| &buffer.next);
            self.pass(at, pass, into, pictures, moment, &sliders, at == last && buffer.is_none())?;
            if let Some(Some(buffer)) = pass.buffer.and_then(|at| self.buffers.get_mut(at)) {
                std::mem::swap(&mut buffer.newest, &mut buffer.next);
                let shows = |channel: &Channel| channel.sampling.has_levels && channel.source == Source::Buffer(at);
                if program.passes.iter().flat_map(|pass| &pass.channels).flatten().any(shows) {
                    self.gl.level(&buffer.newest)?;
                }
            }
        }
        // The picture is what the last pass gives, whatever its name.
        let shown = program.passes.last().and_then(|pass| self.buffers.get(pass.buffer?)?.as_ref());
        let Some(Buffer { newest, .. }) = shown else { return Ok(()) };
        let (textures, uniforms) = (vec![("image", newest, PLAIN)], Vec::new());
        let (program, into) = (&self.shown, &canvas.texture);
        self.gl.draw(&Draw { program, into, textures, uniforms, has_corners: false, is_picture: true })
    }

    /// Makes a buffer as large as it is to be.
    fn room(&mut self, at: usize, pass: &Pass, size: Extent) -> Result<(), PlayError> {
        let depth = if pass.fragment.is_float { Depth::Floats } else { Depth::Bytes };
        while self.buffers.len() <= at {
            self.buffers.push(None);
        }
        let Some(place) = self.buffers.get_mut(at) else { return Ok(()) };
        if !place.as_ref().is_some_and(|buffer| buffer.newest.size == size) {
            let texture = || self.gl.texture(size, depth, None);
            *place = Some(Buffer { newest: texture()?, next: texture()?, depth });
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a pass depends on all of a frame")]
    fn pass(
        &self,
        at: usize,
        pass: &Pass,
        into: &Texture,
        pictures: &Pictures,
        moment: &Moment,
        sliders: &Sliders<'_>,
        is_picture: bool,
    ) -> Result<(), PlayError> {
        let Some(program) = self.passes.get(at) else { return Ok(()) };
        let mut textures = Vec::new();
        let mut sizes = [0.0; 12];
        for (n, name) in pass.fragment.names.iter().enumerate() {
            let channel = pass.channels.get(n).and_then(Option::as_ref);
            let texture = channel.and_then(|channel| self.texture(channel, pictures));
            if let (Some(texture), Some(sides)) = (texture, sizes.get_mut(3 * n..3 * n + 3)) {
                sides.copy_from_slice(&[texture.size.width as f32, texture.size.height as f32, 1.0]);
            }
            let sampling = channel.map_or(PLAIN, |channel| channel.sampling);
            textures.push((name.as_str(), texture.unwrap_or(&self.nothing), sampling));
        }
        let mut uniforms = inputs(pass, into.size, moment);
        uniforms.push(("iChannelResolution", sizes.to_vec()));
        uniforms.extend(sliders.uniforms());
        let has_corners = pass.fragment.vertex.is_some();
        self.gl.draw(&Draw { program, into, textures, uniforms, has_corners, is_picture })
    }

    fn texture<'a>(&'a self, channel: &Channel, pictures: &'a Pictures) -> Option<&'a Texture> {
        if let Source::Buffer(at) = channel.source {
            return Some(&self.buffers.get(at)?.as_ref()?.newest);
        }
        let picture = pictures.of(channel)?;
        if let StoredMemory::Fragments(texture) = &picture.stored.memory { Some(texture) } else { None }
    }
}

/// The program of a pass.
fn linked(gl: &Gl, pass: &Pass) -> Result<Linked, PlayError> {
    let version = gl.version(pass.fragment.is_strict);
    let vertex = pass.fragment.vertex.as_ref();
    let vertices = format!("{version}{}", vertex.map_or(TRIANGLE, |(text, _)| text));
    gl.program(&vertices, &format!("{version}{}", pass.text)).map_err(|error| {
        let (text, origin) = vertex.map_or((&pass.text, &pass.origin), |(text, origin)| (text, origin));
        error.of(
            |log| PlayError::Faults(origin.faults(&log, text)),
            // A name of the same length stands for one that a text may not declare.
            |log| PlayError::Faults(pass.origin.faults(&log.replace(COLOUR[1], COLOUR[0]), &pass.text)),
        )
    })
}

/// Numbers of a frame by the names that texts have for them: Shadertoy's, ISF's and glslViewer's.
fn inputs<'a>(pass: &Pass, size: Extent, moment: &Moment) -> Vec<(&'a str, Vec<f32>)> {
    let Moment { time, delta, frame, mouse, date } = *moment;
    let [year, month, day, seconds] = date;
    let (size, frame) = (vec![size.width as f32, size.height as f32, 1.0], vec![frame as f32]);
    let mut inputs = vec![
        ("iFrameRate", vec![1.0 / delta.max(1e-6)]),
        ("iSampleRate", vec![SAMPLE_RATE]),
        ("iChannelTime", vec![time; 4]),
        ("PASSINDEX", vec![pass.fragment.index as f32]),
        ("iDate", date.to_vec()),
        // Months from 1 on.
        ("DATE", vec![year, month + 1.0, day, seconds]),
    ];
    for (names, values) in [
        (["iResolution", "RENDERSIZE", "u_resolution"], size),
        (["iTime", "TIME", "u_time"], vec![time]),
        (["iTimeDelta", "TIMEDELTA", "u_delta"], vec![delta]),
        (["iFrame", "FRAMEINDEX", "u_frame"], frame),
        (["iMouse", "u_mouse", "u_mouse"], mouse.to_vec()),
    ] {
        inputs.extend(names.map(|name| (name, values.clone())));
    }
    inputs
}

/// Sliders with their numbers.
struct Sliders<'a> {
    all: &'a [Slider],
    values: &'a [f32],
}

impl<'a> Sliders<'a> {
    /// Their uniforms: parts of a colour or a place have one together.
    fn uniforms(&self) -> Vec<(&'a str, Vec<f32>)> {
        let mut uniforms: Vec<(&str, Vec<f32>)> = Vec::new();
        for (Slider { name, .. }, value) in self.all.iter().zip(self.values) {
            let own = name.split_once('.').map_or(name.as_str(), |(own, _)| own);
            match uniforms.last_mut().filter(|(last, _)| *last == own) {
                Some((_, values)) => values.push(*value),
                None => uniforms.push((own, vec![*value])),
            }
        }
        uniforms
    }

    /// Columns and rows of a pass, whose text may say them.
    fn size(&self, pass: &Pass, picture: Extent) -> Extent {
        let named = |name: &str| match name {
            "$WIDTH" => Some(f64::from(picture.width)),
            "$HEIGHT" => Some(f64::from(picture.height)),
            name => {
                let at = self.all.iter().position(|slider| Some(slider.name.as_str()) == name.strip_prefix('$'))?;
                self.values.get(at).copied().map(f64::from)
            }
        };
        let [width, height] = &pass.fragment.size;
        let side =
            |text: &str, usual: u32| evaluate(text, &named).map_or(usual, |side| side.clamp(1.0, MOST_SIDE) as u32);
        Extent::new(side(width, picture.width), side(height, picture.height))
    }
}

impl BuildError {
    /// The error, with what becomes of the logs of both stages.
    fn of(self, vertex: impl FnOnce(String) -> PlayError, fragment: impl FnOnce(String) -> PlayError) -> PlayError {
        match self {
            Self::Vertex(log) => vertex(log),
            Self::Fragment(log) => fragment(log),
            Self::Other(error) => error,
        }
    }
}
