//! Draws by a compute shader and by a triangle: the same pixels in the same places. What displays that have both do alike;
//! their suites have this file.

use interop_core::conformance::{expected, stored, tight};
use interop_core::draw::MannerReason;
use interop_core::{
    AlphaMode, Display, DrawOptions, DrawReport, Encoding, Fit, ImageDesc, Manner, PixelFormat, Surface, SurfaceDesc,
};

/// Left edge, first row, width and height, in the order of the target's rows.
pub type PixelRect = (i32, i32, u32, u32);

/// Target that a display draws into.
pub trait Board {
    fn display(&self) -> &dyn Display;

    fn size(&self) -> (u32, u32);

    /// Clears all of it, and draws.
    fn draw(&self, surface: &Surface, at: PixelRect, options: DrawOptions);

    /// Clears all of it.
    fn clear(&self);

    /// Its pixels, of four bytes.
    fn read(&self) -> Vec<u8>;

    /// True where a compute shader draws beside it, and the picture is then copied.
    fn copies(&self) -> bool {
        false
    }

    /// Tells how far red, green, blue and alpha may be off, in bytes: the rounding of each manner.
    fn steps(&self) -> [u8; 4] {
        [2; 4]
    }
}

pub fn by(manner: Manner) -> DrawOptions {
    DrawOptions::default().with_manner(manner)
}

fn patterned(display: &dyn Display, image: ImageDesc) -> Surface {
    let desc = SurfaceDesc::Image(image);
    stored(display, &desc, &expected(&tight(&desc).unwrap(), 1)).unwrap()
}

/// A picture that covers.
pub fn plain(display: &dyn Display) -> Surface {
    patterned(display, ImageDesc::new(5, 3, PixelFormat::Rgba8))
}

/// A picture that blends.
pub fn translucent(display: &dyn Display) -> Surface {
    let image = ImageDesc::new(5, 3, PixelFormat::Rgba8);
    patterned(display, image.with_encoding(Encoding::Linear).with_alpha(AlphaMode::Straight))
}

/// Numbers outside 0 and 1, which targets of bytes cut off before they blend.
fn outside(display: &dyn Display) -> Surface {
    let image = ImageDesc::new(4, 1, PixelFormat::Rgba32F).with_alpha(AlphaMode::Premultiplied);
    let numbers = [-1.0, 0.25, 3.0, 0.25, 0.5, -0.5, 0.1, 2.0, 0.2, 0.4, 0.6, -0.5, 2.0, -2.0, 0.5, 0.0_f32];
    stored(display, &SurfaceDesc::Image(image), &numbers.map(f32::to_ne_bytes).concat()).unwrap()
}

pub fn pictures(display: &dyn Display) -> [Surface; 3] {
    [plain(display), translucent(display), outside(display)]
}

/// The first byte in which two pictures differ by more than the rounding of each.
fn far(board: &dyn Board, a: &[u8], b: &[u8]) -> Option<usize> {
    let steps = board.steps().into_iter().cycle();
    a.iter().zip(b).zip(steps).position(|((a, b), step)| a.abs_diff(*b) > step)
}

fn drawn(board: &dyn Board, surface: &Surface, at: PixelRect, options: DrawOptions) -> Vec<u8> {
    board.draw(surface, at, options);
    board.read()
}

fn cleared(board: &dyn Board) -> Vec<u8> {
    board.clear();
    board.read()
}

/// Every pixel after a draw by each manner, inside and outside.
pub fn both(board: &dyn Board, surface: &Surface, at: PixelRect, options: DrawOptions) {
    let before = cleared(board);
    let [triangle, compute] = Manner::ALL.map(|manner| {
        let pixels = drawn(board, surface, at, options.with_manner(manner));
        let copies = board.copies() && manner == Manner::Compute;
        assert_eq!(board.display().drawn(), Some(DrawReport::new(manner, copies, MannerReason::Asked)));
        pixels
    });
    assert_eq!(far(board, &triangle, &compute), None, "{at:?}: the first byte that differs");
    assert_ne!(compute, before, "{at:?}: nothing was drawn");
    let side = board.size().0 as i32;
    for (n, (found, before)) in (0..).zip(compute.chunks_exact(4).zip(before.chunks_exact(4))) {
        let (x, y) = (n % side - at.0, n / side - at.1);
        let inside = (0..at.2 as i32).contains(&x) && (0..at.3 as i32).contains(&y);
        assert!(inside || found == before, "{at:?}: {x}, {y} lies outside, and is {found:?}");
    }
}

/// Viewports inside, over each edge, over all, and beside the target.
pub fn nothing_is_written_outside_the_viewport(board: &dyn Board, surfaces: &[Surface]) {
    let (width, height) = board.size();
    let (right, bottom) = (width as i32, height as i32);
    let places = [(3, 2, 7, 9), (-4, -5, 9, 8), (right - 5, bottom - 3, 20, 20), (0, 0, width, height)];
    let fits = [(Fit::Stretch, None), (Fit::Contain, Some([0.1; 3]))];
    for surface in surfaces {
        for (at, (fit, background)) in places.iter().flat_map(|at| fits.map(|fit| (*at, fit))) {
            let options = DrawOptions::default().with_fit(fit).with_background(background);
            both(board, surface, at, options);
        }
        both(board, surface, places[0], DrawOptions::default().with_fit(Fit::Contain));
        both(board, surface, (right - 1, bottom - 1, 1, 1), DrawOptions::default());
    }
    for manner in Manner::ALL {
        let found = drawn(board, &surfaces[0], (right, -20, 9, 9), by(manner));
        assert_eq!(found, cleared(board), "{manner}: all of it lies outside");
    }
}

/// Nobody sees that the first draws are measured. What those were, up to the one that is decided.
pub fn the_quicker_manner_is_found_out(board: &dyn Board, surface: &Surface, draws: usize) -> Vec<DrawReport> {
    let all = (0, 0, board.size().0, board.size().1);
    let expected = drawn(board, surface, all, by(Manner::Triangle));
    let mut found = Vec::new();
    for _ in 0..draws {
        let pixels = drawn(board, surface, all, DrawOptions::default());
        board.display().finish().unwrap();
        assert_eq!(far(board, &pixels, &expected), None, "a draw that is measured looks different");
        found.push(board.display().drawn().unwrap());
    }
    let measured = |manner| found.iter().any(|drawn| drawn.manner == manner && drawn.why == MannerReason::Measuring);
    assert!(Manner::ALL.into_iter().all(measured), "each was tried");
    let last = found.last().unwrap();
    assert!(matches!(last.why, MannerReason::Measured { .. }), "it is decided: {last}");
    found
}

/// For those who measure, who ask for one or for neither.
pub fn what_nobody_sees_is_drawn_as_it_is_asked_for(display: &dyn Display) {
    for surface in [plain(display), translucent(display)] {
        for manner in Manner::ALL {
            display.draw_offscreen_by(&surface, Some(manner)).unwrap();
            assert_eq!(display.drawn().unwrap().manner, manner);
        }
        display.draw_offscreen(&surface).unwrap();
        assert_ne!(display.drawn().unwrap().why, MannerReason::Measuring, "it is settled at once");
    }
}
