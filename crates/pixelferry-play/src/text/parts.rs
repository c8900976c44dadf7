//! What the languages have in common: parameters by place, and words of a text.

use crate::error::PlayError;
use crate::input::{CHANNELS, MOST_SLIDERS, PLACES, Param};
use crate::pass::Piece;
use crate::slider::Slider;

/// Finds out whether a launch takes so many sliders by place.
pub fn few(sliders: &[Slider]) -> Result<(), PlayError> {
    let count = sliders.len();
    if count > MOST_SLIDERS {
        let text = format!("there are {count} sliders, and a text of this language has at most {MOST_SLIDERS}");
        return Err(PlayError::Option(text));
    }
    Ok(())
}

/// Parameters of texts that read numbers by place: the usual ones, the sliders, and the channels that are there.
pub fn by_place(sliders: &[Slider], channels: impl Iterator<Item = usize>) -> Vec<Param> {
    let own = sliders.iter().enumerate().map(|(at, slider)| Param::of_slider(at, slider.kind));
    PLACES.into_iter().chain(own).chain(channels.map(Param::Channel)).collect()
}

/// Channels of a piece that are there.
pub fn bound(piece: &Piece) -> impl Iterator<Item = usize> + '_ {
    (0..CHANNELS).filter(|at| matches!(piece.channels.get(*at), Some(Some(_))))
}

/// The words of a text that may be names; those of comments, too.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// True where a text names this.
pub fn names(text: &str, name: &str) -> bool {
    words(text).any(|word| word == name)
}
