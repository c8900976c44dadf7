//! Named options, as commands and languages give them.

use crate::colormap::Colormap;
use crate::layout::Layout;
use crate::look::{Channel, End, Look, Range};
use crate::refusal::Refusal;

/// How to interpret and show an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// Order of the axes.
    pub layout: Layout,
    /// How numbers become colours.
    pub look: Look,
}

impl Default for Request {
    fn default() -> Self {
        Self { layout: Layout::GUESSED, look: Look::default() }
    }
}

/// An option of a command: a text that changes a [`Request`].
#[derive(Debug, Clone, Copy)]
pub struct RequestOption {
    /// Name, without dashes.
    pub name: &'static str,
    /// Placeholder of the value in help.
    pub value: &'static str,
    /// Help text.
    pub help: &'static str,
    set: fn(&mut Request, &str) -> Result<(), Refusal>,
}

impl RequestOption {
    /// Changes the request as the text says.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for an invalid text, with the valid ones.
    pub fn set(&self, request: &mut Request, text: &str) -> Result<(), Refusal> {
        (self.set)(request, text)
    }
}

/// Options of every command that shows an array.
pub static OPTIONS: [RequestOption; 6] = [
    RequestOption {
        name: "range",
        value: "ENDS",
        help: "numbers to show from black to white: minmax, symmetric, or both ends such as 0,255 or 1%,99%",
        set: |request, text| Range::named(text).map(|range| request.look.range = range),
    },
    RequestOption {
        name: "colormap",
        value: "NAME",
        help: "colormap for one channel: viridis, magma, turbo, rdbu or grey",
        set: |request, text| Colormap::parse(text).map(|map| request.look.colormap = Some(map)),
    },
    RequestOption {
        name: "layout",
        value: "AXES",
        help: "a letter for each axis, such as CHW; by default guessed from the shape",
        set: |request, text| Layout::named(text).map(|layout| request.layout = layout),
    },
    RequestOption {
        name: "channel",
        value: "WHICH",
        help: "one channel, counted from 0; for complex numbers magnitude, phase, real or imaginary",
        set: |request, text| Channel::named(text).map(|channel| request.look.channel = Some(channel)),
    },
    RequestOption {
        name: "exposure",
        value: "STOPS",
        help: "brighten by this many stops, after the range",
        set: |request, text| number("exposure", text).map(|stops| request.look.exposure = stops),
    },
    RequestOption {
        name: "gamma",
        value: "GAMMA",
        help: "raise numbers to 1/gamma, after the exposure",
        set: |request, text| number("gamma", text).map(|gamma| request.look.gamma = gamma),
    },
];

fn number(name: &str, text: &str) -> Result<f32, Refusal> {
    text.trim().parse().map_err(|_| Refusal::Shape(format!("{name}: '{text}' is not a number")))
}

fn one_of(name: &str, given: &str, known: &[&str]) -> Refusal {
    Refusal::Shape(format!("unknown {name}='{given}'; use {}", known.join(", ")))
}

impl Range {
    /// Parses a range: `minmax`, `symmetric`, or two ends separated by a comma.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for any other text.
    pub fn named(text: &str) -> Result<Self, Refusal> {
        let ends = || {
            let (low, high) = text.split_once(',')?;
            Some(Self::Between(End::named(low)?, End::named(high)?))
        };
        match text {
            "minmax" => Ok(Self::MINMAX),
            "symmetric" => Ok(Self::Symmetric),
            _ => ends().ok_or_else(|| one_of("range", text, &["minmax", "symmetric", "ends such as 0,255 or 1%,99%"])),
        }
    }
}

impl End {
    /// Parses a number, or a percentile such as `99%`.
    pub fn named(text: &str) -> Option<Self> {
        match text.trim().strip_suffix('%') {
            Some(part) => part.parse().ok().map(Self::Percent),
            None => text.trim().parse().ok().map(Self::Value),
        }
    }
}

impl Colormap {
    /// Parses the name of a map.
    ///
    /// # Errors
    /// [`Refusal::Shape`] with the valid names.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        Self::named(name).ok_or_else(|| one_of("colormap", name, &Self::ALL.map(|(_, name)| name)))
    }
}

impl Channel {
    /// Parses the number of a channel, or the name of a part of complex numbers.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for any other text.
    pub fn named(text: &str) -> Result<Self, Refusal> {
        if let Ok(number) = text.trim().parse() {
            return Ok(Self::Number(number));
        }
        let part = Self::PARTS.into_iter().find(|(name, _)| *name == text).map(|(_, part)| Self::Part(part));
        part.ok_or_else(|| one_of("channel", text, &["a number from 0", "magnitude", "phase", "real", "imaginary"]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::{ComplexPart, Pair};

    fn asked(given: &[(&str, &str)]) -> Result<Request, Refusal> {
        let mut request = Request::default();
        for (name, text) in given {
            OPTIONS.iter().find(|option| option.name == *name).unwrap().set(&mut request, text)?;
        }
        Ok(request)
    }

    #[test]
    fn every_option_changes_what_its_name_says() {
        let given = [
            ("range", "-1,99%"),
            ("colormap", "magma"),
            ("layout", "CHW"),
            ("channel", "phase"),
            ("exposure", "-1.5"),
            ("gamma", "2.2"),
        ];
        assert!(OPTIONS.iter().all(|option| given.iter().any(|(name, _)| *name == option.name)));
        let Request { layout, look } = asked(&given).unwrap();
        assert_eq!(layout, Layout::named("CHW").unwrap());
        assert_eq!(look.range, Range::Between(End::Value(-1.0), End::Percent(99.0)));
        assert_eq!((look.exposure, look.gamma, look.colormap), (-1.5, 2.2, Some(Colormap::Magma)));
        assert_eq!(look.channel, Some(Channel::Part(ComplexPart::Of(Pair::Phase))));
        assert_eq!(asked(&[("range", "minmax"), ("channel", "2")]).unwrap().look.channel, Some(Channel::Number(2)));
        assert_eq!(asked(&[]).unwrap(), Request::default());
    }

    #[test]
    fn what_means_nothing_says_what_there_is() {
        for (name, text, said) in [
            ("range", "wide", "minmax, symmetric"),
            ("range", "1,2,3", "0,255"),
            ("range", "%,%", "1%,99%"),
            ("colormap", "jet", "viridis"),
            ("layout", "HWX", "name each axis"),
            ("channel", "-1", "magnitude"),
            ("exposure", "bright", "not a number"),
            ("gamma", "", "not a number"),
        ] {
            let refused = asked(&[(name, text)]).unwrap_err().to_string();
            assert!(refused.contains(name) && refused.contains(said), "{refused}");
        }
    }
}
