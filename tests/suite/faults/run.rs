//! A link, and beside it a model of what it must show.

use super::rig::{Rig, paint};
use pixelferry::{Error, Extent, ImageDesc, Link, Region, SurfaceDesc};
use pixelferry_tests::sharing::Faults;

/// Parts that frames write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    Everything,
    /// Every other frame is of a part of the surface.
    Regions,
    /// Every frame is of the whole surface, and every other writes a part of it: the rest is kept.
    Part,
}

/// Result of a step of the test; the text says what is wrong.
pub type StepResult<T = ()> = Result<T, String>;

pub struct Run<'a> {
    pub rig: &'a Rig,
    pub link: Link,
    pub writes: Writes,
    image: ImageDesc,
    n: u32,
    /// Pictures finished by the path in use, oldest first.
    finished: Vec<Vec<u8>>,
    /// Picture that the path before left on show.
    before: Option<Vec<u8>>,
    /// Content of the surface, as far as frames were finished at this size.
    canvas: Option<Vec<u8>>,
}

impl<'a> Run<'a> {
    pub fn new(rig: &'a Rig, link: Link, image: ImageDesc, writes: Writes) -> Self {
        Self { rig, link, writes, image, n: 0, finished: Vec::new(), before: None, canvas: None }
    }

    /// The picture that must be on show.
    fn expected(&self) -> Option<&Vec<u8>> {
        let late = self.link.frames_behind();
        match self.finished.len() {
            0 => self.before.as_ref(),
            len => self.finished.get(len - 1 - late.min(len - 1)),
        }
    }

    /// The path changed: what it shows stays until the first frame of the next.
    fn left(&mut self, shown: Option<Vec<u8>>) {
        (self.before, self.finished) = (shown, Vec::new());
    }

    pub fn check(&mut self) -> StepResult {
        let n = self.n;
        match (self.expected().cloned(), self.rig.shown(&mut self.link)) {
            (None, Err(Error::NothingShown)) => Ok(()),
            (None, other) => Err(format!("frame {n}: nothing was finished, but what is shown is {}", word(&other))),
            (Some(picture), Ok(shown)) if picture == shown => Ok(()),
            (Some(picture), Ok(shown)) => Err(format!("frame {n}: {}", self.difference(&picture, &shown))),
            (Some(_), Err(e)) => Err(format!("frame {n}: nothing can be seen: {e}")),
        }
    }

    fn difference(&self, picture: &[u8], shown: &[u8]) -> String {
        let different = picture.chunks(4).zip(shown.chunks(4)).filter(|(a, b)| a != b).count();
        let known = self.finished.iter().position(|p| p == shown).map(|i| format!(", it is picture {i} of the path"));
        format!(
            "wrong picture by {} (at first {}): {different} of {} pixels{}",
            self.link.path(),
            shown[2],
            picture.len() / 4,
            known.unwrap_or_default()
        )
    }

    /// The frame after the last one; what is shown afterwards is checked. Whether it was finished.
    pub fn frame(&mut self) -> StepResult<pixelferry::Result<()>> {
        self.n += 1;
        let (n, rig, extent) = (self.n, self.rig, self.image.extent);
        let region = match self.writes {
            Writes::Regions if n % 2 == 0 => part_of(extent, n),
            Writes::Part if n % 2 == 1 => part_of(extent, n),
            _ => extent.full(),
        };
        let was = (self.link.path(), self.link.demoted().len());
        let shown = self.expected().cloned();
        let done = match (region == extent.full(), self.writes) {
            (true, _) => self.link.frame(|frame| rig.compute(frame, n)),
            (false, Writes::Part) => self.link.frame(|frame| rig.compute_inside(frame, region, n)),
            (false, _) => self.link.frame_region(region, |frame| rig.compute(frame, n)),
        };
        if was != (self.link.path(), self.link.demoted().len()) {
            self.left(shown);
        }
        match &done {
            Ok(()) => {
                let black = || vec![0; 4 * extent.pixels() as usize];
                let mut picture = self.canvas.clone().unwrap_or_else(black);
                paint(&mut picture, extent, region, n);
                self.canvas = Some(picture.clone());
                self.finished.push(picture);
            }
            Err(e) if !Faults::injected(e) => return Err(format!("frame {n}: the error is not the fault's: {e}")),
            Err(_) => {}
        }
        self.check()?;
        Ok(done)
    }

    /// Shows so many frames, none of which may fail.
    pub fn frames(&mut self, count: u32) -> StepResult {
        for _ in 0..count {
            self.frame()?.map_err(|e| format!("frame {}: {e}", self.n))?;
        }
        Ok(())
    }

    pub fn resize(&mut self, image: ImageDesc) -> StepResult<pixelferry::Result<()>> {
        let shown = self.expected().cloned();
        let done = self.link.resize(SurfaceDesc::Image(image));
        if done.is_ok() {
            self.left(shown);
            (self.image, self.canvas) = (image, None);
        }
        self.check()?;
        Ok(done)
    }

    /// All that was finished is on show.
    pub fn flush(&mut self) -> StepResult {
        self.link.flush().map_err(|e| format!("flush: {e}"))?;
        if let Some(newest) = self.finished.last().cloned() {
            let shown = self.rig.shown(&mut self.link).map_err(|e| e.to_string())?;
            if shown != newest {
                return Err(format!("after a flush: {}", self.difference(&newest, &shown)));
            }
            // The pipeline begins anew.
            self.finished = vec![newest];
        }
        Ok(())
    }
}

fn part_of(extent: Extent, n: u32) -> Region {
    let (width, height) = (extent.width / 2, extent.height / 2);
    Region::new(n % (width + 1), n % (height + 1), width, height)
}

fn word(shown: &pixelferry::Result<Vec<u8>>) -> String {
    match shown {
        Ok(_) => "a picture".into(),
        Err(e) => e.to_string(),
    }
}
