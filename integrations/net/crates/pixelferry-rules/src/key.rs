//! Keys of the protocol.

use pixelferry::Region;

const ROOT: &str = "pixelferry";
/// Longest name of a scene.
const MOST_LETTERS: usize = 64;

/// A scene's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys(String);

impl Keys {
    /// Refuses names that would be patterns or parts of other keys.
    ///
    /// # Errors
    /// What is wrong with the name, in words.
    pub fn new(scene: &str) -> Result<Self, String> {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if scene.is_empty() || scene.len() > MOST_LETTERS || !scene.chars().all(allowed) {
            return Err(format!(
                "invalid name of a scene '{scene}'; use 1 to {MOST_LETTERS} of the characters a-z, A-Z, 0-9, - and _"
            ));
        }
        Ok(Self(format!("{ROOT}/{scene}")))
    }

    pub fn job(&self) -> String {
        format!("{}/job", self.0)
    }

    pub fn tile(&self, node: u64) -> String {
        format!("{}/tile/{node:016x}", self.0)
    }

    pub fn tiles(&self) -> String {
        format!("{}/tile/*", self.0)
    }

    pub fn view(&self) -> String {
        format!("{}/view", self.0)
    }

    pub fn input(&self) -> String {
        format!("{}/input", self.0)
    }

    /// The token of a worker that computes tiles inside `region`, or anywhere.
    pub fn worker(&self, node: u64, region: Option<Region>) -> String {
        format!("{}/{}", self.0, token(node, region))
    }

    pub fn workers(&self) -> String {
        format!("{}/worker/*/*", self.0)
    }
}

/// The end of a worker's token.
fn token(node: u64, region: Option<Region>) -> String {
    let Region { x, y, width, height } = region.unwrap_or(Region::new(0, 0, 0, 0));
    format!("worker/{node:016x}/{x}_{y}_{width}_{height}")
}

/// The key of marks that go ahead of the pixels of a key.
pub fn mark(pixels: &str) -> String {
    format!("{pixels}/mark")
}

/// The key of reports about the pixels of a key.
pub fn report(pixels: &str) -> String {
    format!("{pixels}/report")
}

/// The key of wishes for pictures of a key.
pub fn wish(pictures: &str) -> String {
    format!("{pictures}/wish")
}

/// The key of what goes to one viewer only.
pub fn to(pictures: &str, viewer: u64) -> String {
    format!("{pictures}/to/{viewer:016x}")
}

/// The key of pixels that are lent to receivers of a place.
pub fn near(pixels: &str, place: u64) -> String {
    format!("{pixels}/{place:016x}")
}

/// The key under which a node tells of itself.
pub fn status(node: u64) -> String {
    format!("{ROOT}/@node/{node:016x}")
}

/// All such keys.
pub fn all_status() -> String {
    format!("{ROOT}/@node/*")
}

/// Reads what [`Keys::worker`] wrote: the node, and where it computes. `None` for anything else.
pub fn read_worker(key: &str) -> Option<(u64, Option<Region>)> {
    let mut parts = key.rsplit('/');
    let (place, node) = (parts.next()?, parts.next()?);
    let mut sides = place.split('_').map(|side| side.parse().ok());
    let mut side = || sides.next().flatten();
    let region = Region::new(side()?, side()?, side()?, side()?);
    let node = u64::from_str_radix(node, 16).ok()?;
    let region = (region != Region::new(0, 0, 0, 0)).then_some(region);
    // Other spellings of the same key are not ours.
    let is_ours = key.strip_suffix(&token(node, region)).is_some_and(|scene| scene.ends_with('/'));
    is_ours.then_some((node, region))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workers_key_comes_back_and_others_are_none() {
        let keys = Keys::new("sea-1").unwrap();
        for region in [None, Some(Region::new(1, 2, 3, 4))] {
            assert_eq!(read_worker(&keys.worker(7, region)), Some((7, region)));
        }
        for bad in ["", "a/worker/7/0_0_0_0", "a/worker/000000000000000g/0_0_0_0", "a/b/0000000000000007/0_0_0_0"] {
            assert_eq!(read_worker(bad), None, "{bad}");
        }
        assert_eq!(read_worker("a/worker/0000000000000007/0_0_0"), None);
        for place in ["0_0_0_-1", "+1_0_0_0", "01_0_0_0", "1_2_3", "1_2_3_4_5", "0_0_0_4294967296", "", "1_2_3_4/5"] {
            assert_eq!(read_worker(&format!("a/worker/0000000000000007/{place}")), None, "{place}");
        }
        assert_eq!(read_worker("a/worker/000000000000000A/0_0_0_0"), None);
    }

    #[test]
    fn names_that_are_patterns_are_refused() {
        for bad in ["", "*", "a/b", "a**", "@x", "ä", "a b", &"x".repeat(65)] {
            assert!(Keys::new(bad).is_err(), "{bad}");
        }
    }
}
