//! Inputs that every shader can name, and where each is among a launch's arguments.

use crate::slider::{Slider, SliderKind};
use pixelferry::{Arg, Extent};
use serde::{Deserialize, Serialize};

/// Number of channels of a shader.
pub const CHANNELS: usize = 4;

/// Values of one frame, with Shadertoy's meaning.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Moment {
    /// Seconds since the start, without pauses.
    pub time: f32,
    /// Seconds since the previous frame.
    pub delta: f32,
    /// Number of earlier frames.
    pub frame: i32,
    /// As Shadertoy's `iMouse`: where the pointer was when its button was last down, and where the button went down, in
    /// pixels from the bottom left. The second position is negative while the button is up, and its y also after the
    /// first frame.
    pub mouse: [f32; 4],
    /// Year, month from 0, day, and seconds of the day in UTC.
    pub date: [f32; 4],
}

/// A parameter of a kernel, by the index of its number among the [`numbers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Param {
    Float(usize),
    Int(usize),
    Uint(usize),
    /// Pixels of a channel.
    Channel(usize),
}

/// Names of the first numbers, for languages whose kernels have named parameters.
const NAMES: &str = "iTime iTimeDelta iFrameRate iFrame iMouse_x iMouse_y iMouse_z iMouse_w \
                     iDate_x iDate_y iDate_z iDate_w iResolution_x iResolution_y \
                     iChannel0_width iChannel0_height iChannel1_width iChannel1_height \
                     iChannel2_width iChannel2_height iChannel3_width iChannel3_height";
/// Index of the first channel's width and height packed in one word; the sliders follow these words.
const PACKED: usize = 22;
const SLIDERS: usize = PACKED + CHANNELS;

/// Count of the numbers that shaders read by index (`pf_arg_f32` and similar), before the sliders.
pub const PLACES: usize = 16;
/// Maximum number of sliders for languages that read numbers by index.
pub const MOST_SLIDERS: usize = 16;

/// A moment, and the values of the sliders.
pub type FrameValues<'a> = (&'a Moment, &'a [f32]);

/// Returns all numbers of a kernel, in the order of their names, given the sizes of the picture and of the channels.
pub fn numbers((moment, sliders): FrameValues<'_>, size: Extent, channels: [Extent; CHANNELS]) -> Vec<f64> {
    let Moment { time, delta, frame, mouse: [x, y, z, w], date } = *moment;
    // Kernels count rows from the top.
    let height = size.height as f32;
    let mouse = [x, height - y, z, (height - w.abs()).copysign(w)];
    let mut values: Vec<_> = [time, delta, 1.0 / delta.max(1e-6)].map(f64::from).into();
    values.push(frame.into());
    values.extend([mouse, date].as_flattened().iter().copied().map(f64::from));
    values.extend([size].iter().chain(&channels).flat_map(|size| [size.width, size.height]).map(f64::from));
    values.extend(channels.map(|size| f64::from(size.width.min(0xffff) | size.height.min(0xffff) << 16)));
    values.extend(sliders.iter().copied().map(f64::from));
    values
}

/// Returns the index of a number by its name.
pub fn named(name: &str, sliders: &[Slider]) -> Option<usize> {
    let slider = || Some(SLIDERS + sliders.iter().position(|slider| slider.name == name)?);
    NAMES.split(' ').position(|known| known == name).or_else(slider)
}

/// Lists the names, for messages.
pub fn names(sliders: &[Slider]) -> String {
    let sliders = sliders.iter().map(|slider| slider.name.as_str());
    NAMES.split(' ').chain(sliders).chain(["iChannel0 (a pointer)"]).collect::<Vec<_>>().join(", ")
}

/// Parameters of languages that read numbers by index: inputs, sliders, and channels that are set.
pub fn by_place(sliders: &[Slider], channels: impl Iterator<Item = usize>) -> Vec<Param> {
    let slider = |(at, slider): (usize, &Slider)| {
        if slider.kind == SliderKind::Float { Param::Float(at) } else { Param::Int(at) }
    };
    let places = (0..PLACES).map(|at| match at {
        3 => Param::Int(at),
        12.. => Param::Uint(PACKED + at - 12),
        _ => Param::Float(at),
    });
    places.chain((SLIDERS..).zip(sliders).map(slider)).chain(channels.map(Param::Channel)).collect()
}

impl Param {
    /// Returns the launch argument with one of these numbers; `None` for a channel.
    pub fn argument(&self, values: &[f64]) -> Option<Arg<'static>> {
        let value = |at: &usize| values.get(*at).copied().unwrap_or(0.0);
        Some(match self {
            Self::Float(at) => Arg::F32(value(at) as f32),
            Self::Int(at) => Arg::I32(value(at) as i32),
            Self::Uint(at) => Arg::U32(value(at) as u32),
            Self::Channel(_) => return None,
        })
    }
}

/// Returns the uniforms of a fragment shader, by the names of Shadertoy, ISF and glslViewer.
pub fn uniforms(moment: &Moment, size: Extent) -> Vec<(&'static str, Vec<f32>)> {
    let Moment { time, delta, frame, mouse, date } = *moment;
    let [year, month, day, seconds] = date;
    let (rate, size) = (1.0 / delta.max(1e-6), vec![size.width as f32, size.height as f32, 1.0]);
    let mut uniforms = vec![
        ("iFrameRate", vec![rate]),
        ("iSampleRate", vec![44_100.0]),
        ("iChannelTime", vec![time; CHANNELS]),
        ("iDate", date.to_vec()),
        // ISF counts months from 1.
        ("DATE", vec![year, month + 1.0, day, seconds]),
    ];
    for (names, values) in [
        (["iResolution", "RENDERSIZE", "u_resolution"], size),
        (["iTime", "TIME", "u_time"], vec![time]),
        (["iTimeDelta", "TIMEDELTA", "u_delta"], vec![delta]),
        (["iFrame", "FRAMEINDEX", "u_frame"], vec![frame as f32]),
        (["iMouse", "", "u_mouse"], mouse.to_vec()),
    ] {
        uniforms.extend(names.map(|name| (name, values.clone())));
    }
    uniforms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names_and_places() {
        let sliders = [Slider {
            name: "speed".into(),
            kind: SliderKind::Float,
            limits: [0.0, 1.0],
            value: 0.5,
            menu: Vec::new(),
        }];
        assert_eq!([named("iChannel4_width", &sliders), named("speeds", &sliders)], [None, None]);
        let moment = Moment { mouse: [3.0, 10.0, 5.0, -20.0], frame: 7, ..Moment::default() };
        let size = Extent::new(64, 48);
        let channels = [size, Extent::new(0, 0), size, size];
        let now = numbers((&moment, &[0.25]), size, channels);
        let word = |param: &Param, now: &[f64]| match param.argument(now) {
            Some(Arg::F32(value)) => format!("{value}f"),
            Some(Arg::I32(value)) => format!("{value}"),
            Some(Arg::U32(value)) => format!("{value}u"),
            _ => "memory".to_owned(),
        };
        let number = |name: &str| word(&Param::Int(named(name, &sliders).unwrap()), &now);
        assert_eq!(["iResolution_y", "iChannel1_width", "iChannel3_height"].map(number), ["48", "0", "48"]);
        assert_eq!(word(&Param::Float(named("speed", &sliders).unwrap()), &now), "0.25f");
        let places = by_place(&sliders, [2].into_iter());
        assert_eq!(word(&places[3], &now), "7");
        assert_eq!(word(&places[12], &now), format!("{}u", 64 | 48 << 16));
        assert_eq!(word(&places[16], &now), "0.25f");
        assert_eq!([5, 7].map(|at| word(&places[at], &now)), ["38f", "-28f"]);
        assert_eq!(word(&places[17], &now), "memory");
    }
}
