//! One array of a window: its picture and statistics of its numbers.

use crate::array::{Array, DeviceDifference, or_host};
use crate::array_feed::ArrayFeed;
use crate::error::ViewError;
use crate::ring::Ring;
use pixelferry::api::gl::GlDisplay;
use pixelferry::{Display, PixelFormat};
use pixelferry_look::{Channel, Colormap, Counts, Element, Gauge, Look, Plane, Range, Refusal, Request, Spot, Tone};
use std::sync::Arc;

/// A requested range and channel, with the resulting tone, which has the range's ends.
type FoundRange = ((Range, Option<Channel>), Tone);

pub struct ShownArray {
    pub array: Array,
    /// The initial range.
    pub asked: Range,
    pub request: Request,
    /// Request of this array alone; otherwise it follows the common one.
    pub own: Option<Request>,
    /// The plane as shown; `whole` has all channels of the elements.
    pub plane: Plane,
    pub whole: Plane,
    /// Holds the picture; `None` until the array is shown.
    pub feed: Option<ArrayFeed>,
    /// When it was last shown, as an increasing number.
    pub seen: u64,
    /// Earlier frames of the array.
    pub ring: Ring,
    /// Message about its source.
    pub said: String,
    /// The picture is out of date, because the numbers were replaced.
    is_stale: bool,
    found: Vec<FoundRange>,
    /// Counts for the most recently requested range.
    pub counts: Option<Counts>,
}

impl ShownArray {
    /// Prepares arrays to be shown with one request. Settings that only some arrays support are accepted; settings that
    /// none supports are refused.
    pub fn all(arrays: Vec<Array>, request: &Request) -> Result<Vec<Self>, Refusal> {
        let request = &by_data(*request);
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
            return Err(Refusal::Shape("there are no arrays to show".into()));
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

    /// Takes the place of `old`: takes over its look, and its picture's memory if the size matches. Returns the array
    /// of `old`.
    pub fn replace(&mut self, old: Self) -> Array {
        let is_as_large = [old.plane.width, old.plane.height] == [self.plane.width, self.plane.height];
        self.feed = old.feed.filter(|feed| is_as_large && feed.reads(&self.array));
        self.is_stale = true;
        // Keep the user's changes of the look until another look is requested.
        if self.own.is_none() || self.own == old.own {
            (self.asked, self.request.look, self.own) = (old.asked, old.request.look, old.own);
        }
        (self.seen, self.ring, self.said) = (old.seen, old.ring, old.said);
        old.array
    }

    /// Makes the picture for a request. Returns whether the picture changed, and the settings that this array does not
    /// support, which are dropped. After an error nothing has changed.
    pub fn show(&mut self, display: &Arc<GlDisplay>, request: &Request) -> Result<(bool, Option<Refusal>), ViewError> {
        match self.make(display, request) {
            Err(ViewError::Driver(error)) if self.array.backend().is_some() => or_host(Err(error.into()), || {
                (self.array, self.feed) = (self.array.to_host()?, None);
                // Planes hold addresses of the memory.
                (self.plane, self.is_stale) = (self.array.plane_within(request)?.0, true);
                self.whole = whole(&self.array, request).unwrap_or(self.plane);
                self.make(display, request)
            }),
            made => made,
        }
    }

    fn make(&mut self, display: &Arc<GlDisplay>, request: &Request) -> Result<(bool, Option<Refusal>), ViewError> {
        let (plane, left_out) = self.array.plane_within(request)?;
        let mut opened = match &self.feed {
            Some(_) => None,
            None => Some(ArrayFeed::open(&(Arc::clone(display) as Arc<dyn Display>), &self.array, &plane)?),
        };
        let is_opened = opened.is_some();
        let Some(feed) = opened.as_mut().or(self.feed.as_mut()) else { return Ok((false, left_out)) };
        let mut plane = measured(&self.array, &mut self.found, &mut feed.gauge, plane, request.look.channel)?;
        plane.tone.marks = request.look.marks.unwrap_or_else(|| may_clip(&plane, &request.look));
        let is_new = is_opened || plane != self.plane || self.is_stale;
        if is_new {
            feed.put(&self.array, &plane)?;
        }
        self.feed = opened.or(self.feed.take());
        (self.plane, self.request, self.is_stale) = (plane, *request, false);
        Ok((is_new, left_out))
    }

    /// Formats the numbers of an element.
    pub fn values(&self, spot: Spot) -> Option<String> {
        let element = self.array.elements(&self.whole, &[spot]).ok()?.pop()??;
        Some(element.values().iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    }

    /// Size of its picture in bytes; 0 without one.
    pub fn picture_bytes(&self) -> usize {
        let Plane { width, height, .. } = self.plane;
        if self.feed.is_some() { width as usize * height as usize * PixelFormat::Rgba8.bytes_per_pixel() } else { 0 }
    }

    /// Returns the minimum and maximum number.
    pub fn extent(&mut self) -> Result<(f64, f64), ViewError> {
        let mut plane = self.plane;
        plane.range = Range::MINMAX;
        let channel = self.request.look.channel;
        Ok(measured(&self.array, &mut self.found, gauge(&mut self.feed, &mut None), plane, channel)?.tone.range)
    }

    /// Counts its numbers in that range, unless this was done before.
    pub fn count(&mut self, range: (f64, f64)) -> Result<(), ViewError> {
        if self.counts.as_ref().is_none_or(|counts| counts.inside.range() != range) {
            self.counts = Some(self.array.counts(&self.plane, range, gauge(&mut self.feed, &mut None))?);
        }
        Ok(())
    }

    /// Subtracts another array. The result is an array with a look symmetric about zero.
    pub fn minus(&self, other: &Self, differ: &mut DeviceDifference) -> Result<Self, ViewError> {
        let (array, layout) = self.array.minus(&self.plane, &other.array, &other.plane, differ)?;
        let colormap = (self.plane.channels == 1).then_some(Colormap::RedBlue);
        let look = Look { range: Range::Symmetric, colormap, ..Look::default() };
        Ok(Self::new(array, &Request { layout, look })?.0)
    }
}

/// Returns the request for an array that is looked at closely: a range that nobody chose follows the numbers.
pub fn by_data(mut request: Request) -> Request {
    if request.look.range == Range::OfType {
        request.look.range = Range::OfData;
    }
    request
}

/// Returns whether numbers become colours in a way that only a scale explains.
pub fn has_scale(plane: &Plane) -> bool {
    let is_integer = matches!(plane.element, Element::U8 | Element::U16 | Element::Bool);
    plane.channels == 1 && !(is_integer && plane.tone.is_plain(plane.element))
}

/// Returns whether numbers on a scale may be outside the range, as somebody chose it or the exposure.
fn may_clip(plane: &Plane, look: &Look) -> bool {
    let is_whole = [Range::OfData, Range::MINMAX, Range::Symmetric].contains(&look.range);
    has_scale(plane) && (look.exposure > 0.0 || !is_whole)
}

/// Returns the plane with all channels of the elements.
fn whole(array: &Array, request: &Request) -> Result<Plane, Refusal> {
    array.plane(&Request { layout: request.layout, ..Request::default() })
}

/// Returns the gauge of a feed, which measures on its device.
fn gauge<'a>(feed: &'a mut Option<ArrayFeed>, none: &'a mut Option<Gauge>) -> &'a mut Option<Gauge> {
    feed.as_mut().map_or(none, |feed| &mut feed.gauge)
}

/// Returns the plane with its range, which is measured unless it is known.
fn measured(
    array: &Array,
    found: &mut Vec<FoundRange>,
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
