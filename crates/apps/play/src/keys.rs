//! The keyboard that shaders read.

use pixelferry::Extent;

/// Keys as Shadertoy's texture of them: one row each for the keys that are down, were pressed in this frame, and were
/// pressed an odd number of times. Columns are key codes of browsers.
#[derive(Debug, Clone)]
pub struct Keyboard([[u8; 256]; 3]);

/// Codes of keys that type no letter or digit.
const CODES: &str = "Backspace=8 Tab=9 Enter=13 Shift=16 Control=17 Alt=18 Escape=27 Space=32 PageUp=33 PageDown=34 \
                     End=35 Home=36 ArrowLeft=37 ArrowUp=38 ArrowRight=39 ArrowDown=40 Insert=45 Delete=46";

impl Default for Keyboard {
    fn default() -> Self {
        Self([[0; 256]; 3])
    }
}

impl Keyboard {
    pub(crate) const SIZE: Extent = Extent::new(256, 3);

    /// Presses or releases a key, by what it types or by name.
    pub fn press(&mut self, key: &str, is_down: bool) {
        let code = match key.as_bytes() {
            [letter] => Some(letter.to_ascii_uppercase()),
            [b'F', ..] => key[1..].parse().ok().map(|number: u8| number.saturating_add(111)),
            _ => CODES.split(' ').find_map(|code| code.strip_prefix(key)?.strip_prefix('=')?.parse().ok()),
        };
        let (Some(code), [down, pressed, toggled]) = (code.map(usize::from), &mut self.0) else { return };
        if is_down && down[code] == 0 {
            pressed[code] = 255;
            toggled[code] ^= 255;
        }
        down[code] = if is_down { 255 } else { 0 };
    }

    /// Forgets which keys were pressed in a frame.
    pub(crate) const fn end_frame(&mut self) {
        self.0[1] = [0; 256];
    }

    /// Returns RGBA pixels; red is 255 where a key is on.
    pub(crate) fn pixels(&self) -> Vec<u8> {
        self.0.as_flattened().iter().flat_map(|on| [*on, 0, 0, 255]).collect()
    }
}
