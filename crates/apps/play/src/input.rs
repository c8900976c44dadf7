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

/// An input number of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Number {
    Time,
    Delta,
    Rate,
    Frame,
    Mouse(usize),
    Date(usize),
    Width,
    Height,
    /// Width and height of a channel in pixels.
    ChannelWidth(usize),
    ChannelHeight(usize),
    /// Width and height packed in one word.
    ChannelSize(usize),
    Slider(usize),
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Param {
    Float(Number),
    Int(Number),
    Uint(Number),
    /// Pixels of a channel.
    Channel(usize),
}

/// Numbers that shaders read by index (`pf_arg_f32` and similar), before the sliders.
pub const PLACES: [Param; 16] = [
    Param::Float(Number::Time),
    Param::Float(Number::Delta),
    Param::Float(Number::Rate),
    Param::Int(Number::Frame),
    Param::Float(Number::Mouse(0)),
    Param::Float(Number::Mouse(1)),
    Param::Float(Number::Mouse(2)),
    Param::Float(Number::Mouse(3)),
    Param::Float(Number::Date(0)),
    Param::Float(Number::Date(1)),
    Param::Float(Number::Date(2)),
    Param::Float(Number::Date(3)),
    Param::Uint(Number::ChannelSize(0)),
    Param::Uint(Number::ChannelSize(1)),
    Param::Uint(Number::ChannelSize(2)),
    Param::Uint(Number::ChannelSize(3)),
];

/// Maximum number of sliders for languages that read numbers by index.
pub const MOST_SLIDERS: usize = 16;

/// Parameter names in languages whose kernels have named parameters; sliders use their own names.
const NAMES: [(&str, Number); 14] = [
    ("iTime", Number::Time),
    ("iTimeDelta", Number::Delta),
    ("iFrameRate", Number::Rate),
    ("iFrame", Number::Frame),
    ("iMouse_x", Number::Mouse(0)),
    ("iMouse_y", Number::Mouse(1)),
    ("iMouse_z", Number::Mouse(2)),
    ("iMouse_w", Number::Mouse(3)),
    ("iDate_x", Number::Date(0)),
    ("iDate_y", Number::Date(1)),
    ("iDate_z", Number::Date(2)),
    ("iDate_w", Number::Date(3)),
    ("iResolution_x", Number::Width),
    ("iResolution_y", Number::Height),
];

impl Number {
    /// Returns the parameter of this name.
    pub fn named(name: &str, sliders: &[Slider]) -> Option<Self> {
        let known = NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
        known.or_else(|| Some(Self::Slider(sliders.iter().position(|slider| slider.name == name)?))).or_else(|| {
            let (channel, side) = name.strip_prefix("iChannel")?.split_once('_')?;
            let channel = channel.parse().ok().filter(|channel| *channel < CHANNELS)?;
            match side {
                "width" => Some(Self::ChannelWidth(channel)),
                "height" => Some(Self::ChannelHeight(channel)),
                _ => None,
            }
        })
    }

    /// Lists the names, for messages.
    pub fn names(sliders: &[Slider]) -> String {
        let all = NAMES.iter().map(|(name, _)| *name).chain(sliders.iter().map(|slider| slider.name.as_str()));
        all.chain(["iChannel0 (a pointer)", "iChannel0_width"]).collect::<Vec<_>>().join(", ")
    }

    fn value(self, now: &FrameInputs<'_>) -> f64 {
        let Moment { time, delta, frame, mouse, date } = now.moment;
        let size = |channel: usize| now.channels.get(channel).copied().unwrap_or(Extent::new(0, 0));
        let part = |all: [f32; 4], at: usize| f64::from(all.get(at).copied().unwrap_or(0.0));
        match self {
            Self::Time => f64::from(time),
            Self::Delta => f64::from(delta),
            Self::Rate => 1.0 / f64::from(delta.max(1e-6)),
            Self::Frame => f64::from(frame),
            Self::Mouse(at) => part(if now.is_from_top { from_top(mouse, now.size) } else { mouse }, at),
            Self::Date(at) => part(date, at),
            Self::Width => f64::from(now.size.width),
            Self::Height => f64::from(now.size.height),
            Self::ChannelWidth(channel) => f64::from(size(channel).width),
            Self::ChannelHeight(channel) => f64::from(size(channel).height),
            Self::ChannelSize(channel) => {
                let Extent { width, height } = size(channel);
                f64::from(width.min(0xffff) | height.min(0xffff) << 16)
            }
            Self::Slider(at) => f64::from(now.sliders.get(at).copied().unwrap_or(0.0)),
        }
    }
}

/// Converts a position to rows counted from the top, as kernels count.
fn from_top([x, y, z, w]: [f32; 4], size: Extent) -> [f32; 4] {
    let height = size.height as f32;
    [x, height - y, z, (height - w.abs()).copysign(w)]
}

/// Everything that a frame's numbers depend on.
pub struct FrameInputs<'a> {
    pub moment: Moment,
    pub sliders: &'a [f32],
    pub size: Extent,
    /// Sizes of the pass's channels.
    pub channels: [Extent; CHANNELS],
    /// Whether the shader counts rows from the top.
    pub is_from_top: bool,
}

impl Param {
    /// Returns the launch argument; `None` for a channel.
    pub fn argument(&self, now: &FrameInputs<'_>) -> Option<Arg<'static>> {
        Some(match self {
            Self::Float(number) => Arg::F32(number.value(now) as f32),
            Self::Int(number) => Arg::I32(number.value(now) as i32),
            Self::Uint(number) => Arg::U32(number.value(now) as u32),
            Self::Channel(_) => return None,
        })
    }

    /// Returns the parameter of a slider, for languages that read numbers by index.
    pub const fn of_slider(at: usize, kind: SliderKind) -> Self {
        match kind {
            SliderKind::Float => Self::Float(Number::Slider(at)),
            SliderKind::Int | SliderKind::Bool => Self::Int(Number::Slider(at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names_and_places() {
        let sliders = [Slider { name: "speed".into(), kind: SliderKind::Float, limits: [0.0, 1.0], value: 0.5 }];
        assert_eq!(Number::named("speed", &sliders), Some(Number::Slider(0)));
        assert_eq!(Number::named("iChannel3_height", &sliders), Some(Number::ChannelHeight(3)));
        assert_eq!([Number::named("iChannel4_width", &sliders), Number::named("speeds", &sliders)], [None, None]);
        let moment = Moment { mouse: [3.0, 10.0, 5.0, -20.0], frame: 7, ..Moment::default() };
        let size = Extent::new(64, 48);
        let channels = [size, Extent::new(0, 0), size, size];
        let mut now = FrameInputs { moment, sliders: &[0.25], size, channels, is_from_top: false };
        let word = |param: &Param, now: &FrameInputs<'_>| match param.argument(now) {
            Some(Arg::F32(value)) => format!("{value}f"),
            Some(Arg::I32(value)) => format!("{value}"),
            Some(Arg::U32(value)) => format!("{value}u"),
            _ => "memory".to_owned(),
        };
        assert_eq!(word(&PLACES[3], &now), "7");
        assert_eq!(word(&PLACES[12], &now), format!("{}u", 64 | 48 << 16));
        assert_eq!(word(&Param::of_slider(0, SliderKind::Float), &now), "0.25f");
        assert_eq!(word(&PLACES[5], &now), "10f");
        now.is_from_top = true;
        assert_eq!([5, 7].map(|at| word(&PLACES[at], &now)), ["38f", "-28f"]);
        assert_eq!(word(&Param::Channel(0), &now), "memory");
    }
}
