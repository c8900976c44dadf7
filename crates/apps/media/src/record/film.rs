//! The thread that writes a film.

use super::error::RecordError;
use super::output::Output;
use super::sink::{Sink, StartedFile};
use interop_core::describe::threads;
use interop_core::{Extent, ImageDesc, PixelFormat, RowOrder};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread::JoinHandle;

/// Number of pictures that may wait for the writer.
const WAITING: usize = 4;

/// A picture, shown from one frame of the film on.
pub(super) struct Picture {
    pub(super) at: u64,
    pub(super) image: ImageDesc,
    /// Pixels in tight rows.
    pub(super) pixels: Vec<u8>,
}

enum Message {
    Picture(Picture),
    /// The end, with the total number of frames.
    End(u64),
}

/// A film in progress. If it is dropped, it ends at its current length.
pub(super) struct Film {
    to: Option<SyncSender<Message>>,
    /// Memory of pictures that were written, for reuse.
    back: Receiver<Vec<u8>>,
    /// Signals that the first picture is being written; `None` after that.
    opened: Option<Receiver<()>>,
    thread: Option<JoinHandle<Result<(u64, Extent), RecordError>>>,
}

impl Film {
    pub(super) fn start(output: Output, rate: u32) -> Result<Self, RecordError> {
        let begun = StartedFile::new(output, rate)?;
        let (to, from) = sync_channel(WAITING);
        let (give, back) = sync_channel(WAITING);
        let (tell, opened) = channel();
        let thread = threads::spawn("film", move || write(begun, &from, &give, tell));
        let thread = Some(thread.map_err(RecordError::Thread)?);
        Ok(Self { to: Some(to), back, opened: Some(opened), thread })
    }

    /// Returns memory for a picture.
    pub(super) fn memory(&self) -> Vec<u8> {
        self.back.try_recv().unwrap_or_default()
    }

    /// Passes a picture to the writer. Returns false, and drops the picture, where the writer is behind and `waits` is
    /// false. At the first picture, waits until the writer has started.
    pub(super) fn put(&mut self, picture: Picture, waits: bool) -> Result<bool, RecordError> {
        let Some(to) = &self.to else { return Err(RecordError::Ended) };
        let sent = match waits {
            true => to.send(Message::Picture(picture)).map_err(drop),
            false => match to.try_send(Message::Picture(picture)) {
                Err(TrySendError::Full(_)) => return Ok(false),
                sent => sent.map_err(drop),
            },
        };
        // An encoder needs time to start; the film's clock starts after that.
        let is_open = sent.is_ok() && self.opened.take().is_none_or(|opened| opened.recv().is_ok());
        if is_open { Ok(true) } else { Err(self.end().err().unwrap_or(RecordError::Ended)) }
    }

    /// Ends the film after this many frames. Returns the number of frames in it and their size.
    pub(super) fn finish(mut self, frames: u64) -> Result<(u64, Extent), RecordError> {
        if let Some(to) = &self.to {
            // A writer that ended early reports the reason below.
            let _ = to.send(Message::End(frames));
        }
        self.end()
    }

    fn end(&mut self) -> Result<(u64, Extent), RecordError> {
        self.to = None;
        let thread = self.thread.take().ok_or(RecordError::Ended)?;
        thread.join().unwrap_or(Err(RecordError::Ended))
    }
}

impl Drop for Film {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if let Err(error) = self.end()
            && !matches!(error, RecordError::Ended)
        {
            tracing::warn!(%error, "cannot end a film");
        }
    }
}

fn write(
    begun: StartedFile,
    from: &Receiver<Message>,
    give: &SyncSender<Vec<u8>>,
    opened: Sender<()>,
) -> Result<(u64, Extent), RecordError> {
    let (mut begun, mut sink): (_, Option<Sink>) = (Some((begun, opened)), None);
    let mut pixels = Vec::new();
    for message in from {
        match message {
            Message::Picture(picture) => {
                let extent = sink.as_ref().map_or(picture.image.extent, Sink::extent);
                arrange(&picture, extent, &mut pixels);
                let sink = match (&mut sink, begun.take()) {
                    (Some(sink), _) => sink,
                    (none, Some((begun, opened))) => {
                        let sink = none.insert(begun.of(extent, &pixels)?);
                        // The sender of the picture waits for this, or is gone.
                        let _ = opened.send(());
                        sink
                    }
                    (None, None) => return Err(RecordError::Ended),
                };
                sink.until(picture.at)?;
                sink.set(&mut pixels);
                // A sender with memory of its own does not take any back.
                let _ = give.try_send(picture.pixels);
            }
            Message::End(frames) => {
                if let Some(sink) = &mut sink {
                    sink.until(frames)?;
                }
                break;
            }
        }
    }
    let Some(mut sink) = sink else { return Ok((0, Extent::new(0, 0))) };
    // The current picture is shown at least once.
    let least = sink.written.max(1);
    sink.until(least)?;
    sink.finish()
}

/// Returns tight rows of RGBA8 in the film's size, the top row first. Pixels beyond the right and lower edge are cut
/// off, and missing pixels are black.
fn arrange(Picture { image, pixels, .. }: &Picture, extent: Extent, all: &mut Vec<u8>) {
    let (bytes, order) = match image.format {
        PixelFormat::Bgra8 => (4, [2, 1, 0]),
        PixelFormat::R8 => (1, [0, 0, 0]),
        _ => (4, [0, 1, 2]),
    };
    let row = image.extent.width as usize * bytes;
    let mut rows: Vec<&[u8]> = pixels.chunks_exact(row.max(1)).collect();
    if image.row_order == RowOrder::BottomUp {
        rows.reverse();
    }
    let width = extent.width as usize;
    all.clear();
    all.reserve(width * extent.height as usize * 4);
    for y in 0..extent.height as usize {
        let row = rows.get(y).copied().unwrap_or_default();
        let row = &row[..row.len().min(width * bytes)];
        if image.format == PixelFormat::Rgba8 {
            all.extend_from_slice(row);
        } else {
            all.extend(row.chunks_exact(bytes).flat_map(|pixel| {
                let [red, green, blue] = order.map(|at| pixel[at]);
                [red, green, blue, 255]
            }));
        }
        let end = (y + 1) * width * 4;
        while all.len() < end {
            all.extend_from_slice(&[0, 0, 0, 255]);
        }
    }
}

#[test]
fn pictures_are_arranged_as_the_film_takes_them() {
    let picture = |image: ImageDesc, pixels: &[u8]| Picture { at: 0, image, pixels: pixels.to_vec() };
    let arranged = |picture, extent| {
        let mut pixels = vec![7; 3];
        arrange(&picture, extent, &mut pixels);
        pixels
    };
    let grey = ImageDesc::new(2, 2, PixelFormat::R8).with_row_order(RowOrder::BottomUp);
    let same = arranged(picture(grey, &[1, 2, 3, 4]), Extent::new(2, 2));
    assert_eq!(same, [3, 3, 3, 255, 4, 4, 4, 255, 1, 1, 1, 255, 2, 2, 2, 255]);
    let smaller = arranged(picture(grey, &[1, 2, 3, 4]), Extent::new(1, 1));
    assert_eq!(smaller, [3, 3, 3, 255]);
    let blue = ImageDesc::new(1, 1, PixelFormat::Bgra8);
    let larger = arranged(picture(blue, &[7, 8, 9, 10]), Extent::new(2, 2));
    assert_eq!(larger, [&[9, 8, 7, 255][..], &[0, 0, 0, 255].repeat(3)].concat());
}
