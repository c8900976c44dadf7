//! Sliders: numbers with limits that a shader declares and the user changes.

use lazy_regex::{Lazy, Regex, lazy_regex};
use serde::{Deserialize, Serialize};

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
        if let Some((own, _)) = self.menu.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) {
            return *own;
        }
        if self.kind == SliderKind::Float { inside } else { inside.round() }
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
pub fn uniforms<'a>(sliders: &'a [Slider], values: &[f32]) -> Vec<(&'a str, Vec<f32>)> {
    let mut uniforms: Vec<(&str, Vec<f32>)> = Vec::new();
    for (Slider { name, .. }, value) in sliders.iter().zip(values) {
        let own = name.split_once('.').map_or(name.as_str(), |(own, _)| own);
        match uniforms.last_mut().filter(|(last, _)| *last == own) {
            Some((_, values)) => values.push(*value),
            None => uniforms.push((own, vec![*value])),
        }
    }
    uniforms
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
    uniforms(sliders, &vec![0.0; sliders.len()]).into_iter().map(declared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
