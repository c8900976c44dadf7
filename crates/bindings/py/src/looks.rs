//! Options, by name, of how numbers become colours.

use crate::failure::{Failure, answer};
use pixelferry_look::{Channel, Colormap, End, Layout, Look, OPTIONS, Range, Request};
use pyo3::prelude::*;

/// Options from Python.
pub struct LookArgs<'a, 'py> {
    pub layout: Option<&'a str>,
    pub range: Option<&'a Bound<'py, PyAny>>,
    pub exposure: f32,
    pub gamma: f32,
    pub colormap: Option<&'a str>,
    pub channel: Option<&'a Bound<'py, PyAny>>,
    pub marks: Option<bool>,
}

impl LookArgs<'_, '_> {
    pub fn request(&self) -> Result<Request, Failure> {
        let look = Look {
            range: self.range.map_or(Ok(Range::OfType), range)?,
            exposure: self.exposure,
            gamma: self.gamma,
            colormap: self.colormap.map(Colormap::parse).transpose()?,
            channel: self.channel.map(channel).transpose()?,
            marks: self.marks,
        };
        look.check()?;
        Ok(Request { layout: layout(self.layout)?, look })
    }
}

/// The order of an array's axes.
pub fn layout(name: Option<&str>) -> Result<Layout, Failure> {
    Ok(name.map_or(Ok(Layout::GUESSED), Layout::named)?)
}

fn range(given: &Bound<'_, PyAny>) -> Result<Range, Failure> {
    if let Ok(name) = given.extract::<String>() {
        return Ok(Range::named(&name)?);
    }
    let ends: Vec<Bound<'_, PyAny>> = answer(given.py(), given.extract())?.unwrap_or_default();
    let ends = ends.iter().map(end).collect::<Result<Vec<_>, _>>()?;
    match ends.into_iter().collect::<Option<Vec<_>>>().as_deref() {
        Some([low, high]) => Ok(Range::Between(*low, *high)),
        _ => {
            let lines = "(0, 1), ('1%', '99%'), 'minmax' or 'symmetric'";
            Err(Failure::Shape(format!("range={given} is invalid; give two numbers or a name, such as {lines}")))
        }
    }
}

/// A number, or a percentile such as "99%".
fn end(given: &Bound<'_, PyAny>) -> Result<Option<End>, Failure> {
    Ok(match given.extract::<String>() {
        Ok(text) => End::named(&text).filter(|end| matches!(end, End::Percent(_))),
        Err(_) => answer(given.py(), given.extract())?.ok().map(End::Value),
    })
}

fn channel(given: &Bound<'_, PyAny>) -> Result<Channel, Failure> {
    match answer(given.py(), given.extract())? {
        Ok(number) => Ok(Channel::Number(number)),
        Err(_) => Ok(Channel::named(&given.to_string())?),
    }
}

/// Options of a command that shows arrays: name, value and help text of each.
#[pyfunction]
pub fn _look_options() -> Vec<(&'static str, &'static str, &'static str)> {
    OPTIONS.iter().map(|option| (option.name, option.value, option.help)).collect()
}
