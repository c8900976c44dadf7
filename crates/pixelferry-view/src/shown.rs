//! One array of a window: its picture, and what was found out of its numbers.

use crate::array::{Array, Differ, or_host};
use crate::error::ViewError;
use crate::feed::Feed;
use crate::ring::Ring;
use pixelferry::api::gl::GlDisplay;
use pixelferry::{Display, PixelFormat};
use pixelferry_look::{Channel, Colormap, Counts, Gauge, Look, Plane, Range, Refusal, Request, Spot, Tone};
use std::rc::Rc;

/// A range that was asked for, of which channel, and the tone that has its ends.
type Found = ((Range, Option<Channel>), Tone);

pub struct Shown {
    pub array: Array,
    /// Range that was asked for at first.
    pub asked: Range,
    pub request: Request,
    /// What was asked for this array alone: others have a look of their own.
    pub own: Option<Request>,
    /// As it is shown, and with all that its elements have.
    pub plane: Plane,
    pub whole: Plane,
    /// Holds the picture; `None` until it is shown.
    pub feed: Option<Feed>,
    /// When it was shown last, as a number that grows.
    pub seen: u64,
    /// Frames that were in its place.
    pub ring: Ring,
    /// Words about where it comes from.
    pub said: String,
    /// The picture is of numbers that were replaced.
    is_stale: bool,
    found: Vec<Found>,
    /// Of the range that was asked for last.
    pub counts: Option<Counts>,
}

impl Shown {
    /// Arrays to be shown alike. What some do not take, others may; what none takes is refused.
    pub fn all(arrays: Vec<Array>, request: &Request) -> Result<Vec<Self>, Refusal> {
        let is_one = arrays.len() == 1;
        let (mut all, mut refused) = (Vec::new(), Vec::new());
        for array in arrays {
            let name = array.name().to_owned();
            let named = |refusal| if is_one { refusal } else { Refusal::Shape(format!("{name}: {refusal}")) };
            let (shown, left_out) = Self::new(array, request).map_err(named)?;
            refused.extend(left_out.map(named));
            all.push(shown);
        }
        if all.is_empty() {
            return Err(Refusal::Shape("there is no array to be shown".into()));
        }
        let is_taken = refused.len() < all.len();
        refused.into_iter().next().filter(|_| !is_taken).map_or(Ok(all), Err)
    }

    pub fn new(array: Array, request: &Request) -> Result<(Self, Option<Refusal>), Refusal> {
        let (plane, left_out) = array.plane_within(request)?;
        let whole = whole(&array, request).unwrap_or(plane);
        let (asked, request) = (request.look.range, *request);
        let said = array.waiting().unwrap_or_default().to_owned();
        let shown = Self {
            array,
            asked,
            request,
            own: None,
            plane,
            whole,
            feed: None,
            seen: 0,
            ring: Ring::default(),
            said,
            is_stale: false,
            found: Vec::new(),
            counts: None,
        };
        Ok((shown, left_out))
    }

    /// Replaces another, whose numbers are returned: has its look, and the memory of its picture where that is as large.
    pub fn replace(&mut self, old: Self) -> Array {
        let is_as_large = [old.plane.width, old.plane.height] == [self.plane.width, self.plane.height];
        self.feed = old.feed.filter(|feed| is_as_large && feed.reads(&self.array));
        self.is_stale = true;
        // What the user made of a look stays, until another one is asked for.
        if self.own.is_none() || self.own == old.own {
            (self.asked, self.request.look, self.own) = (old.asked, old.request.look, old.own);
        }
        (self.seen, self.ring, self.said) = (old.seen, old.ring, old.said);
        old.array
    }

    /// Makes the picture that is asked for, where it is another, which is true then. What this array does not take is left out, and
    /// returned. After an error all is as before.
    pub fn show(&mut self, display: &Rc<GlDisplay>, request: &Request) -> Result<(bool, Option<Refusal>), ViewError> {
        match self.make(display, request) {
            Err(ViewError::Driver(error)) if self.array.backend().is_some() => or_host(Err(error.into()), || {
                (self.array, self.feed) = (self.array.to_host()?, None);
                // Planes name the memory.
                (self.plane, self.is_stale) = (self.array.plane_within(request)?.0, true);
                self.whole = whole(&self.array, request).unwrap_or(self.plane);
                self.make(display, request)
            }),
            made => made,
        }
    }

    fn make(&mut self, display: &Rc<GlDisplay>, request: &Request) -> Result<(bool, Option<Refusal>), ViewError> {
        let (plane, left_out) = self.array.plane_within(request)?;
        let mut opened = match &self.feed {
            Some(_) => None,
            None => Some(Feed::open(&(Rc::clone(display) as Rc<dyn Display>), &self.array, &plane)?),
        };
        let is_opened = opened.is_some();
        let Some(feed) = opened.as_mut().or(self.feed.as_mut()) else { return Ok((false, left_out)) };
        let plane = measured(&self.array, &mut self.found, &mut feed.gauge, plane, request.look.channel)?;
        let is_new = is_opened || plane != self.plane || self.is_stale;
        if is_new {
            feed.put(&self.array, &plane)?;
        }
        self.feed = opened.or(self.feed.take());
        (self.plane, self.request, self.is_stale) = (plane, *request, false);
        Ok((is_new, left_out))
    }

    /// The numbers of an element, as text.
    pub fn values(&self, spot: Spot) -> Option<String> {
        let element = self.array.elements(&self.whole, &[spot]).ok()?.pop()??;
        Some(element.values().iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    }

    /// Bytes of its picture, 0 without one.
    pub fn picture_bytes(&self) -> usize {
        let Plane { width, height, .. } = self.plane;
        if self.feed.is_some() { width as usize * height as usize * PixelFormat::Rgba8.bytes_per_pixel() } else { 0 }
    }

    /// The least and the greatest number.
    pub fn extent(&mut self) -> Result<(f64, f64), ViewError> {
        let mut plane = self.plane;
        plane.range = Range::MINMAX;
        let channel = self.request.look.channel;
        Ok(measured(&self.array, &mut self.found, gauge(&mut self.feed, &mut None), plane, channel)?.tone.range)
    }

    /// Counts its numbers in that range, unless that was done.
    pub fn count(&mut self, range: (f64, f64)) -> Result<(), ViewError> {
        if self.counts.as_ref().is_none_or(|counts| counts.inside.range() != range) {
            self.counts = Some(self.array.counts(&self.plane, range, gauge(&mut self.feed, &mut None))?);
        }
        Ok(())
    }

    /// This minus another, as an array of its own that is shown about zero.
    pub fn minus(&self, other: &Self, differ: &mut Differ) -> Result<Self, ViewError> {
        let (array, layout) = self.array.minus(&self.plane, &other.array, &other.plane, differ)?;
        let colormap = (self.plane.channels == 1).then_some(Colormap::RedBlue);
        let look = Look { range: Range::Symmetric, colormap, ..Look::default() };
        Ok(Self::new(array, &Request { layout, look })?.0)
    }
}

/// An array with all that its elements have.
fn whole(array: &Array, request: &Request) -> Result<Plane, Refusal> {
    array.plane(&Request { layout: request.layout, ..Request::default() })
}

/// Kernels that measure on the device of a feed.
fn gauge<'a>(feed: &'a mut Option<Feed>, none: &'a mut Option<Gauge>) -> &'a mut Option<Gauge> {
    feed.as_mut().map_or(none, |feed| &mut feed.gauge)
}

/// The picture with its range, unless that was found before.
fn measured(
    array: &Array,
    found: &mut Vec<Found>,
    gauge: &mut Option<Gauge>,
    mut plane: Plane,
    channel: Option<Channel>,
) -> Result<Plane, ViewError> {
    let key = (plane.range, channel);
    if let Some((_, range)) = found.iter().find(|(known, _)| *known == key) {
        (plane.tone.range, plane.tone.whole) = (range.range, range.whole);
    } else if plane.range.fixed().is_none() {
        plane = array.measured(plane, gauge)?;
        found.push((key, plane.tone));
    }
    Ok(plane)
}
