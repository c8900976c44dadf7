//! Chooses the codec with which a picture arrives first. Independent of the network.

use crate::link::Link;
use pixelferry::Region;
use pixelferry_media::wire::{Codec, Header};
use std::time::Instant;

/// The codec changes only to one that takes at most this part of the current one's time.
const WORTH: f64 = 0.7;
/// The number of pictures in a row that must favour the new codec.
const SURE: u32 = 3;
/// Unused codecs are tried on a part of one picture in so many.
const TRY_EVERY: u64 = 32;
/// The size of such a part in bytes.
const PART: usize = 256 << 10;
/// The weight of the newest measurement in a codec's estimate.
const NEWEST: f64 = 0.25;
/// The seconds that a byte takes through memory that both ends share.
const SHARED: f64 = 1e-10;

/// The time and the saving of packing with a codec.
#[derive(Debug, Clone, Copy)]
struct Cost {
    /// Seconds for packing a byte.
    seconds: f64,
    /// Packed bytes for each unpacked byte.
    ratio: f64,
}

/// Chooses among the codecs.
#[derive(Debug)]
pub struct Chooser {
    lossy: bool,
    current: Codec,
    costs: [Option<Cost>; Codec::ALL.len()],
    pictures: u64,
    /// The number of pictures in a row that favoured another codec.
    sure: u32,
}

impl Chooser {
    /// Begins with LZ4, which is exact and on no link much slower than another codec.
    pub fn new(lossy: bool) -> Self {
        Self { lossy, current: Codec::Lz4, costs: [None; Codec::ALL.len()], pictures: 0, sure: 0 }
    }

    fn allows(&self, codec: Codec, header: &Header) -> bool {
        (codec.is_exact() || self.lossy) && codec.takes(header.image.format)
    }

    /// The codec for a picture sent over this link. Without a report of the link it is the codec used before.
    pub fn choose(&mut self, header: &Header, pixels: &[u8], quality: u8, link: Option<Link>) -> Codec {
        if !self.allows(self.current, header) {
            self.current = Codec::Lz4;
        }
        let Some(link) = link else { return self.current };
        if self.pictures.is_multiple_of(TRY_EVERY) {
            self.try_all(header, pixels, quality);
        }
        self.pictures += 1;
        self.decide(header, link);
        self.current
    }

    fn decide(&mut self, header: &Header, link: Link) {
        let Some(now) = self.seconds(self.current, link) else { return };
        let allowed = Codec::ALL.into_iter().filter(|&codec| self.allows(codec, header));
        let timed = allowed.filter_map(|codec| Some((codec, self.seconds(codec, link)?)));
        let Some((best, least)) = timed.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        self.sure = if least < now * WORTH { self.sure + 1 } else { 0 };
        if self.sure >= SURE {
            (self.current, self.sure) = (best, 0);
        }
    }

    /// The seconds from the first byte of the pixels here to their arrival there, for each byte.
    fn seconds(&self, codec: Codec, link: Link) -> Option<f64> {
        let each = if codec == Codec::None && link.shared { SHARED } else { 1.0 / link.rate };
        if codec == Codec::None {
            return Some(each);
        }
        let cost = self.cost(codec)?;
        Some(cost.seconds + cost.ratio * each)
    }

    fn cost(&self, codec: Codec) -> Option<Cost> {
        let at = Codec::ALL.iter().position(|each| *each == codec)?;
        self.costs.get(at).copied().flatten()
    }

    /// Packs some rows from the middle with each codec.
    fn try_all(&mut self, header: &Header, pixels: &[u8], quality: u8) {
        let Region { x, y, width, height } = header.region;
        let row = width as usize * header.image.format.bytes_per_pixel();
        let rows = (PART / row.max(1)).clamp(1, height as usize);
        let first = (height as usize - rows) / 2;
        let Some(part) = pixels.get(first * row..(first + rows) * row) else { return };
        let region = Region::new(x, y + first as u32, width, rows as u32);
        for codec in Codec::ALL {
            if codec == Codec::None || !self.allows(codec, header) {
                continue;
            }
            let header = Header { codec, region, ..*header };
            let begun = Instant::now();
            if let Ok(Some(packed)) = header.pack_rows(part, quality) {
                self.note(codec, part.len(), packed.len(), begun.elapsed().as_secs_f64());
            }
        }
    }

    /// Records that a codec packed pixels.
    pub fn note(&mut self, codec: Codec, bytes: usize, packed: usize, seconds: f64) {
        let bytes = bytes.max(1) as f64;
        let new = Cost { seconds: seconds / bytes, ratio: packed as f64 / bytes };
        let all = Codec::ALL.iter().zip(&mut self.costs);
        if let Some((_, cost)) = all.into_iter().find(|(each, _)| **each == codec) {
            let smooth = |old: f64, new: f64| old + NEWEST * (new - old);
            *cost = Some(cost.map_or(new, |old| Cost {
                seconds: smooth(old.seconds, new.seconds),
                ratio: smooth(old.ratio, new.ratio),
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pixelferry::{ImageDesc, PixelFormat};
    use pixelferry_media::wire::MessageKind;

    const FAST: Link = Link { rate: 1e10, shared: false };
    const SLOW: Link = Link { rate: 1e6, shared: false };

    fn header(format: PixelFormat) -> Header {
        let image = ImageDesc::new(640, 480, format);
        Header::new(MessageKind::Picture, image, image.extent.full())
    }

    /// One that knows: LZ4 packs 500 MB/s to a half, JPEG 100 MB/s to a twentieth.
    fn knowing(lossy: bool) -> Chooser {
        let mut chooser = Chooser::new(lossy);
        chooser.note(Codec::Lz4, 500, 250, 1e-6);
        chooser.note(Codec::Jpeg, 100, 5, 1e-6);
        chooser
    }

    fn settle(chooser: &mut Chooser, format: PixelFormat, link: Link) -> Codec {
        (0..SURE).for_each(|_| chooser.decide(&header(format), link));
        chooser.current
    }

    #[test]
    fn a_fast_link_gets_pixels_as_they_are_and_a_slow_one_packed() {
        for (lossy, slow) in [(false, Codec::Lz4), (true, Codec::Jpeg)] {
            let mut chooser = knowing(lossy);
            assert_eq!(settle(&mut chooser, PixelFormat::Rgba8, FAST), Codec::None);
            assert_eq!(settle(&mut chooser, PixelFormat::Rgba8, SLOW), slow);
            assert_eq!(settle(&mut chooser, PixelFormat::Rgba8, Link { shared: true, ..SLOW }), Codec::None);
        }
        assert_eq!(settle(&mut knowing(true), PixelFormat::Rgba32F, SLOW), Codec::Lz4, "JPEG takes no such pixels");
    }

    #[test]
    fn a_little_faster_is_not_worth_a_change() {
        // LZ4 takes 2 + 0.5 * 1000 / rate, none 1000 / rate, both in ns: alike at 250 MB/s.
        let mut chooser = knowing(false);
        for rate in [200e6, 250e6, 300e6] {
            assert_eq!(settle(&mut chooser, PixelFormat::Rgba8, Link { rate, shared: false }), Codec::Lz4, "{rate}");
        }
        settle(&mut chooser, PixelFormat::Rgba8, FAST);
        for rate in [300e6, 250e6, 200e6] {
            assert_eq!(settle(&mut chooser, PixelFormat::Rgba8, Link { rate, shared: false }), Codec::None, "{rate}");
        }
        // Nor is a moment.
        chooser.decide(&header(PixelFormat::Rgba8), SLOW);
        chooser.decide(&header(PixelFormat::Rgba8), FAST);
        chooser.decide(&header(PixelFormat::Rgba8), SLOW);
        chooser.decide(&header(PixelFormat::Rgba8), SLOW);
        assert_eq!(chooser.current, Codec::None);
    }

    #[test]
    fn without_news_of_the_link_nothing_is_tried() {
        let mut chooser = Chooser::new(true);
        let header = header(PixelFormat::R8);
        let pixels = vec![7; header.pixel_bytes() as usize];
        assert_eq!(chooser.choose(&header, &pixels, 85, None), Codec::Lz4);
        assert!(chooser.costs.iter().all(Option::is_none));
        chooser.choose(&header, &pixels, 85, Some(SLOW));
        assert!(chooser.cost(Codec::Lz4).is_some_and(|cost| cost.ratio < 0.1) && chooser.cost(Codec::Jpeg).is_some());
    }
}
