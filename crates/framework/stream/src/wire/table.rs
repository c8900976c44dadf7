//! The pages that publisher and subscribers share, and the protocol that keeps subscribers from reading what is being
//! written.
//!
//! Only the publisher writes its page: which frame is the newest, and which frame each piece of memory holds. Each
//! subscriber has a page of its own. Only that subscriber writes it: the frame that it reads, and then the next frame
//! before it releases that one. Both sides write first and then look at the other's page, in one order that all
//! processors agree on. If a subscriber begins to read a piece while the publisher begins to write it, at least one of
//! them therefore sees the other and chooses another piece.
//!
//! The words are atomics with one writer each. A place's frame and description are an exception: the publisher writes
//! them while the frame is 0, and a subscriber checks the frame before and after reading them. Bytes of a frame are
//! plain memory. A subscriber's reads come after the publisher's writes, because it found the frame that was stored
//! after them; the publisher's next writes come after those reads, because it found that the subscriber reads another
//! frame or none. In `no_reader_meets_a_piece_that_is_written`, ThreadSanitizer looks for accesses that the words do
//! not order (scripts/tsan). A subscriber's page counts for as long as its connection exists, whichever notices it got.

use super::frame;
use super::pages::{self, PageMapping, WriteRight};
use interop_core::Result;
use interop_core::describe::process::ProcessMark;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Maximum number of a stream's pieces, including those that only subscribers keep.
pub(crate) const PLACES: usize = 240;
/// Size of the publisher's page, and of a subscriber's, in bytes.
const BYTES: usize = 16384;
const READERS_BYTES: usize = 4096;

/// Identifies the layout of the pages.
const MAGIC: u64 = u64::from_le_bytes(*b"pxferry2");

const NEWEST: usize = 1;
const NEWEST_ON_THE_HOST: usize = 2;
/// Index of the first place: its frame, the piece's number, and the frame's layout.
const FIRST: usize = 8;
const PLACE_WORDS: usize = 2 + frame::WORDS;
const _: () = assert!((FIRST + PLACES * PLACE_WORDS) * size_of::<u64>() <= BYTES);

/// Words of a subscriber's page: the frames that it reads, whether it asks for host memory, and older frames that it holds.
const READS: [usize; 2] = [0, 1];
const ASKS: usize = 2;
const HOLDS: Range<usize> = 3..3 + HELD_FRAMES;
/// Maximum number of frames that a subscriber holds, besides those that it reads.
pub(crate) const HELD_FRAMES: usize = 6;

/// A frame's number and the place that holds it. Zero means no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

impl Stamp {
    pub(crate) const NONE: Self = Self(0);

    fn new(frame: u64, place: usize) -> Self {
        Self(frame << 8 | place as u64)
    }

    /// Number of the frame, from 1.
    pub(crate) fn frame(self) -> u64 {
        self.0 >> 8
    }

    fn place(self) -> Option<usize> {
        usize::try_from(self.0 & 0xff).ok().filter(|place| *place < PLACES && self != Self::NONE)
    }
}

/// Where subscribers take a frame from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// Memory that kernels wrote.
    Device,
    /// Host memory.
    Host,
}

impl From {
    fn word(self) -> usize {
        match self {
            Self::Device => NEWEST,
            Self::Host => NEWEST_ON_THE_HOST,
        }
    }
}

/// Content of a place, as another process wrote it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotContent {
    pub stamp: Stamp,
    pub piece: u64,
    pub words: [u64; frame::WORDS],
}

/// The publisher's page, on the publisher's side.
#[derive(Debug)]
pub(crate) struct Table {
    pages: PageMapping,
    descriptor: OwnedFd,
}

impl Table {
    pub(crate) fn create() -> Result<Self> {
        let (descriptor, pages) = pages::create("pixelferry stream", BYTES, WriteRight::Maker)?;
        pages.words()[0].store(MAGIC, SeqCst);
        Ok(Self { pages, descriptor })
    }

    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    fn place(&self, place: usize) -> &[AtomicU64] {
        place_of(self.pages.words(), place)
    }

    /// Returns the newest frame in a place of this kind.
    pub(crate) fn newest(&self, from: From) -> Stamp {
        Stamp(self.pages.words()[from.word()].load(SeqCst))
    }

    /// Assigns the place to a piece that holds no frame yet.
    pub(crate) fn settle(&self, place: usize, piece: u64) {
        let words = self.place(place);
        words[0].store(0, SeqCst);
        words[1].store(piece, SeqCst);
    }

    /// Removes the frame from a place, so that it can be written; `false` if one of `readers` reads it, or it is the
    /// newest.
    pub(crate) fn claim<'a>(&self, place: usize, readers: impl IntoIterator<Item = &'a Reader>) -> bool {
        let words = self.place(place);
        let stamp = Stamp(words[0].load(SeqCst));
        if stamp == Stamp::NONE {
            return true;
        }
        if [From::Device, From::Host].iter().any(|from| self.newest(*from) == stamp) {
            return false;
        }
        // From now on no subscriber takes the frame; a subscriber that has already marked it is seen by the following
        // check.
        words[0].store(0, SeqCst);
        if readers.into_iter().any(|reader| reader.has_marked(place)) {
            // The frame is still complete, because it was not overwritten.
            words[0].store(stamp.0, SeqCst);
            return false;
        }
        true
    }

    /// Puts a frame that is in the place's memory into the place, and makes it the newest.
    pub(crate) fn publish(&self, frame: u64, place: usize, from: &[From], described: [u64; frame::WORDS]) {
        let stamp = Stamp::new(frame, place);
        let words = self.place(place);
        for (word, described) in words[2..].iter().zip(described) {
            word.store(described, SeqCst);
        }
        words[0].store(stamp.0, SeqCst);
        for from in from {
            self.pages.words()[from.word()].store(stamp.0, SeqCst);
        }
    }

    /// Removes a frame whose memory is freed. Subscribers keep what they have opened.
    pub(crate) fn vacate(&self, place: usize) {
        let stamp = self.place(place)[0].swap(0, SeqCst);
        for from in [From::Device, From::Host] {
            let _ = self.pages.words()[from.word()].compare_exchange(stamp, 0, SeqCst, SeqCst);
        }
    }
}

/// A subscriber's page, on the publisher's side.
#[derive(Debug)]
pub(crate) struct Reader {
    pages: PageMapping,
}

impl Reader {
    pub(crate) fn create() -> Result<(OwnedFd, Self)> {
        let (descriptor, pages) = pages::create("pixelferry reader", READERS_BYTES, WriteRight::All)?;
        Ok((descriptor, Self { pages }))
    }

    /// Returns whether the subscriber has marked a frame of this place, which may have been published several times. A frame
    /// moves from the first words to the others, so these are looked at last.
    fn has_marked(&self, place: usize) -> bool {
        let is_there = |word: usize| Stamp(self.pages.words()[word].load(SeqCst)).place() == Some(place);
        READS.into_iter().chain(HOLDS).any(is_there)
    }

    /// Returns whether the subscriber cannot use the memory that kernels write.
    pub(crate) fn asks_for_the_host(&self) -> bool {
        self.pages.words()[ASKS].load(SeqCst) != 0
    }
}

/// Both pages, on a subscriber's side.
#[derive(Debug)]
pub(crate) struct Seat {
    table: PageMapping,
    mine: Arc<PageMapping>,
    /// Index into [`READS`] of the word with the current frame.
    word: usize,
}

impl Seat {
    /// Maps both pages.
    ///
    /// # Errors
    /// [`interop_core::Error::InvalidInput`] for descriptors of something else.
    pub(crate) fn take(table: &OwnedFd, mine: &OwnedFd) -> Result<Self> {
        let table = pages::open(table, BYTES, WriteRight::Maker)?;
        let mine = Arc::new(pages::open(mine, READERS_BYTES, WriteRight::All)?);
        if table.words()[0].load(SeqCst) != MAGIC {
            return Err(interop_core::Error::refused("the publisher's page has another version"));
        }
        Ok(Self { table, mine, word: 0 })
    }

    /// Asks for frames in host memory, from the next one on.
    pub(crate) fn ask_for_the_host(&self) {
        self.mine.words()[ASKS].store(1, SeqCst);
    }

    pub(crate) fn newest(&self, from: From) -> Stamp {
        Stamp(self.table.words()[from.word()].load(SeqCst))
    }

    /// Begins to read the newest frame, if it is not the current one. The current one stays readable until
    /// [`Seat::let_go`].
    pub(crate) fn read(&mut self, from: From) -> Option<SlotContent> {
        let [now, next] = [self.word, 1 - self.word].map(|at| &self.mine.words()[READS[at]]);
        // Each failed round means that a newer frame appeared. A publisher cannot make this many in that time.
        for _ in 0..1000 {
            let stamp = self.newest(from);
            let Some(place) = stamp.place().filter(|_| stamp.0 != now.load(SeqCst)) else { break };
            next.store(stamp.0, SeqCst);
            if let Some(held) = self.held(stamp, place) {
                self.word = 1 - self.word;
                return Some(held);
            }
        }
        next.store(0, SeqCst);
        None
    }

    /// Returns the content of a place if it still holds this frame after reading: the publisher may remove a piece that
    /// is being read and put another one there.
    fn held(&self, stamp: Stamp, place: usize) -> Option<SlotContent> {
        let words = place_of(self.table.words(), place);
        let described = std::array::from_fn(|at| words[2 + at].load(SeqCst));
        let held = SlotContent { stamp, piece: words[1].load(SeqCst), words: described };
        (words[0].load(SeqCst) == stamp.0).then_some(held)
    }

    /// Allows the publisher to overwrite the previous frame.
    pub(crate) fn let_go(&self) {
        self.mine.words()[READS[1 - self.word]].store(0, SeqCst);
    }

    /// Returns to the previous frame, which was not released; the other frame may be overwritten.
    pub(crate) fn take_back(&mut self) {
        self.word = 1 - self.word;
        self.let_go();
    }

    /// Holds the current frame, so that it stays after later ones are read; `None` if [`HELD_FRAMES`] are held.
    pub(crate) fn hold(&self) -> Option<FrameHold> {
        let words = self.mine.words();
        let word = HOLDS.into_iter().find(|word| words[*word].load(SeqCst) == 0)?;
        // Before the frame's first word changes.
        words[word].store(words[READS[self.word]].load(SeqCst), SeqCst);
        Some(FrameHold { page: Arc::clone(&self.mine), word, made: ProcessMark::here() })
    }

    /// Stops reading.
    pub(crate) fn stop_reading(&self) {
        for word in READS {
            self.mine.words()[word].store(0, SeqCst);
        }
    }
}

/// Keeps a frame from being overwritten for as long as the subscriber's connection lasts, until it is dropped.
#[derive(Debug)]
pub(crate) struct FrameHold {
    page: Arc<PageMapping>,
    word: usize,
    made: ProcessMark,
}

impl Drop for FrameHold {
    fn drop(&mut self) {
        // A forked child shares the page with its parent, which still holds the frame.
        if self.made.is_here() {
            self.page.words()[self.word].store(0, SeqCst);
        }
    }
}

fn place_of(words: &[AtomicU64], place: usize) -> &[AtomicU64] {
    let first = FIRST + place * PLACE_WORDS;
    &words[first..first + PLACE_WORDS]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::UnsafeCell;
    use std::mem::ManuallyDrop;

    fn seated() -> (Table, Reader, Seat) {
        let table = Table::create().unwrap();
        let (descriptor, reader) = Reader::create().unwrap();
        let seat = Seat::take(table.descriptor(), &descriptor).unwrap();
        (table, reader, seat)
    }

    #[test]
    fn what_is_read_is_not_written() {
        let (table, reader, mut seat) = seated();
        assert!(seat.read(From::Device).is_none(), "nothing is published");
        table.settle(3, 70);
        table.publish(1, 3, &[From::Device], [9; frame::WORDS]);
        assert!(!table.claim(3, [&reader]), "the newest frame");
        let held = seat.read(From::Device).unwrap();
        assert_eq!((held.stamp.frame(), held.piece, held.words), (1, 70, [9; frame::WORDS]));
        assert!(seat.read(From::Device).is_none() && seat.read(From::Host).is_none());
        table.publish(2, 4, &[From::Device], [8; frame::WORDS]);
        assert!(!table.claim(3, [&reader]), "the reader has it");
        assert_eq!(seat.read(From::Device).unwrap().stamp.frame(), 2);
        assert!(!table.claim(3, [&reader]), "until it lets it go");
        seat.let_go();
        assert!(table.claim(3, [&reader]) && table.claim(3, [&reader]), "more than once");
        table.publish(3, 3, &[From::Device], [7; frame::WORDS]);
        assert!(!table.claim(4, [&reader]));
        seat.stop_reading();
        assert!(table.claim(4, [&reader]));
        table.vacate(3);
        assert_eq!(table.newest(From::Device), Stamp::NONE);
        assert!(seat.read(From::Device).is_none());
    }

    #[test]
    fn held_frames_are_not_written_and_neither_is_one_that_was_published_again() {
        let (table, reader, mut seat) = seated();
        (0..=HELD_FRAMES).for_each(|place| table.settle(place, place as u64));
        let mut holds: Vec<_> = (0..HELD_FRAMES)
            .map(|place| {
                table.publish(1 + place as u64, place, &[From::Device], [0; frame::WORDS]);
                seat.read(From::Device).unwrap();
                seat.let_go();
                seat.hold().unwrap()
            })
            .collect();
        assert!(seat.hold().is_none(), "more than the page has words for");
        table.publish(100, HELD_FRAMES, &[From::Device], [0; frame::WORDS]);
        seat.read(From::Device).unwrap();
        seat.let_go();
        assert!((0..HELD_FRAMES).all(|place| !table.claim(place, [&reader])));
        drop(holds.remove(2));
        assert!((0..HELD_FRAMES).all(|place| table.claim(place, [&reader]) == (place == 2)));
        // The reader has frame 100 of this place, which gets another number.
        table.publish(101, HELD_FRAMES, &[From::Device], [0; frame::WORDS]);
        table.publish(102, 2, &[From::Device], [0; frame::WORDS]);
        assert!(!table.claim(HELD_FRAMES, [&reader]));
    }

    #[test]
    fn a_place_that_was_given_away_is_not_mixed_up() {
        let (table, _, seat) = seated();
        table.settle(3, 70);
        table.publish(1, 3, &[From::Device], [9; frame::WORDS]);
        let stamp = seat.newest(From::Device);
        assert_eq!(seat.held(stamp, 3).unwrap().piece, 70);
        table.vacate(3);
        assert!(seat.held(stamp, 3).is_none());
        table.settle(3, 71);
        assert!(seat.held(stamp, 3).is_none());
        table.publish(2, 3, &[From::Device], [8; frame::WORDS]);
        assert!(seat.held(stamp, 3).is_none(), "words of frame 2 under the mark of frame 1");
    }

    /// Memory of a piece, which both sides reach by plain loads and stores, as kernels do.
    struct Plain(UnsafeCell<[u64; 64]>);

    // SAFETY: that no two threads use it at once is what the test finds out.
    unsafe impl Sync for Plain {}

    /// A piece is a number that the publisher changes while it writes; a reader who sees two numbers has seen a torn frame. Some
    /// pieces are taken off the list and come back under another number, whether they are read or not: their memory is another then.
    /// Under ThreadSanitizer each access that the rule does not order is a report.
    #[test]
    fn no_reader_meets_a_piece_that_is_written() {
        const PIECES: usize = 8;
        let frames: u64 = pixelferry_testing::by_level(20_000, 100_000, 1_000_000);
        // Memory of the piece of each number; the ones that were taken off are not written any more.
        let pieces: Vec<_> = (0..=PIECES as u64 + frames / 5).map(|_| Plain(UnsafeCell::new([0; 64]))).collect();
        let table = Table::create().unwrap();
        let readers: Vec<_> = (0..2).map(|_| Reader::create().unwrap().1).collect();
        let mut numbers: Vec<u64> = (0..PIECES as u64).collect();
        (0..PIECES).for_each(|place| table.settle(place, numbers[place]));
        let mut last_number = PIECES as u64 - 1;
        std::thread::scope(|scope| {
            for reader in &readers {
                let (pieces, table) = (&pieces, table.pages.alias());
                let mine = reader.pages.alias();
                scope.spawn(move || {
                    // Never dropped, so that both stay mapped.
                    let mut seat = ManuallyDrop::new(Seat {
                        table: ManuallyDrop::into_inner(table),
                        mine: Arc::new(ManuallyDrop::into_inner(mine)),
                        word: 0,
                    });
                    let seen = |held: SlotContent| {
                        // SAFETY: the piece is being read, so no process writes it.
                        let seen = unsafe { *pieces[usize::try_from(held.piece).unwrap()].0.get() };
                        assert!(seen.iter().all(|word| *word == held.stamp.frame()), "{held:?} {seen:?}");
                    };
                    let mut last = 0;
                    let mut older: Option<(FrameHold, SlotContent)> = None;
                    while last < frames {
                        let Some(held) = seat.read(From::Device) else {
                            std::thread::yield_now();
                            continue;
                        };
                        seat.let_go();
                        let frame = held.stamp.frame();
                        assert_eq!(held.words, [frame; frame::WORDS], "words of another frame: {held:?}");
                        seen(held);
                        assert!(frame > last, "frames come in order");
                        if let Some((_hold, held)) = older.take() {
                            seen(held);
                        } else {
                            older = Some((seat.hold().unwrap(), held));
                        }
                        last = frame;
                    }
                    seat.stop_reading();
                });
            }
            for frame in 1..=frames {
                let mut places = (0..PIECES).cycle().skip(frame as usize);
                if frame % 5 == 0 && frame != frames {
                    let place = places.clone().next().unwrap();
                    table.vacate(place);
                    last_number += 1;
                    numbers[place] = last_number;
                    table.settle(place, last_number);
                }
                let place = places.by_ref().take(PIECES).find(|place| table.claim(*place, &readers)).unwrap();
                let piece = &pieces[usize::try_from(numbers[place]).unwrap()];
                // SAFETY: the piece was claimed, so no process reads it.
                unsafe { *piece.0.get() = [frame; 64] };
                table.publish(frame, place, &[From::Device], [frame; frame::WORDS]);
            }
        });
    }
}
