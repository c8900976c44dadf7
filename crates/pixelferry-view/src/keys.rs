//! Keys of the window, as in tev where it has the same.

use pixelferry_look::{Colormap, End, Look, Range};

/// Stops of one press.
const STOPS: f32 = 0.5;

/// Deed of a key.
#[derive(Debug, Clone, Copy)]
pub enum Deed {
    /// Changes the look, which was asked for with that range; true with Shift.
    Look(fn(&mut Look, Range, bool)),
    Fit,
    OneToOne,
    Save,
    Help,
}

/// A key, and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Character of the key without Shift.
    pub key: char,
    /// What it does, in words.
    pub about: &'static str,
    pub(crate) deed: Deed,
}

const fn key(key: char, about: &'static str, deed: Deed) -> Key {
    Key { key, about, deed }
}

/// All keys but Escape, which closes the window.
pub static KEYS: [Key; 8] = [
    key(
        'e',
        "brighter by half a stop; with Shift darker",
        Deed::Look(|look, _, shift| look.exposure += if shift { -STOPS } else { STOPS }),
    ),
    key('f', "fit all of it into the window", Deed::Fit),
    key('1', "its own size, pixel by pixel", Deed::OneToOne),
    key('c', "next colormap; with Shift the one before", Deed::Look(|look, _, shift| colour(look, shift))),
    key(
        'r',
        "next range: as asked for, of the type, minimum to maximum, 1% to 99%",
        Deed::Look(|look, asked, _| look.range = after(&ranges(asked), look.range)),
    ),
    key('m', "mark what is out of range", Deed::Look(|look, _, _| look.marks = !look.marks)),
    key('s', "save the picture", Deed::Save),
    key('h', "these keys", Deed::Help),
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
