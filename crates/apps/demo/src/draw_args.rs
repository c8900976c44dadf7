//! Command-line options for drawing pictures.

use crate::values::one_of;
use clap::Args;
use pixelferry::driver::draw::Plan;
use pixelferry::{DrawOptions, Encoding, Extent, Filter, Fit, ImageDesc, PixelFormat, ToneMap};

/// Options of programs that draw a picture.
#[derive(Debug, Clone, Copy, PartialEq, Args)]
pub struct DrawArgs {
    /// How to fit the picture into the window.
    #[arg(long, default_value_t = Fit::Contain, value_parser = one_of::<Fit>(Fit::ALL.map(Fit::name)))]
    pub fit: Fit,
    /// Tone map for light brighter than 1: none, clamp, reinhard, reinhard:WHITE, aces or aces-narkowicz. Needs a
    /// picture of light.
    #[arg(long, value_name = "MAP", default_value_t, value_parser = parse_tone_map)]
    pub tone_map: ToneMap,
    /// Brighten light by this many stops, before the tone map.
    #[arg(long, value_name = "STOPS", default_value_t, allow_negative_numbers = true, value_parser = parse_exposure)]
    pub exposure: f32,
    /// Colour beside the picture and behind translucent pixels, as RRGGBB.
    #[arg(long, value_name = "COLOUR", value_parser = parse_color)]
    pub background: Option<[f32; 3]>,
}

impl Default for DrawArgs {
    fn default() -> Self {
        Self { fit: Fit::Contain, tone_map: ToneMap::None, exposure: 0.0, background: None }
    }
}

impl DrawArgs {
    /// Returns options of a draw: smooth scaling, except that integer multiples show the pixels.
    pub fn draw_options(&self) -> DrawOptions {
        let Self { fit, tone_map, exposure, background } = *self;
        let filter = if fit == Fit::Integer { Filter::Nearest } else { Filter::Linear };
        DrawOptions::default()
            .with_fit(fit)
            .with_filter(filter)
            .with_tone_map(tone_map)
            .with_exposure(exposure)
            .with_background(background)
    }

    /// Returns whether light is exposed or mapped, which needs a picture whose encoding is known.
    pub fn changes_light(&self) -> bool {
        self.tone_map != ToneMap::None || self.exposure != 0.0
    }
}

/// Help for tone maps.
fn parse_tone_map(text: &str) -> Result<ToneMap, String> {
    text.parse().map_err(|_| "use none, clamp, reinhard, reinhard:WHITE (above 0), aces or aces-narkowicz".to_owned())
}

/// Parses a number of stops.
fn parse_exposure(text: &str) -> Result<f32, String> {
    let exposure = text.parse().map_err(|e| format!("give a number of stops: {e}"))?;
    // Drawing checks the valid numbers.
    let light = ImageDesc::new(1, 1, PixelFormat::Rgba16F).with_encoding(Encoding::Linear);
    let plan = Plan::new(&light, Extent::new(1, 1), &DrawOptions::default().with_exposure(exposure));
    plan.map(|_| exposure).map_err(|e| e.to_string())
}

/// Parses `RRGGBB`, with or without `#`.
fn parse_color(text: &str) -> Result<[f32; 3], String> {
    const ASKED: &str = "give a colour as RRGGBB, such as 202020";
    let digits = text.strip_prefix('#').unwrap_or(text);
    if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(ASKED.into());
    }
    let number = u32::from_str_radix(digits, 16).map_err(|e| format!("{ASKED}: {e}"))?;
    Ok([16, 8, 0].map(|shift| (number >> shift & 255) as f32 / 255.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, Parser as _};

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        draw_args: DrawArgs,
    }

    #[test]
    fn help_lists_what_is_read_and_so_does_a_refusal() {
        let help = Cli::command().render_help().to_string();
        for map in ["none", "clamp", "reinhard", "reinhard:WHITE", "aces", "aces-narkowicz"] {
            let given = map.replace("WHITE", "4");
            Cli::try_parse_from(["demo", "--tone-map", &given]).unwrap();
            assert!(help.contains(map), "{help}");
        }
        for fit in Fit::ALL.map(Fit::name) {
            Cli::try_parse_from(["demo", "--fit", fit]).unwrap();
            assert!(help.contains(fit), "{help}");
        }
        for wrong in [["--fit", "tight"], ["--tone-map", "film"], ["--tone-map", "reinhard:0"]] {
            let said = Cli::try_parse_from(["demo"].iter().chain(&wrong)).err().unwrap().to_string();
            let names = if wrong[0] == "--fit" { "stretch, contain, cover" } else { "aces or aces-narkowicz" };
            assert!(said.contains(names) && !said.contains("::"), "{said}");
        }
    }

    #[test]
    fn colours_are_read_or_refused() {
        assert_eq!(parse_color("#ff0033"), Ok([1.0, 0.0, 0.2]));
        assert_eq!(parse_color("000000"), Ok([0.0; 3]));
        for wrong in ["", "fff", "#gggggg", "+12345", "1234567", "é12345"] {
            assert!(parse_color(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn stops_are_read_or_refused() {
        assert_eq!(["-1.5", "0", "32"].map(|text| parse_exposure(text).unwrap()), [-1.5, 0.0, 32.0]);
        for wrong in ["", "bright", "33", "NaN", "-inf"] {
            assert!(parse_exposure(wrong).unwrap_err().contains("stops"), "{wrong}");
        }
    }
}
