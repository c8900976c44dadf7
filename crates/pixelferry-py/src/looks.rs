//! Options by name of how numbers become colours.

use crate::failure::Failure;
use crate::named::one_of;
use pixelferry_look::{Channel, Colormap, End, Layout, Look, Range};
use pyo3::prelude::*;

/// What Python asks for.
pub struct Asked<'a, 'py> {
    pub range: Option<&'a Bound<'py, PyAny>>,
    pub exposure: f32,
    pub gamma: f32,
    pub colormap: Option<&'a str>,
    pub channel: Option<&'a Bound<'py, PyAny>>,
    pub marks: bool,
}

impl Asked<'_, '_> {
    pub fn look(&self) -> Result<Look, Failure> {
        let look = Look {
            range: self.range.map_or(Ok(Range::OfType), range)?,
            exposure: self.exposure,
            gamma: self.gamma,
            colormap: self.colormap.map(colormap).transpose()?,
            channel: self.channel.map(channel).transpose()?,
            marks: self.marks,
        };
        look.check()?;
        Ok(look)
    }
}

/// The order of an array's axes.
pub fn layout(name: Option<&str>) -> Result<Layout, Failure> {
    Ok(name.map_or(Ok(Layout::GUESSED), Layout::named)?)
}

fn range(given: &Bound<'_, PyAny>) -> Result<Range, Failure> {
    let named = [("minmax", Range::MINMAX), ("symmetric", Range::Symmetric)];
    if let Ok(name) = given.extract::<String>() {
        let known = named.into_iter().find(|(known, _)| *known == name).map(|(_, range)| range);
        return known.ok_or_else(|| one_of("range", &name, &["minmax", "symmetric", "(low, high)", "('1%', '99%')"]));
    }
    let ends: Vec<Bound<'_, PyAny>> = given.extract().unwrap_or_default();
    match ends.iter().map(end).collect::<Option<Vec<_>>>().as_deref() {
        Some([low, high]) => Ok(Range::Between(*low, *high)),
        _ => {
            let lines = "(0, 1), ('1%', '99%'), 'minmax' or 'symmetric'";
            Err(Failure::Shape(format!("range={given} is no range of numbers; give one such as {lines}")))
        }
    }
}

/// A number, or a percentile such as "99%".
fn end(given: &Bound<'_, PyAny>) -> Option<End> {
    match given.extract::<String>() {
        Ok(text) => text.strip_suffix('%')?.parse().ok().map(End::Percent),
        Err(_) => given.extract().ok().map(End::Value),
    }
}

fn colormap(name: &str) -> Result<Colormap, Failure> {
    Colormap::named(name).ok_or_else(|| one_of("colormap", name, &Colormap::ALL.map(|(_, name)| name)))
}

fn channel(given: &Bound<'_, PyAny>) -> Result<Channel, Failure> {
    if let Ok(number) = given.extract() {
        return Ok(Channel::Number(number));
    }
    let name = given.to_string();
    let known = Channel::PARTS.into_iter().find(|(known, _)| *known == name).map(|(_, part)| Channel::Part(part));
    known.ok_or_else(|| one_of("channel", &name, &["a number from 0", "magnitude", "phase", "real", "imaginary"]))
}
