//! Reads YUV4MPEG2 (Y4M) videos frame by frame. The crate of that name treats a truncated frame as the end, reports no
//! position, and trusts the size in the header.
//!
//! The format names no colour matrix. Films recorded by this project have `XCOLORMATRIX=BT601`; for others, the number
//! of rows decides. With `XCOLORRANGE=FULL` numbers go from 0 to 255; otherwise luma goes from 16 to 235 and chroma
//! from 16 to 240. All pixels of a block use its chroma.

use super::error::SourceError;
use super::frame::Frame;
use crate::video::decoder::{RATE, check_size};
use crate::yuv::{Layout, Planes, Weights};
use interop_core::Extent;
use std::io::Read;
use std::time::Duration;

/// First bytes of a file.
pub const MAGIC: &[u8] = b"YUV4MPEG";
/// Version of the format, which follows `MAGIC`.
const VERSION: &[u8] = b"2 ";
const FRAME: &[u8] = b"FRAME";
/// Length limit of a line in bytes; other readers stop at 256 or 1024.
const MOST_LINE: usize = 1024;

/// The matrix, as films recorded by this project name it.
const BT601: &str = "COLORMATRIX=BT601";

/// Supported colour formats.
const COLOURS: [(&str, Layout); 7] = [
    ("420jpeg", Layout::I420),
    ("420mpeg2", Layout::I420),
    ("420paldv", Layout::I420),
    ("420", Layout::I420),
    ("422", Layout::I422),
    ("444", Layout::I444),
    ("mono", Layout::Grey),
];

/// A video that is read frame by frame.
pub struct Video<R> {
    from: R,
    /// Number of bytes and frames read so far.
    at: u64,
    number: u64,
    planes: Planes,
    pub period: Duration,
}

impl<R: Read> Video<R> {
    /// Reads the header.
    pub fn open(from: R) -> Result<Self, SourceError> {
        let planes = Planes::tight(COLOURS[0].1, Extent::new(0, 0), Weights::BT601, true);
        let mut video = Self { from, at: 0, number: 0, planes, period: Duration::ZERO };
        let mut first = [0; MAGIC.len()];
        let count = video.read(&mut first)?;
        if first != MAGIC {
            return Err(SourceError::Format(first[..count].to_vec()));
        }
        let (start, line) = (video.at, video.line("header")?);
        let wrong = |reason: &str| SourceError::Damaged { at: start, reason: format!("its header {reason}") };
        let parameters = line.strip_prefix(VERSION).ok_or_else(|| wrong("is not of version 2"))?;
        let mut weights = None;
        let (mut rate, mut is_full, mut layout, [mut width, mut height]) = (RATE, false, COLOURS[0].1, [0_u32; 2]);
        for parameter in parameters.split(|byte| *byte == b' ').filter(|parameter| !parameter.is_empty()) {
            let text = std::str::from_utf8(parameter).map_err(|_| wrong("is not text"))?;
            let unknown = || wrong(&format!("has {text:?}"));
            let Some((first, value)) = text.split_at_checked(1) else { return Err(unknown()) };
            match (first, value) {
                ("W", value) => width = value.parse().map_err(|_| unknown())?,
                ("H", value) => height = value.parse().map_err(|_| unknown())?,
                ("F", value) => rate = frames_a_second(value).ok_or_else(unknown)?,
                ("C", value) => {
                    let known = COLOURS.iter().find(|(name, _)| *name == value);
                    layout = known.ok_or_else(|| SourceError::Colours(value.to_owned()))?.1;
                }
                ("X", BT601) => weights = Some(Weights::BT601),
                ("X", "COLORRANGE=FULL") => is_full = true,
                ("X", "COLORRANGE=LIMITED") => is_full = false,
                ("X", value) if value.starts_with("COLORRANGE") => return Err(unknown()),
                // Interlacing, the shape of pixels, and extensions of programs.
                _ => {}
            }
        }
        let extent = Extent::new(width, height);
        check_size(extent).map_err(|why| wrong(&format!("claims {width}x{height} pixels: {why}")))?;
        video.period = Duration::from_secs_f64(1.0 / rate);
        video.planes = Planes::tight(layout, extent, weights.unwrap_or(Weights::of_rows(height)), is_full);
        Ok(video)
    }

    /// Reads the next frame; `None` at the end.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, SourceError> {
        let mut first = [0];
        // The video may end before a frame.
        if self.read(&mut first[..])? == 0 {
            return Ok(None);
        }
        let at = self.at - 1;
        let line = self.line("mark of a frame")?;
        let rest = line.strip_prefix(&FRAME[1..]).filter(|rest| rest.first().is_none_or(|byte| *byte == b' '));
        if first[0] != FRAME[0] || rest.is_none() {
            let begin = [&first, &line[..line.len().min(7)]].concat();
            let reason = format!("a frame must begin with FRAME, not \"{}\"", begin.escape_ascii());
            return Err(SourceError::Damaged { at, reason });
        }
        let mut bytes = Vec::new();
        for plane in self.planes.planes() {
            self.plane(plane.range.len(), &mut bytes)?;
        }
        self.number += 1;
        Frame::new(self.planes.clone(), bytes).map(Some)
    }

    /// Reads until the buffer is full or the video ends; returns the number of bytes.
    fn read(&mut self, to: &mut [u8]) -> Result<usize, SourceError> {
        let mut count = 0;
        while count < to.len() {
            match self.from.read(&mut to[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.at += count as u64;
        Ok(count)
    }

    /// Reads the rest of a line, without its end.
    fn line(&mut self, what: &str) -> Result<Vec<u8>, SourceError> {
        let (mut line, mut next) = (Vec::new(), [0]);
        while line.len() < MOST_LINE {
            if self.read(&mut next)? == 0 {
                return Err(SourceError::Damaged { at: self.at, reason: format!("it ends within the {what}") });
            }
            if next == *b"\n" {
                return Ok(line);
            }
            line.extend(next);
        }
        Err(SourceError::Damaged { at: self.at, reason: format!("the {what} does not end within {MOST_LINE} bytes") })
    }

    /// Memory grows with the bytes that arrive, whatever the header claims.
    fn plane(&mut self, needed: usize, to: &mut Vec<u8>) -> Result<(), SourceError> {
        let count = self.from.by_ref().take(needed as u64).read_to_end(to)?;
        self.at += count as u64;
        let missing = needed - count;
        if missing > 0 { Err(SourceError::Cut { at: self.at, frame: self.number, missing }) } else { Ok(()) }
    }
}

/// Parses frames per second from a ratio; 0:0 means unknown.
fn frames_a_second(text: &str) -> Option<f64> {
    let (frames, seconds) = text.split_once(':')?;
    match (frames.parse::<u32>().ok()?, seconds.parse::<u32>().ok()?) {
        (0, 0) => Some(RATE),
        (0, _) | (_, 0) => None,
        (frames, seconds) => Some(f64::from(frames) / f64::from(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(file: &[u8]) -> Result<Video<&[u8]>, SourceError> {
        Video::open(file)
    }

    fn said(file: &[u8]) -> String {
        let read = || -> Result<(), SourceError> {
            let mut video = open(file)?;
            while video.next_frame()?.is_some() {}
            Ok(())
        };
        read().map_or_else(|error| error.to_string(), |()| "read".into())
    }

    /// By the standards' own equations, in real numbers: luma from 0 to 1, chroma from -0.5 to 0.5.
    fn reference([luma, blue, red]: [u8; 3], [of_red, of_blue]: [f64; 2], is_full: bool) -> [u8; 3] {
        let [luma, blue, red] = [luma, blue, red].map(f64::from);
        let (luma, blue, red) = match is_full {
            true => (luma / 255.0, (blue - 128.0) / 255.0, (red - 128.0) / 255.0),
            false => ((luma - 16.0) / 219.0, (blue - 128.0) / 224.0, (red - 128.0) / 224.0),
        };
        let (r, b) = (luma + red * 2.0 * (1.0 - of_red), luma + blue * 2.0 * (1.0 - of_blue));
        let g = (luma - of_red * r - of_blue * b) / (1.0 - of_red - of_blue);
        // A half goes up, also where real numbers end a little below.
        [r, g, b].map(|part| (part * 255.0 + 0.5 + 1e-9).floor().clamp(0.0, 255.0) as u8)
    }

    #[test]
    fn planes_of_every_format_are_where_its_pixels_are() {
        for (format, columns, rows) in
            [("C420jpeg", 2, 2), ("C420mpeg2", 2, 2), ("C420paldv", 2, 2), ("", 2, 2), ("C422", 2, 1), ("C444", 1, 1)]
        {
            for range in ["", " XCOLORRANGE=FULL", " XCOLORRANGE=LIMITED"] {
                // Odd sides, two frames.
                let (width, height) = (5_usize, 3_usize);
                let chroma = [width.div_ceil(columns), height.div_ceil(rows)];
                let of_chroma = chroma[0] * chroma[1];
                let number = |n: usize| (n * 37 % 251) as u8;
                let planes: Vec<u8> = (0..width * height + 2 * of_chroma).map(number).collect();
                let mut file = format!("YUV4MPEG2 W5 H3 F30000:1001 Ip A1:1 {format}{range}\nFRAME\n").into_bytes();
                file.extend(&planes);
                file.extend(b"FRAME Ippp\n");
                file.extend(planes.iter().map(|number| 255 - number));
                let mut video = open(&file).unwrap();
                assert_eq!(video.period, Duration::from_secs_f64(1001.0 / 30000.0));
                for turn in [0, 255] {
                    let frame = video.next_frame().unwrap().unwrap();
                    assert_eq!((frame.extent(), frame.is_grey()), (Extent::new(5, 3), false));
                    for (n, pixel) in frame.rgb().chunks(3).enumerate() {
                        let block = n / width / rows * chroma[0] + n % width / columns;
                        let of = [n, 15 + block, 15 + of_chroma + block].map(|at| planes[at] ^ turn);
                        assert_eq!(pixel, reference(of, [0.299, 0.114], range.ends_with("FULL")), "{format} {n}");
                    }
                }
                assert!(video.next_frame().unwrap().is_none());
            }
        }
        let mut grey = open(b"YUV4MPEG2 W2 H1 F0:0 Cmono\nFRAME\n\x10\xeb").unwrap();
        let frame = grey.next_frame().unwrap().unwrap();
        assert!(frame.is_grey() && frame.extent() == Extent::new(2, 1) && grey.period == Duration::from_millis(40));
        assert_eq!((frame.grey(), frame.rgb()), (vec![0, 255], vec![0, 0, 0, 255, 255, 255]));
    }

    #[test]
    fn a_recorded_film_is_read_as_it_was_written_at_every_size() {
        let red = [255, 0, 0, 255];
        for rows in [1, 720] {
            let frames = crate::yuv::Frames::new(Extent::new(1, rows), 25);
            let mut film = frames.header().into_bytes();
            frames.put(&red.repeat(rows as usize), &mut film);
            let pixel = open(&film).unwrap().next_frame().unwrap().unwrap().rgb()[..3].to_vec();
            assert!(pixel.iter().zip(red).all(|(a, b)| a.abs_diff(b) <= 1), "{rows} rows: {pixel:?}");
        }
    }

    #[test]
    fn what_is_damaged_is_said_with_its_place() {
        let of = |header: &str| said(format!("YUV4MPEG{header}").as_bytes());
        assert!(of("2 W2 H2 C420p10\n").contains("\"420p10\"") && of("2 W2 H2 C411\n").contains("420mpeg2"));
        assert!(of("3 W2 H2\n").contains("byte 8: its header is not of version 2"), "{}", of("3 W2 H2\n"));
        for wrong in
            ["W0", "H", "W99999999999", "W65537", "W65536 H65536", "F1", "F0:1", "F1:0", "XCOLORRANGE=HALF", "Wé"]
        {
            let said = of(&format!("2 W2 H2 {wrong}\n"));
            assert!(said.contains("damaged at byte 8: its header"), "{wrong}: {said}");
        }
        assert!(of("2 W2 H2").contains("byte 15: it ends within the header"), "{}", of("2 W2 H2"));
        assert!(of(&format!("2 {}", "a".repeat(9999))).contains("byte 1032: the header does not end"));
        let whole = b"YUV4MPEG2 W2 H2\nFRAME\n123412FRAME\n123412";
        assert_eq!(said(whole), "read");
        for end in 17..whole.len() {
            let said = said(&whole[..end]);
            let is_frame = (22..28).contains(&end) || end > 33;
            let wanted = match end {
                28 => "read".to_owned(),
                _ if is_frame => format!("ends at byte {end}, within frame {}", u8::from(end > 28)),
                _ => format!("byte {end}: it ends within the mark of a frame"),
            };
            assert!(said.contains(&wanted), "{end}: {said}");
        }
        let said = said(b"YUV4MPEG2 W2 H2\nFRAME\n123412FRAMES\n123412");
        assert!(said.contains("damaged at byte 28: a frame must begin with FRAME, not \"FRAMES\""), "{said}");
    }
}
