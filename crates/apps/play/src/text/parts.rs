//! Common parts of the languages: parameters by index, and words of a text.

use crate::error::PlayError;
use crate::input::{CHANNELS, MOST_SLIDERS, PLACES, Param};
use crate::pass::Piece;
use crate::slider::Slider;

/// Checks that a launch has room for this many sliders.
pub fn few(sliders: &[Slider]) -> Result<(), PlayError> {
    let count = sliders.len();
    if count > MOST_SLIDERS {
        let text = format!("too many sliders: {count}, this language has at most {MOST_SLIDERS}");
        return Err(PlayError::Option(text));
    }
    Ok(())
}

/// Parameters of languages that read numbers by index: inputs, sliders, and channels that are set.
pub fn by_place(sliders: &[Slider], channels: impl Iterator<Item = usize>) -> Vec<Param> {
    let own = sliders.iter().enumerate().map(|(at, slider)| Param::of_slider(at, slider.kind));
    PLACES.into_iter().chain(own).chain(channels.map(Param::Channel)).collect()
}

/// Channels of a file that are set.
pub fn bound(piece: &Piece) -> impl Iterator<Item = usize> + '_ {
    (0..CHANNELS).filter(|at| piece.channels[*at].is_some())
}

/// Words of a text that may be names, including those in comments.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Returns whether a text contains this name.
pub fn names(text: &str, name: &str) -> bool {
    words(text).any(|word| word == name)
}
