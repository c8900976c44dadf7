//! Keys of the window.

/// Deed of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Pause,
    Step,
    Rewind,
    Panel,
    Reset,
    Save,
}

/// A key by what it types, or by its name; what it does; and in words.
const KEYS: [(&str, Deed, &str); 6] = [
    ("Space", Deed::Pause, "halt the time; again to go on"),
    (".", Deed::Step, "one frame further, in a pause"),
    ("r", Deed::Rewind, "begin again: time, frames and buffers"),
    ("0", Deed::Reset, "sliders as the text has them"),
    ("s", Deed::Save, "save the picture beside the text"),
    ("F1", Deed::Panel, "hide or show the panel"),
];

/// The deed of a key.
pub fn deed(key: &str) -> Option<Deed> {
    let key = if key == " " { "Space".to_owned() } else { key.to_owned() };
    KEYS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&key)).map(|(_, deed, _)| *deed)
}

/// The keys as lines of text.
pub fn keys() -> String {
    let lines =
        KEYS.iter().map(|(key, _, about)| format!("  {:5}  {about}\n", key.to_uppercase().replace("SPACE", "Space")));
    lines.collect::<String>() + "  Escape closes; a button of the mouse, held down, moves iMouse"
}

#[test]
fn keys_are_found_by_what_they_type() {
    assert_eq!(
        [" ", ".", "R", "f1", "x"].map(deed),
        [Some(Deed::Pause), Some(Deed::Step), Some(Deed::Rewind), Some(Deed::Panel), None]
    );
    assert!(KEYS.iter().all(|(_, _, about)| keys().contains(about)));
}
