//! Keys of the window, as in tev where it has the same.

use crate::view::ArrayView;
use pixelferry_look::{Colormap, End, Look, Range};

/// Stops of one press.
const STOPS: f32 = 0.5;

/// A key, what it does in words, and the doing; the second argument is true with Shift.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Character of the key without Shift.
    pub key: char,
    /// What it does.
    pub about: &'static str,
    pub(crate) act: fn(&mut ArrayView, bool),
}

/// All keys but Escape, which closes the window.
pub static KEYS: [Key; 8] = [
    Key {
        key: 'e',
        about: "brighter by half a stop; with Shift darker",
        act: |view, shift| view.change(|look| look.exposure += if shift { -STOPS } else { STOPS }),
    },
    Key { key: 'f', about: "fit all of it into the window", act: |view, _| view.camera().fit() },
    Key { key: '1', about: "its own size, pixel by pixel", act: |view, _| view.camera().one_to_one() },
    Key {
        key: 'c',
        about: "next colormap; with Shift the one before",
        act: |view, shift| view.change(|look| colour(look, shift)),
    },
    Key {
        key: 'r',
        about: "next range: as asked for, of the type, minimum to maximum, 1% to 99%",
        act: |view, _| {
            let asked = view.asked();
            view.change(|look| look.range = after(&ranges(asked), look.range));
        },
    },
    Key { key: 'm', about: "mark what is out of range", act: |view, _| view.change(|look| look.marks = !look.marks) },
    Key { key: 's', about: "save the picture", act: |view, _| view.save_beside() },
    Key { key: 'h', about: "these keys", act: |view, _| view.toggle_help() },
];

/// The keys as lines of text.
pub fn keys() -> String {
    let name = |key: char| key.to_ascii_uppercase();
    KEYS.iter().map(|key| format!("  {}  {}\n", name(key.key), key.about)).collect::<String>()
        + "  Escape closes; the wheel zooms about the pointer, a drag moves"
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

/// The one after `now`, or the first.
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
