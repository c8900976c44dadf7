//! Keys of the window.

/// Action of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    Pause,
    Step,
    Rewind,
    Panel,
    Reset,
    Save,
}

/// Keys by what they type or by name, with action and help text.
const KEYS: [(&str, KeyAction, &str); 6] = [
    ("Space", KeyAction::Pause, "pause; again to continue"),
    (".", KeyAction::Step, "next frame, during a pause"),
    ("r", KeyAction::Rewind, "restart: time, frames and buffers"),
    ("0", KeyAction::Reset, "reset the sliders"),
    ("s", KeyAction::Save, "save the picture beside the shader"),
    ("F1", KeyAction::Panel, "show or hide the panel"),
];

/// Returns the action of a key.
pub fn deed(key: &str) -> Option<KeyAction> {
    let key = if key == " " { "Space".to_owned() } else { key.to_owned() };
    KEYS.iter().find(|(name, ..)| name.eq_ignore_ascii_case(&key)).map(|(_, deed, _)| *deed)
}

/// Formats the keys as lines of text.
pub fn keys() -> String {
    let lines =
        KEYS.iter().map(|(key, _, about)| format!("  {:5}  {about}\n", key.to_uppercase().replace("SPACE", "Space")));
    lines.collect::<String>() + "  Escape closes; dragging with a mouse button moves iMouse"
}

#[test]
fn keys_are_found_by_what_they_type() {
    assert_eq!(
        [" ", ".", "R", "f1", "x"].map(deed),
        [Some(KeyAction::Pause), Some(KeyAction::Step), Some(KeyAction::Rewind), Some(KeyAction::Panel), None]
    );
    assert!(KEYS.iter().all(|(_, _, about)| keys().contains(about)));
}
