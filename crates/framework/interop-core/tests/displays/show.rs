//! Frame and draw as one call: what kernels store into a target is what a draw puts there. What displays do alike whose targets take
//! stores; their suites have this file.

use super::kernels::{PAINT, WORDS};
use interop_core::describe::panics::catch;
use interop_core::{
    AlphaMode, Arg, ComputeBackend, Detour, Display, DrawOptions, Encoding, Error, ImageDesc, Kernel, KernelSource,
    Link, LinkCore, LinkOptions, PathId, PixelFormat, Policy, Region, Result, RowOrder, ShowOutcome, SurfaceDesc,
    Unwritten, WriteFrame,
};
use std::sync::Arc;
use std::time::Duration;

/// Size of a frame, and of a target.
pub const SIZE: (u32, u32) = (21, 13);
pub const ALL: (u32, u32) = (29, 22);

/// Target of [`ALL`] pixels, with a place of [`SIZE`] inside.
pub trait Board {
    /// Row and column of [`Board::pixels`] where the place begins.
    fn first(&self) -> (usize, usize);

    /// [`Link::show`](LinkCore::show) in the place.
    fn show(
        &mut self,
        link: &mut LinkCore,
        options: DrawOptions,
        frame: &mut dyn FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<ShowOutcome>;

    /// All of the target.
    fn pixels(&mut self) -> Vec<u8>;
}

/// Red, green and blue at these places, counted from the first pixel of the place, in a target of RGBA8.
pub fn rgb<const N: usize>(board: &mut dyn Board, at: [(i32, i32); N]) -> [[u8; 3]; N] {
    let ((y, x), pixels) = (board.first(), board.pixels());
    at.map(|(column, row)| {
        let at = (row + y as i32) * ALL.0 as i32 + column + x as i32;
        pixels[at as usize * 4..][..3].try_into().unwrap()
    })
}

/// Display with targets.
pub trait Screen {
    fn sides(&self) -> (Arc<dyn ComputeBackend>, Arc<dyn Display>);

    /// A target, all of one colour; `None` if no target has the format.
    fn board(&self, format: PixelFormat) -> Option<Box<dyn Board + '_>>;
}

/// Takes the first path that works, and stores wherever they do.
pub fn untimed() -> Policy {
    Policy::default().with_budget(Duration::ZERO)
}

pub fn image(format: PixelFormat) -> ImageDesc {
    ImageDesc::new(SIZE.0, SIZE.1, format)
}

/// A link, and the kernel that paints its frames.
pub struct Scene {
    pub kernel: Arc<dyn Kernel>,
    pub link: Link,
    pub options: DrawOptions,
}

impl Scene {
    pub fn new(screen: &dyn Screen, desc: ImageDesc, rule: Unwritten, text: &'static str, policy: Policy) -> Self {
        let (backend, display) = screen.sides();
        let kernel = backend.build(&KernelSource::new("paint").wgsl(text)).unwrap();
        let desc = SurfaceDesc::Image(desc).with_unwritten(rule);
        let link = Link::open(backend, display, desc, LinkOptions::new(policy)).unwrap();
        Self { kernel, link, options: DrawOptions::default().with_grey(false) }
    }

    /// Frames of RGBA8 that write every pixel.
    pub fn plain(screen: &dyn Screen, policy: Policy) -> Self {
        Self::new(screen, image(PixelFormat::Rgba8), Unwritten::Overwrite, PAINT, policy)
    }

    pub fn try_show(&mut self, board: &mut dyn Board, level: f32) -> Result<ShowOutcome> {
        let kernel = self.kernel.as_ref();
        board.show(&mut self.link, self.options, &mut |next| next.launch(kernel, &[Arg::F32(level)]))
    }

    pub fn show(&mut self, board: &mut dyn Board, level: f32) -> ShowOutcome {
        self.try_show(board, level).unwrap()
    }

    /// The second frame in a target: the first is not tried.
    pub fn settled(&mut self, board: &mut dyn Board) -> ShowOutcome {
        assert_eq!(self.show(board, 0.0), ShowOutcome::Drawn(Detour::First));
        self.show(board, 0.25)
    }

    /// Blue of the first pixel of a frame that no target has.
    fn beside(&mut self, level: f32) -> u8 {
        let kernel = self.kernel.as_ref();
        self.link.frame(|next| next.launch(kernel, &[Arg::F32(level)])).unwrap();
        self.link.read_back().unwrap()[2]
    }
}

/// Which of the two ways is quicker is the machine's; the tests are about both.
pub fn goes(way: &ShowOutcome) -> bool {
    assert!(matches!(way, ShowOutcome::Straight | ShowOutcome::Drawn(Detour::Slower { .. })), "{way}");
    *way == ShowOutcome::Straight
}

/// Every byte of targets after three frames, stored and drawn (what `scene` is told). The ways that the frames went.
pub fn a_frame_that_goes_straight_is_what_a_draw_gives(
    screen: &dyn Screen,
    formats: impl IntoIterator<Item = PixelFormat>,
    scene: impl Fn(bool, ImageDesc, Unwritten) -> Scene,
) -> Vec<(PixelFormat, [[ShowOutcome; 3]; 2])> {
    let mut all = Vec::new();
    for format in formats {
        for (order, rule) in [(RowOrder::TopDown, Unwritten::Overwrite), (RowOrder::BottomUp, Unwritten::Clear)] {
            let mut found = Vec::new();
            for drawn in [false, true] {
                let Some(mut board) = screen.board(format) else { continue };
                let mut scene = scene(drawn, image(format).with_row_order(order), rule);
                let ways = [0.125, 0.75, 0.5].map(|level| scene.show(board.as_mut(), level));
                assert!(!drawn || ways.iter().all(|way| matches!(way, ShowOutcome::Drawn(_))), "{format}: {ways:?}");
                found.push((ways, board.pixels()));
            }
            let Ok([(straight, stored), (drawn, expected)]) = <[_; 2]>::try_from(found) else { continue };
            let differs = stored.iter().zip(&expected).position(|(stored, expected)| stored != expected);
            assert_eq!(differs, None, "{format}, {order:?}, {rule} on {}", screen.sides().1.device().driver);
            assert!(stored.iter().any(|byte| *byte != stored[0]), "{format}");
            all.push((format, [straight, drawn]));
        }
    }
    all
}

/// Targets come and go, so many at a time, and take turns; the name of one that is gone may be another's. `way` gets number of the
/// round and of the turn.
pub fn targets_take_turns<const N: usize>(
    screen: &dyn Screen,
    scene: &mut Scene,
    (rounds, turns): (u8, u8),
    way: impl Fn(u8, u8, ShowOutcome),
) {
    const AROUND: [(i32, i32); 2] = [(-1, 0), (21, 12)];
    for round in 0..rounds {
        let mut boards = [(); N].map(|()| screen.board(PixelFormat::Rgba8).unwrap());
        for turn in 0..turns {
            let board = boards[usize::from(turn) % N].as_mut();
            let (before, blue) = (rgb(board, AROUND), round * (250 / rounds) + turn);
            way(round, turn, scene.show(board, f32::from(blue) / 255.0));
            assert_eq!(rgb(board, [(0, 0), (20, 12)]), [[0, 0, blue], [20, 12, blue]]);
            assert_eq!(rgb(board, AROUND), before, "what lies around stays");
        }
    }
}

pub fn no_surface_has_a_frame_that_went_straight(screen: &dyn Screen, scene: &mut Scene) {
    let mut board = screen.board(PixelFormat::Rgba8).unwrap();
    let board = board.as_mut();
    if !goes(&scene.settled(board)) {
        return;
    }
    let is_in_target = |error: Option<Error>| assert!(matches!(error, Some(Error::InTarget)), "{error:?}");
    let part = Region::new(1, 1, 2, 2);
    is_in_target(scene.link.shown().err());
    is_in_target(scene.link.read_back().err());
    is_in_target(scene.link.frame_region(part, |_| Ok(())).err());
    assert_eq!(scene.beside(1.0), 255);
    let kernel = scene.kernel.clone();
    scene.link.frame_region(part, |next| next.launch(kernel.as_ref(), &[Arg::F32(0.0)])).unwrap();
    assert_eq!(scene.show(board, 0.5), ShowOutcome::Straight);
    // Another size: nothing of before is seen.
    let of = |desc: ImageDesc| SurfaceDesc::Image(desc).with_unwritten(Unwritten::Overwrite);
    scene.link.resize(of(ImageDesc::new(8, 8, PixelFormat::Rgba8))).unwrap();
    assert!(scene.link.shown().is_err());
    let said = scene.show(board, 0.5).to_string();
    assert!(said.contains("scales"), "{said}");
    scene.link.resize(of(image(PixelFormat::Rgba8))).unwrap();
    assert_eq!(scene.beside(0.0), 0);
    scene.settled(board);
    scene.link.clear().unwrap();
    assert!(matches!(scene.link.shown().err(), Some(Error::NothingShown)));
    scene.link.resize(SurfaceDesc::image(0, 0, PixelFormat::Rgba8)).unwrap();
    assert_eq!(scene.show(board, 0.5), ShowOutcome::Paused);
}

pub fn frames_that_fail_leave_a_link_that_works(screen: &dyn Screen, scene: &mut Scene) {
    let mut board = screen.board(PixelFormat::Rgba8).unwrap();
    let board = board.as_mut();
    let way = scene.settled(board);
    let (kernel, options, straight) = (scene.kernel.clone(), scene.options, goes(&way));
    let wrong = || Error::InvalidInput { operation: "the program", problem: "its own".into() };
    let failed = board.show(&mut scene.link, options, &mut |next| {
        next.launch(kernel.as_ref(), &[Arg::F32(1.0)])?;
        Err(wrong())
    });
    let failed = failed.unwrap_err().to_string();
    assert!(failed.contains("its own"), "{failed}");
    assert!(!straight || rgb(board, [(0, 0)]) == [[0, 0, 255]], "what it wrote stays");
    let written = board.show(&mut scene.link, options, &mut |next| next.write(&[9; 21 * 13 * 4]));
    assert_eq!(written.unwrap(), way);
    assert_eq!(board.pixels().iter().filter(|byte| **byte == 9).count(), 21 * 13 * 4);
    assert!(catch(|| board.show(&mut scene.link, options, &mut |_| panic!("in a frame"))).is_err());
    assert_eq!(scene.beside(1.0), 255);
    // A driver that fails once: the frame is done again, drawn.
    let mut turns = 0;
    let drawn = board.show(&mut scene.link, options, &mut |next| {
        turns += 1;
        if turns == 1 && straight {
            return Err(Error::Unsupported { operation: "", device: "a double".into(), reason: "it failed".into() });
        }
        next.launch(kernel.as_ref(), &[Arg::F32(0.0)])
    });
    assert!(matches!(drawn.unwrap(), ShowOutcome::Drawn(Detour::Failed(_) | Detour::Slower { .. })));
    assert!(matches!(scene.show(board, 0.5), ShowOutcome::Drawn(_)), "it is not tried again");
}

/// `words`: a kernel that names words needs copies of the target.
pub fn what_needs_a_draw_is_drawn_and_says_why(screen: &dyn Screen, words: bool) {
    let (rgba8, plain) = (image(PixelFormat::Rgba8), Policy::default);
    let (same, overwrite) = (PixelFormat::Rgba8, Unwritten::Overwrite);
    let forced = |path| plain().with_force(path);
    let rows = [
        (rgba8, Unwritten::Keep, PAINT, plain(), same, "previous values"),
        (rgba8, overwrite, WORDS, plain(), same, "words"),
        (rgba8, overwrite, PAINT, forced(PathId::IN_QUEUE_UPLOAD), same, "in-queue-upload was requested"),
        (rgba8, overwrite, PAINT, forced(PathId::HOST_ROUND_TRIP), same, "host-round-trip was requested"),
        (rgba8, overwrite, PAINT, plain(), PixelFormat::Rgba16F, "the target is"),
        (rgba8.with_alpha(AlphaMode::Straight), overwrite, PAINT, plain(), same, "blends"),
        (rgba8.with_encoding(Encoding::Linear), overwrite, PAINT, plain(), same, "changes colours"),
    ];
    for (desc, rule, text, policy, format, expected) in rows.into_iter().filter(|row| words || row.2 != WORDS) {
        let mut board = screen.board(format).unwrap();
        let mut scene = Scene::new(screen, desc, rule, text, policy);
        let [_, way] = [0.25, 0.5].map(|level| scene.show(board.as_mut(), level));
        let said = way.to_string();
        assert!(matches!(way, ShowOutcome::Drawn(_)), "{expected}: {said}");
        let is_slower = matches!(way, ShowOutcome::Drawn(Detour::Slower { .. }));
        assert!(said.contains(expected) || is_slower, "{said}");
        assert_eq!(scene.link.read_back().unwrap()[2], 128, "{said}");
    }
}
