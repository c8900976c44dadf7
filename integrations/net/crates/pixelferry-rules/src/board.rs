//! The received tiles, by frame.

/// When tiles are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Shows tiles when a frame is complete. Until then, the last complete frame stays.
    #[default]
    Whole,
    /// Shows tiles as they arrive; a picture may show tiles of several frames, each with its number.
    Progressive,
}

struct Slot<T> {
    /// The frame that is on show; 0 for none.
    shown: u64,
    /// Tile that came since, and its frame.
    waiting: Option<(u64, T)>,
}

/// The tiles of one picture.
pub struct Board<T> {
    mode: Mode,
    slots: Vec<Slot<T>>,
    /// The frame that is wanted; 0 for none.
    wanted: u64,
}

impl<T> Board<T> {
    pub fn new(mode: Mode, tiles: u32) -> Self {
        let slots = (0..tiles).map(|_| Slot { shown: 0, waiting: None }).collect();
        Self { mode, slots, wanted: 0 }
    }

    /// Wants a frame, which is newer than all before.
    pub fn request(&mut self, frame: u64) {
        self.wanted = frame;
        if self.mode == Mode::Whole {
            self.slots.iter_mut().for_each(|slot| slot.waiting = None);
        }
    }

    /// True where a tile would be taken.
    pub fn wants(&self, index: u32, frame: u64) -> bool {
        let Some(slot) = self.slots.get(index as usize) else { return false };
        frame > slot.newest()
            && match self.mode {
                Mode::Whole => frame == self.wanted,
                Mode::Progressive => frame <= self.wanted,
            }
    }

    /// Takes a tile that is wanted; gives others back.
    pub fn offer(&mut self, index: u32, frame: u64, tile: T) -> Option<T> {
        if !self.wants(index, frame) {
            return Some(tile);
        }
        if let Some(slot) = self.slots.get_mut(index as usize) {
            slot.waiting = Some((frame, tile));
        }
        None
    }

    /// Tiles that the wanted frame lacks.
    pub fn missing(&self) -> Vec<u32> {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.newest() < self.wanted).map(|(index, _)| index).collect()
    }

    pub fn is_complete(&self) -> bool {
        self.slots.iter().all(|slot| slot.newest() >= self.wanted)
    }

    /// True where there is something to show: the whole frame, or any tile.
    pub fn is_ready(&self) -> bool {
        let has_some = self.slots.iter().any(|slot| slot.waiting.is_some());
        has_some && (self.mode == Mode::Progressive || self.is_complete())
    }

    /// Returns what there is to show, if something is.
    pub fn take(&mut self) -> Vec<T> {
        if !self.is_ready() {
            return Vec::new();
        }
        let take = |slot: &mut Slot<T>| {
            let (frame, tile) = slot.waiting.take()?;
            slot.shown = frame;
            Some(tile)
        };
        self.slots.iter_mut().filter_map(take).collect()
    }

    /// Tiles that were taken could not be shown: they are missing again. In whole mode all of the frame is.
    pub fn again(&mut self, index: u32) {
        let (mode, wanted) = (self.mode, self.wanted);
        for (at, slot) in (0..).zip(&mut self.slots) {
            if (mode == Mode::Whole || at == index) && slot.shown == wanted {
                slot.shown = wanted.saturating_sub(1);
            }
        }
    }
}

impl<T> Slot<T> {
    fn newest(&self) -> u64 {
        self.waiting.as_ref().map_or(self.shown, |(frame, _)| *frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_frame_is_shown_when_its_last_tile_came() {
        let mut board = Board::new(Mode::Whole, 3);
        assert!(!board.is_ready() && !board.wants(0, 1));
        board.request(1);
        assert_eq!(board.offer(0, 1, 'a'), None);
        assert_eq!(board.offer(0, 1, 'b'), Some('b'), "once is enough");
        assert_eq!(board.offer(3, 1, 'x'), Some('x'));
        assert_eq!(board.offer(1, 2, 'x'), Some('x'), "nobody asked for frame 2");
        assert_eq!(board.missing(), [1, 2]);
        board.offer(2, 1, 'c');
        assert!(board.take().is_empty());
        board.offer(1, 1, 'b');
        assert_eq!(board.take(), ['a', 'b', 'c']);
        assert!(!board.is_ready() && board.missing().is_empty());
    }

    #[test]
    fn a_newer_frame_forgets_what_the_older_one_had() {
        let mut board = Board::new(Mode::Whole, 2);
        board.request(1);
        board.offer(0, 1, 'a');
        board.request(2);
        assert_eq!(board.offer(1, 1, 'b'), Some('b'));
        board.offer(1, 2, 'd');
        assert!(board.take().is_empty());
        board.offer(0, 2, 'c');
        assert_eq!(board.take(), ['c', 'd']);
    }

    #[test]
    fn progressive_tiles_never_go_back() {
        let mut board = Board::new(Mode::Progressive, 2);
        board.request(1);
        board.request(2);
        board.offer(0, 1, 'a');
        assert_eq!(board.take(), ['a']);
        board.offer(0, 2, 'b');
        assert_eq!(board.offer(0, 1, 'a'), Some('a'));
        assert_eq!(board.missing(), [1]);
        assert_eq!(board.take(), ['b']);
        board.again(0);
        assert_eq!(board.missing(), [0, 1]);
        assert!(board.wants(0, 2) && !board.wants(0, 1));
    }
}
