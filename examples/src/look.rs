//! How pictures are shown, as said on the command line.

use clap::Args;
use pixelferry::{DrawOptions, Fit, ToneMap};

/// Options of examples that show a picture.
#[derive(Debug, Clone, Copy, Args)]
pub struct LookOptions {
    /// How the picture is fitted: stretch, contain, cover, integer or none. [default: the scene's own]
    #[arg(long)]
    pub fit: Option<Fit>,
    /// How bright light is brought down: none, clamp, reinhard, reinhard:WHITE, aces or aces-narkowicz. Needs a picture of
    /// light.
    #[arg(long, value_name = "MAP", default_value_t)]
    pub tone_map: ToneMap,
    /// Stops by which light is exposed before that.
    #[arg(long, value_name = "STOPS", default_value_t = 0.0, allow_negative_numbers = true)]
    pub exposure: f32,
    /// What is beside the picture, as RRGGBB.
    #[arg(long, value_name = "COLOUR", value_parser = parse_color)]
    pub background: Option<[f32; 3]>,
}

impl LookOptions {
    /// The look of a scene that would else be fitted by `fit`.
    pub fn draw_options(&self, fit: Fit) -> DrawOptions {
        DrawOptions {
            fit: self.fit.unwrap_or(fit),
            tone_map: self.tone_map,
            exposure: self.exposure,
            background: self.background,
            ..DrawOptions::default()
        }
    }
}

/// Reads `RRGGBB`, with or without `#`.
fn parse_color(text: &str) -> Result<[f32; 3], String> {
    const ASKED: &str = "give it as RRGGBB, e.g. 202020";
    let digits = text.strip_prefix('#').unwrap_or(text);
    if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(ASKED.into());
    }
    let number = u32::from_str_radix(digits, 16).map_err(|e| format!("{ASKED}: {e}"))?;
    Ok([16, 8, 0].map(|shift| (number >> shift & 255) as f32 / 255.0))
}

#[cfg(test)]
mod tests {
    use super::parse_color;

    #[test]
    fn colours_are_read_or_refused() {
        assert_eq!(parse_color("#ff0033"), Ok([1.0, 0.0, 0.2]));
        assert_eq!(parse_color("000000"), Ok([0.0; 3]));
        for wrong in ["", "fff", "#gggggg", "+12345", "1234567", "é12345"] {
            assert!(parse_color(wrong).is_err(), "{wrong}");
        }
    }
}
