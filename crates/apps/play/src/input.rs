//! Inputs that every shader can name: the moment of a frame and the clock that gives it, sliders, and where each is among a
//! launch's arguments.

use lazy_regex::{Lazy, Regex, lazy_regex};
use pixelferry::{Arg, ComputeMemory, Extent};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant, SystemTime};

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
    /// Returns the launch argument with one of these numbers, or with a channel's memory.
    pub fn argument<'a>(&self, values: &[f64], channels: [Option<&'a dyn ComputeMemory>; CHANNELS]) -> Option<Arg<'a>> {
        let value = |at: &usize| values.get(*at).copied().unwrap_or(0.0);
        Some(match self {
            Self::Float(at) => Arg::F32(value(at) as f32),
            Self::Int(at) => Arg::I32(value(at) as i32),
            Self::Uint(at) => Arg::U32(value(at) as u32),
            Self::Channel(at) => Arg::Memory((*channels.get(*at)?)?),
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

/// How far a step advances a paused clock.
const STEP: Duration = Duration::from_micros(16_667);
/// Longest time between two frames. After a longer pause of the whole program, time continues where it was.
const MOST: Duration = Duration::from_secs(1);

/// Time that the frames are given: seconds since the start, the time of a frame, and its number.
#[derive(Debug)]
pub struct Clock {
    /// Time per frame; `None` follows the real time.
    step: Option<Duration>,
    /// When it was created; steps start there.
    begun: SystemTime,
    time: Duration,
    delta: Duration,
    frame: i32,
    last: Option<Instant>,
    is_halted: bool,
}

impl Clock {
    /// A clock that starts with the first frame, in fixed steps if `step` is given.
    pub fn new(step: Option<Duration>) -> Self {
        let (begun, time, delta) = (SystemTime::now(), Duration::ZERO, STEP);
        Self { step, begun, time, delta, frame: 0, last: None, is_halted: false }
    }

    /// Pauses or continues.
    pub const fn toggle(&mut self) {
        self.is_halted = !self.is_halted;
        self.last = None;
    }

    /// Returns whether the clock is paused.
    pub const fn is_halted(&self) -> bool {
        self.is_halted
    }

    /// Starts again at 0.
    pub const fn rewind(&mut self) {
        (self.time, self.frame, self.last) = (Duration::ZERO, 0, None);
    }

    /// Returns the moment of the next frame. The pointer is unknown here.
    pub fn now(&self) -> Moment {
        let (time, delta) = (self.time.as_secs_f32(), self.delta.as_secs_f32());
        // Steps continue from today, so that a shader with a calendar shows a real one.
        let date = date(if self.step.is_some() { self.begun + self.time } else { SystemTime::now() });
        Moment { time, delta, frame: self.frame, mouse: [0.0; 4], date }
    }

    /// Advances after a frame. A paused clock advances only if `is_stepped`.
    pub fn go_on(&mut self, is_stepped: bool) {
        if self.is_halted && !is_stepped {
            return;
        }
        let now = Instant::now();
        let passed = self.last.replace(now).map_or(STEP, |last| now - last);
        self.delta = self.step.unwrap_or(if is_stepped { STEP } else { passed.min(MOST) });
        self.time = self.time.saturating_add(self.delta);
        self.frame = self.frame.wrapping_add(1);
    }
}

/// Year, month from 0, day and seconds of the day in UTC.
fn date(now: SystemTime) -> [f32; 4] {
    let date = jiff::Timestamp::try_from(now).unwrap_or_default().to_zoned(jiff::tz::TimeZone::UTC).datetime();
    let seconds = (date - date.date().to_datetime(jiff::civil::Time::midnight())).total(jiff::Unit::Second);
    [f32::from(date.year()), f32::from(date.month() - 1), f32::from(date.day()), seconds.unwrap_or(0.0) as f32]
}

/// Type of a slider's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SliderKind {
    /// Any number.
    Float,
    /// Whole numbers.
    Int,
    /// 0 or 1.
    Bool,
    /// 1 for the frame after it was pressed.
    Event,
}

/// A number that the user changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slider {
    /// Name in the shader. Components of a colour or a point have a dot and the component's name appended.
    pub name: String,
    /// Type of the number.
    pub kind: SliderKind,
    /// Minimum and maximum.
    pub limits: [f32; 2],
    /// Initial value.
    pub value: f32,
    /// The only valid numbers with their labels, if there are such.
    pub menu: Vec<(f32, String)>,
}

/// Annotation in a comment that declares a slider.
const MARK: &str = "@slider";
/// What follows it: name, limits, initial value and kind.
static SLIDER: Lazy<Regex> = lazy_regex!(r"^([A-Za-z_][0-9A-Za-z_]*)\s+(.+?)\.\.(.+?)(?:=(.+?))?(?:\s(int|bool))?$");
/// A word with this start is probably a misspelled annotation.
const MARK_BEGINS: &str = "@sl";

impl Slider {
    /// Returns the valid value nearest to `wish`.
    pub fn nearest(&self, wish: f32) -> f32 {
        let [least, most] = self.limits;
        let inside = if wish.is_nan() { self.value } else { wish.clamp(least, most) };
        let distance = |(own, _): &&(f32, String)| (own - inside).abs();
        let plain = if self.kind == SliderKind::Float { inside } else { inside.round() };
        self.menu.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).map_or(plain, |(own, _)| *own)
    }

    /// Reads `@slider NAME LEAST..MOST = VALUE`. The value defaults to the middle, and `int` or `bool` may follow.
    /// `None` for a line without the mark.
    ///
    /// # Errors
    /// Describes what is invalid.
    pub fn read(line: &str) -> Option<Result<Self, String>> {
        let Some((_, noted)) = line.split_once(MARK) else {
            let word = line.split_whitespace().find(|word| word.starts_with(MARK_BEGINS))?;
            return Some(Err(format!("unknown annotation '{word}'; write a slider as {MARK} speed 0..4 = 1")));
        };
        Some(Self::of(noted.trim().trim_end_matches("*/").trim()))
    }

    fn of(noted: &str) -> Result<Self, String> {
        let wrong = || format!("invalid slider '{MARK} {noted}'; write one as {MARK} speed 0..4 = 1");
        let found = SLIDER.captures(noted).ok_or_else(wrong)?;
        let number = |at: usize| {
            let number = found.get(at).map(|text| text.as_str().trim().parse::<f32>().ok());
            number.map(|number| number.filter(|number| number.is_finite()).ok_or_else(wrong)).transpose()
        };
        let [least, most] = [number(2)?, number(3)?].map(Option::unwrap_or_default);
        let kind = match found.get(5).map_or("", |kind| kind.as_str()) {
            "int" => SliderKind::Int,
            "bool" => SliderKind::Bool,
            _ => SliderKind::Float,
        };
        let value = number(4)?.unwrap_or(f32::midpoint(least, most));
        let slider = Self { name: found[1].to_owned(), kind, limits: [least, most], value, menu: Vec::new() };
        if least < most { Ok(Self { value: slider.nearest(value), ..slider }) } else { Err(wrong()) }
    }
}

/// Returns sliders as uniforms. Components of a colour or a point become one together.
pub fn slider_uniforms<'a>(sliders: &'a [Slider], values: &[f32]) -> Vec<(&'a str, Vec<f32>)> {
    fn name(slider: &Slider) -> &str {
        slider.name.split_once('.').map_or(&slider.name, |(name, _)| name)
    }
    let mut values = values.iter().copied();
    let uniforms = sliders.chunk_by(|one, next| name(one) == name(next));
    uniforms.map(|parts| (name(&parts[0]), values.by_ref().take(parts.len()).collect())).collect()
}

/// Declares these uniforms.
pub fn declarations(sliders: &[Slider]) -> String {
    let declared = |(name, values): (&str, Vec<f32>)| {
        let kind = match sliders.iter().find(|slider| slider.name == name).map(|slider| slider.kind) {
            Some(SliderKind::Float) => "float".to_owned(),
            Some(SliderKind::Int) => "int".to_owned(),
            Some(SliderKind::Bool | SliderKind::Event) => "bool".to_owned(),
            None => format!("vec{}", values.len()),
        };
        format!("uniform {kind} {name};\n")
    };
    slider_uniforms(sliders, &vec![0.0; sliders.len()]).into_iter().map(declared).collect()
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
        let word = |param: &Param, now: &[f64]| match param.argument(now, [None; CHANNELS]) {
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

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |seconds| date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), [1970.0, 0.0, 1.0, 0.0]);
        assert_eq!(at(951_782_400 + 3661), [2000.0, 1.0, 29.0, 3661.0]);
        assert_eq!(at(1_735_689_599), [2024.0, 11.0, 31.0, 86_399.0]);
    }

    #[test]
    fn a_halted_clock_steps_and_a_fixed_one_knows_no_other_time() {
        let mut clock = Clock::new(Some(Duration::from_millis(250)));
        clock.go_on(false);
        clock.go_on(false);
        assert_eq!((clock.now().time, clock.now().frame, clock.now().delta), (0.5, 2, 0.25));
        clock.toggle();
        clock.go_on(false);
        assert_eq!(clock.now().frame, 2);
        clock.go_on(true);
        assert_eq!((clock.now().time, clock.now().frame), (0.75, 3));
        clock.rewind();
        assert_eq!((clock.now().time, clock.now().frame, clock.is_halted()), (0.0, 0, true));
    }

    #[test]
    fn annotations_are_read_wherever_they_stand() {
        let read = |line: &str| Slider::read(line).map(|read| read.map(|s| (s.name, s.kind, s.limits, s.value)));
        let speed = |value| Some(Ok(("speed".to_owned(), SliderKind::Float, [0.0, 4.0], value)));
        assert_eq!(read("// @slider speed 0..4 = 1"), speed(1.0));
        assert_eq!(read("/* @slider speed 0 .. 4 */"), speed(2.0));
        assert_eq!(read("float x; // @slider speed 0..4 = 9"), speed(4.0));
        assert_eq!(read("# @slider n -3..3 = 1 int"), Some(Ok(("n".to_owned(), SliderKind::Int, [-3.0, 3.0], 1.0))));
        assert_eq!(read("// a slider"), None);
        assert!(read("// @slidr speed 0..4").unwrap().unwrap_err().contains("unknown annotation '@slidr'"));
        for wrong in ["speed", "speed 4..0", "2x 0..1", "a-b 0..1", "x 0..inf", "x 0,1"] {
            let said = Slider::read(&format!("// @slider {wrong}")).unwrap().unwrap_err();
            assert!(said.contains("@slider speed 0..4 = 1"), "{said}");
        }
    }
}
