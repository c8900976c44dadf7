//! View of a picture in a window: zoom about the pointer, and pan.

use interop_core::{Extent, Fit, Placement};
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};

/// Largest side of a zoomed picture: shaders count its pixels in 32-bit floats.
const LONGEST: f64 = (1 << 24) as f64;
/// Smallest and largest zoom, in window pixels per picture pixel.
const ZOOM: [f64; 2] = [1.0 / 64.0, 256.0];
/// Zoom factor of one step of the wheel.
const STEP: f64 = 1.2;
/// Touchpad pixels that correspond to one step of a wheel.
const PIXELS: f64 = 40.0;

/// The section of a picture that a window shows, controlled by the mouse: the wheel zooms about the pointer, and a drag
/// with the left button moves the picture. It may be used on any thread; sizes are in pixels.
///
/// ```
/// use interop_core::{Extent, Fit};
/// use pixelferry_gl::Camera;
///
/// let (image, window) = (Extent::new(320, 200), Extent::new(640, 480));
/// let mut camera = Camera::default();
/// assert_eq!(camera.placement(image, window), Fit::Contain);
/// camera.one_to_one();
/// let Fit::At(placement) = camera.placement(image, window) else { panic!("contained") };
/// assert_eq!((placement.x, placement.y, placement.width, placement.height), (160, 140, 320, 200));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Window pixels per picture pixel; `None` fits the picture into the window, whatever its size.
    zoom: Option<f64>,
    /// Point of the picture at the window's centre, from 0 to 1 across and down.
    centre: [f64; 2],
    /// The pointer's position in the window.
    pointer: Option<[f64; 2]>,
    dragging: bool,
}

impl Default for Camera {
    fn default() -> Self {
        Self { zoom: None, centre: [0.5; 2], pointer: None, dragging: false }
    }
}

impl Camera {
    /// Fits the whole picture into the window again.
    pub fn fit(&mut self) {
        (self.zoom, self.centre) = (None, [0.5; 2]);
    }

    /// Returns the pointer's position in the window, in pixels from its top left corner; `None` while it is elsewhere.
    pub const fn pointer(&self) -> Option<[f64; 2]> {
        self.pointer
    }

    /// Handles a mouse event over a window that shows a picture, with the given sizes. Returns true where the visible
    /// section, or the pixel under the pointer, has changed.
    pub fn follow(&mut self, event: &WindowEvent, image: Extent, window: Extent) -> bool {
        match event {
            WindowEvent::CursorMoved { position, .. } => {
                let at = [position.x, position.y];
                if let (true, Some(before)) = (self.dragging, self.pointer) {
                    self.pan([0, 1].map(|axis| at[axis] - before[axis]), image, window);
                }
                self.pointer = Some(at);
            }
            WindowEvent::CursorLeft { .. } => self.pointer = None,
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => {
                self.dragging = *state == ElementState::Pressed;
                return false;
            }
            WindowEvent::MouseWheel { delta, .. } => {
                let steps = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => f64::from(*lines),
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y / PIXELS,
                };
                let at = self.pointer.unwrap_or_else(|| [middle(window, 0), middle(window, 1)]);
                self.zoom(STEP.powf(steps), at, image, window);
            }
            _ => return false,
        }
        true
    }

    /// Shows the picture at its own size, keeping the point in the centre.
    pub fn one_to_one(&mut self) {
        self.zoom = Some(1.0);
    }

    /// Zooms by `factor`, keeping the point under the window's pixel `at`.
    pub fn zoom(&mut self, factor: f64, at: [f64; 2], image: Extent, window: Extent) {
        let (before, scale) = (self.corner(image, window), self.scale(image, window));
        let under = std::array::from_fn::<_, 2, _>(|axis| (at[axis] - before[axis]) / scale);
        let most = ZOOM[1].min(LONGEST / f64::from(image.width.max(image.height).max(1)));
        let zoom = (scale * factor).clamp(ZOOM[0].min(most), most);
        self.zoom = Some(zoom);
        // The distance of the point under the pointer from the centre, in picture pixels, stays that of the pointer.
        self.look_at(std::array::from_fn(|axis| under[axis] + (middle(window, axis) - at[axis]) / zoom), image);
    }

    /// Moves the picture by this many pixels of the window.
    pub fn pan(&mut self, by: [f64; 2], image: Extent, window: Extent) {
        let scale = self.scale(image, window);
        self.zoom = Some(scale);
        self.look_at(std::array::from_fn(|axis| self.centre[axis] * side(image, axis) - by[axis] / scale), image);
    }

    /// Returns the placement for [`interop_core::DrawOptions::fit`].
    pub fn placement(&self, image: Extent, window: Extent) -> Fit {
        let Some(zoom) = self.zoom else { return Fit::Contain };
        let [x, y] = self.corner(image, window).map(|start| start.round() as i32);
        let [width, height] = [0, 1].map(|axis| (side(image, axis) * zoom).round().max(1.0) as u32);
        Fit::At(Placement { x, y, width, height })
    }

    /// Returns the column and row of the picture's pixel at a position of the window.
    #[cfg(test)]
    fn pixel_at(&self, at: [f64; 2], image: Extent, window: Extent) -> [f64; 2] {
        let (corner, scale) = (self.corner(image, window), self.scale(image, window));
        std::array::from_fn(|axis| (at[axis] - corner[axis]) / scale)
    }

    /// Keeps the centre on the picture, so that a part of it is always visible.
    fn look_at(&mut self, pixel: [f64; 2], image: Extent) {
        self.centre = std::array::from_fn(|axis| (pixel[axis] / side(image, axis)).clamp(0.0, 1.0));
    }

    fn scale(&self, image: Extent, window: Extent) -> f64 {
        let contained = || (side(window, 0) / side(image, 0)).min(side(window, 1) / side(image, 1));
        self.zoom.unwrap_or_else(contained)
    }

    /// Returns the position of the picture's first pixel in the window.
    fn corner(&self, image: Extent, window: Extent) -> [f64; 2] {
        let scale = self.scale(image, window);
        std::array::from_fn(|axis| middle(window, axis) - self.centre[axis] * side(image, axis) * scale)
    }
}

fn side(extent: Extent, axis: usize) -> f64 {
    f64::from([extent.width, extent.height][axis].max(1))
}

fn middle(window: Extent, axis: usize) -> f64 {
    side(window, axis) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: Extent = Extent::new(320, 200);
    const WINDOW: Extent = Extent::new(640, 480);

    #[test]
    fn the_pixel_under_the_pointer_stays_there() {
        let mut camera = Camera::default();
        let (at, mut factor) = ([100.0, 420.0], 1.5);
        for _ in 0..30 {
            let before = camera.pixel_at(at, IMAGE, WINDOW);
            camera.zoom(factor, at, IMAGE, WINDOW);
            let after = camera.pixel_at(at, IMAGE, WINDOW);
            let inside = [0, 1].map(|axis| (0.0..side(IMAGE, axis)).contains(&before[axis]));
            if inside == [true; 2] && camera.centre.iter().all(|c| *c > 0.0 && *c < 1.0) {
                assert!((0..2).all(|axis| (before[axis] - after[axis]).abs() < 1e-6), "{before:?} {after:?}");
            }
            factor = if camera.zoom == Some(ZOOM[1]) { 0.5 } else { factor };
        }
    }

    #[test]
    fn a_part_is_always_seen_and_sides_stay_countable() {
        let mut camera = Camera::default();
        assert_eq!(camera.placement(IMAGE, WINDOW), Fit::Contain);
        for step in 0..200 {
            let size = Extent::new(1 << (step % 15), 200);
            camera.zoom(1.7, [-5000.0, 9999.0], size, WINDOW);
            camera.pan([4000.0 * f64::from(step % 3), -777.0], size, WINDOW);
            let Fit::At(placement) = camera.placement(size, WINDOW) else { panic!("not placed") };
            let seen = placement.inside(WINDOW);
            assert!(seen.width > 0 && seen.height > 0, "{placement:?}");
            assert!(f64::from(placement.width.max(placement.height)) <= LONGEST);
        }
        camera.fit();
        camera.one_to_one();
        let Fit::At(placement) = camera.placement(IMAGE, WINDOW) else { panic!("not placed") };
        assert_eq!((placement.x, placement.y, placement.width, placement.height), (160, 140, 320, 200));
    }
}
