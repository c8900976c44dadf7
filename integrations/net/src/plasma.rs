//! The scene that the command's workers compute: moving waves of colour, and a spot that follows the pointer.

use pixelferry::{Arg, CpuKernelExt, KernelSource, Region};
use pixelferry_net::Event;

/// Computes pixels from their position in the whole picture, the time, and the spot's position and radius.
pub fn source() -> KernelSource {
    KernelSource::new("plasma").cpu_image(|out, args| {
        let (left, top, time) = (args.u32(0)?, args.u32(1)?, args.f32(2)?);
        let (spot_x, spot_y, radius) = (args.f32(3)?, args.f32(4)?, args.f32(5)?);
        out.par_pixels(|x, y| {
            let (column, row) = ((x + left) as f32, (y + top) as f32);
            if (column + 0.5 - spot_x).hypot(row + 0.5 - spot_y) < radius {
                return [255; 4];
            }
            let (x, y) = (column / 40.0, row / 40.0);
            let wave = (x + time).sin() + (y - time).cos() + ((x * x + y * y).sqrt() - time).sin();
            let channel = |phase: f32| (127.5 + 127.5 * (wave + phase).sin()) as u8;
            [channel(0.0), channel(2.1), channel(4.2), 255]
        })
    })
}

/// The kernel's arguments for a tile; `args` are the display's, by [`Waves::arguments`].
pub fn arguments(region: Region, args: &[u8]) -> [Arg<'static>; 6] {
    let number = |at: usize| {
        let bytes = args.get(4 * at..).and_then(|rest| rest.first_chunk());
        let number = bytes.map(|bytes| f32::from_le_bytes(*bytes)).filter(|number| number.is_finite());
        Arg::F32(number.unwrap_or(0.0))
    };
    [Arg::U32(region.x), Arg::U32(region.y), number(0), number(1), number(2), number(3)]
}

/// State of the display: the time, which the space bar stops, and the spot.
#[derive(Default)]
pub struct Waves {
    time: f32,
    is_stopped: bool,
    /// Last position of the pointer, and whether a button is down.
    pointer: Option<(f32, f32, bool)>,
}

impl Waves {
    /// Handles an input of a viewer; ignores those of other programs.
    pub fn take(&mut self, input: &[u8]) {
        match Event::read(input) {
            Ok(Event::Pointer { x, y, buttons }) => self.pointer = Some((x, y, buttons != 0)),
            Ok(Event::Key { code, down: true, .. }) if code == "Space" => self.is_stopped = !self.is_stopped,
            _ => {}
        }
    }

    /// Returns the arguments of the next frame, `seconds` after the previous one.
    pub fn arguments(&mut self, seconds: f32) -> Vec<u8> {
        if !self.is_stopped {
            self.time += seconds;
        }
        let (x, y, radius) = match self.pointer {
            None => (0.0, 0.0, 0.0),
            Some((x, y, is_pressed)) => (x, y, if is_pressed { 40.0 } else { 16.0 }),
        };
        [self.time, x, y, radius].iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(*bytes.first_chunk().unwrap())).collect()
    }

    #[test]
    fn inputs_move_the_spot_and_stop_the_waves() {
        let mut waves = Waves::default();
        assert_eq!(numbers(&waves.arguments(0.5)), [0.5, 0.0, 0.0, 0.0]);
        waves.take(br#"{"event":"pointer","x":30,"y":40,"buttons":0}"#);
        waves.take(b"another program's");
        assert_eq!(numbers(&waves.arguments(0.5)), [1.0, 30.0, 40.0, 16.0]);
        waves.take(br#"{"event":"pointer","x":31,"y":41,"buttons":1}"#);
        let space = |down: bool| format!(r#"{{"event":"key","code":"Space","key":" ","down":{down}}}"#);
        waves.take(space(true).as_bytes());
        waves.take(space(false).as_bytes());
        assert_eq!(numbers(&waves.arguments(0.5)), [1.0, 31.0, 41.0, 40.0]);
        waves.take(space(true).as_bytes());
        assert_eq!(numbers(&waves.arguments(0.5))[0], 1.5);
    }

    #[test]
    fn arguments_that_are_missing_or_no_numbers_are_zero() {
        let [.., time, x, _, _] = arguments(Region::new(1, 2, 3, 4), &f32::NAN.to_le_bytes());
        for arg in [time, x] {
            assert!(matches!(arg, Arg::F32(0.0)));
        }
    }
}
