//! Keys of the window. They are those of tev where tev has the same function.

use crate::ring::FrameStep;
use pixelferry::api::gl::winit::keyboard::Key as Logical;
#[cfg(test)]
use pixelferry::api::gl::winit::keyboard::NamedKey;
use pixelferry_look::{Colormap, End, Look, Range};

/// Exposure per press, in stops.
const STOPS: f32 = 0.5;

/// One press moves an end of the range by this part of the range.
pub const STEP: f64 = 1.0 / 32.0;

/// Action of a key.
#[derive(Debug, Clone, Copy)]
pub enum KeyAction {
    /// Changes the look, given the initial range; true with Shift.
    Look(fn(&mut Look, Range, bool)),
    /// Moves the lower (0) or upper (1) end of the range.
    End(usize),
    Fit,
    OneToOne,
    /// Shows the array this many positions further.
    Step(isize),
    /// Shows the array at the position that the key names.
    Position,
    Difference,
    Pause,
    /// Pauses and shows the previous or next frame.
    Frame(FrameStep),
    /// Marks numbers outside the range, or no longer does.
    Marks,
    Chart,
    Heights,
    Save,
    Help,
}

/// A key and its action.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Character of the key without Shift.
    pub key: char,
    /// The action in words, for help.
    pub about: &'static str,
    pub(crate) deed: KeyAction,
}

const fn key(key: char, about: &'static str, deed: KeyAction) -> Key {
    Key { key, about, deed }
}

/// All keys except Escape, which closes the window.
pub static KEYS: [Key; 19] = [
    key(']', "next array; so do Right and Page Down", KeyAction::Step(1)),
    key('[', "previous array; so do Left and Page Up", KeyAction::Step(-1)),
    key('1', "first array; 2 to 9 show the others", KeyAction::Position),
    key('d', "this array minus the one shown before, or the next one; again to leave", KeyAction::Difference),
    key(' ', "pause; again to continue with the newest frame", KeyAction::Pause),
    key(',', "pause, and go back one frame of a changing array", KeyAction::Frame(FrameStep::Back)),
    key('.', "next frame", KeyAction::Frame(FrameStep::Forward)),
    key('f', "fit the whole picture into the window", KeyAction::Fit),
    key('0', "original size, pixel by pixel", KeyAction::OneToOne),
    key(
        'e',
        "brighter by half a stop; with Shift, darker",
        KeyAction::Look(|look, _, shift| look.exposure += if shift { -STOPS } else { STOPS }),
    ),
    key('c', "next colormap; with Shift, previous", KeyAction::Look(|look, _, shift| colour(look, shift))),
    key(
        'r',
        "next range: the initial one, all of the type, minimum to maximum, 1% to 99%",
        KeyAction::Look(|look, asked, _| look.range = after(&ranges(asked), look.range)),
    ),
    key('b', "move the lower end of the range up; with Shift, down", KeyAction::End(0)),
    key('w', "move the upper end of the range up; with Shift, down", KeyAction::End(1)),
    key('m', "mark numbers outside the range, or do not", KeyAction::Marks),
    key('h', "histogram: drag an end of the range; double-click to reset it", KeyAction::Chart),
    key('l', "logarithmic histogram", KeyAction::Heights),
    key('s', "save the picture", KeyAction::Save),
    key('?', "show these keys; so does F1", KeyAction::Help),
];

/// Returns the row of a key.
pub fn row(key: char) -> Option<&'static Key> {
    let first = if ('2'..='9').contains(&key) { '1' } else { key.to_ascii_lowercase() };
    KEYS.iter().find(|row| row.key == first)
}

/// Returns the character of a key, given what it types or its name on the web.
pub fn character(key: &str) -> Option<char> {
    let mut typed = key.chars();
    match key {
        "ArrowRight" | "PageDown" => Some(']'),
        "ArrowLeft" | "PageUp" => Some('['),
        "F1" => Some('?'),
        "Space" => Some(' '),
        _ => typed.next().filter(|_| typed.next().is_none()),
    }
}

/// Returns the web's name of a key of the window system.
pub fn name_of(key: &Logical) -> String {
    match key {
        Logical::Character(text) => text.to_string(),
        Logical::Named(name) => format!("{name:?}"),
        _ => String::new(),
    }
}

/// Formats the keys as lines of text.
pub fn keys() -> String {
    let name = |key: char| if key == ' ' { "Space".into() } else { key.to_ascii_uppercase().to_string() };
    KEYS.iter().map(|key| format!("  {}  {}\n", name(key.key), key.about)).collect::<String>()
        + "Escape closes; the wheel zooms at the pointer, dragging moves the picture\n  Arrays share the settings and \
           the visible part, but each has its\n  own measured range. A difference has its own settings."
}

fn ranges(asked: Range) -> Vec<Range> {
    let mut all = vec![asked];
    let percentiles = Range::Between(End::Percent(1.0), End::Percent(99.0));
    for range in [Range::OfType, Range::MINMAX, percentiles] {
        if !all.contains(&range) {
            all.push(range);
        }
    }
    all
}

fn colour(look: &mut Look, back: bool) {
    let mut maps = Colormap::ALL.map(|(map, _)| map);
    if back {
        maps.reverse();
    }
    look.colormap = Some(after(&maps, look.colormap.unwrap_or(Colormap::Grey)));
}

/// Returns the item after `now`, or the first.
fn after<T: Copy + PartialEq>(all: &[T], now: T) -> T {
    let at = all.iter().position(|one| *one == now).map_or(0, |at| (at + 1) % all.len());
    all[at]
}

#[test]
fn colormaps_and_ranges_go_round() {
    let mut look = Look::default();
    let seen: Vec<_> = Colormap::ALL
        .iter()
        .map(|_| {
            colour(&mut look, false);
            look.colormap
        })
        .collect();
    assert_eq!(seen.last(), Some(&Some(Colormap::Grey)));
    assert!(Colormap::ALL.iter().all(|(map, _)| seen.contains(&Some(*map))));
    colour(&mut look, true);
    assert_eq!(look.colormap, Some(Colormap::RedBlue));
    assert_eq!(ranges(Range::MINMAX).len(), 3);
    assert_eq!(after(&ranges(Range::Symmetric), Range::Symmetric), Range::OfType);
}

#[test]
fn keys_are_found_by_character_and_by_name() {
    let of = |key: &str| character(key).and_then(row).map(|row| row.key);
    assert_eq!(
        ["PageUp", "[", "ArrowRight", "7", "E", "Space", " "].map(of),
        ['[', '[', ']', '1', 'e', ' ', ' '].map(Some)
    );
    assert_eq!(["Tab", "Enter", "Home", "z", "", "é"].map(of), [None; 6]);
    let names = [
        NamedKey::ArrowRight,
        NamedKey::PageDown,
        NamedKey::ArrowLeft,
        NamedKey::PageUp,
        NamedKey::F1,
        NamedKey::Space,
    ];
    assert!(names.iter().all(|name| of(&name_of(&Logical::Named(*name))).is_some()));
    let different = KEYS.iter().enumerate().all(|(at, one)| KEYS[..at].iter().all(|other| other.key != one.key));
    assert!(different && KEYS.iter().all(|one| keys().contains(one.about)));
}
