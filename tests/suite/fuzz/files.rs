//! Files that programs before left behind: damaged, of others, with any numbers in them. They cost a measurement, no more.

use crate::fuzz::{Choices, Machine, Things, Turn, TurnResult, WeightedOperation, hold, operations};
use pixelferry::{
    ComputeBackend, CpuBackend, Display, Link, LinkOptions, MemoryDisplay, Mode, PathId, PixelFormat, Policy, Profiles,
    SurfaceDesc,
};
use proptest::test_runner::TestCaseError;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A folder of profiles.
pub struct World {
    folder: PathBuf,
    backend: Arc<CpuBackend>,
    display: Arc<MemoryDisplay>,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Changes bytes as files change: cut, torn, with other numbers, twice over.
pub fn damage(t: &mut Choices, bytes: &mut Vec<u8>) {
    for _ in 0..1 + t.below(4) {
        let at = t.below(bytes.len());
        match t.below(8) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << t.below(8),
            2 if !bytes.is_empty() => bytes[at] = t.word() as u8,
            3 => {
                let more = t.bytes(8);
                bytes.splice(at..at, more);
            }
            4 => {
                // Another number instead of one.
                let Some(start) = bytes.iter().skip(at).position(u8::is_ascii_digit).map(|i| i + at) else { continue };
                let len = bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count();
                let number = t.pick(&["0", "-1", "18446744073709551615", "1e308", "9007199254740993", "17", "null"]);
                bytes.splice(start..start + len, number.bytes());
            }
            5 => bytes.extend_from_within(at..),
            6 => {
                let end = at + t.below(bytes.len() - at.min(bytes.len()) + 1);
                bytes.drain(at.min(bytes.len())..end.min(bytes.len()));
            }
            _ => {}
        }
    }
}

impl Machine<'_> for World {
    fn operations() -> Vec<WeightedOperation<Self>> {
        operations! {
            2 => |w, t| w.open(t),
            8 => |w, t| w.change(t),
            2 => |_, t| Self::parse(t),
        }
    }

    fn new(things: &Things, _: &mut Turn) -> TurnResult<Option<Self>> {
        let folder = std::env::temp_dir().join(format!("pixelferry-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|e| TestCaseError::fail(format!("{}: {e}", folder.display())))?;
        Ok(Some(Self { folder, backend: Arc::clone(&things.drivers.cpu[0]), display: MemoryDisplay::new() }))
    }
}

impl World {
    fn open(&self, t: &mut Turn) -> TurnResult {
        let desc = t.pick(&[
            SurfaceDesc::image(8, 8, PixelFormat::Rgba8),
            SurfaceDesc::image(31, 7, PixelFormat::R32F),
            SurfaceDesc::buffer(512),
        ]);
        let mode = t.pick(&[Mode::Latency, Mode::FramesBehind(1), Mode::Throughput { most: 2 }]);
        let profiles = Profiles::Folder(self.folder.clone());
        let policy = Policy::default().with_mode(mode).with_profiles(profiles).with_budget(Duration::from_millis(4));
        t.op("files: open a link", format_args!("{desc} {mode:?}"));
        let (backend, display) = (Arc::clone(&self.backend), Arc::clone(&self.display));
        let opened =
            Link::open(backend as Arc<dyn ComputeBackend>, display as Arc<dyn Display>, desc, LinkOptions::new(policy));
        let mut link = t.end_with(opened)?;
        hold!(link.frames_behind() <= mode.most_behind(), "{} frames behind, {mode:?}", link.frames_behind());
        let bytes = vec![1; desc.byte_len()?];
        link.frame(|frame| frame.write(&bytes))?;
        link.flush()?;
        hold!(link.read_back()? == bytes, "{desc} shows something else");
        Ok(())
    }

    fn change(&self, t: &mut Turn) -> TurnResult {
        let list = || fs::read_dir(&self.folder).map(|all| all.flatten().map(|entry| entry.path()).collect::<Vec<_>>());
        let mut files = list().unwrap_or_default();
        files.sort();
        if files.is_empty() {
            return self.open(t);
        }
        let file = &files[t.below(files.len())];
        let mut bytes = fs::read(file).unwrap_or_default();
        damage(t, &mut bytes);
        t.did("files: damage a profile", format_args!("{}", file.display()));
        let _ = fs::write(file, bytes);
        if t.one_in(3) { self.open(t) } else { Ok(()) }
    }

    fn parse(t: &mut Turn) -> TurnResult {
        let mut text = t.pick(&PathId::ALL).to_string().into_bytes();
        damage(t, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        t.op("files: parse the name of a path", format_args!("{text:?}"));
        let id = t.end(text.parse::<PathId>())?;
        hold!(id.to_string() == text.trim(), "{text:?} was taken for {id}");
        Ok(())
    }
}
