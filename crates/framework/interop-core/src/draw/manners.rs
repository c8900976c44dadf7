//! Measures the faster manner with the first draws of each kind.
//!
//! Both manners write the same pixels, so the program's own draws serve as samples. The fastest of each manner counts,
//! except for its first. The triangle stays unless a compute shader is clearly faster.

use super::manner::{DrawReport, Manner, MannerReason, Obstacle};
use crate::describe::PlainMutex;
use crate::describe::error::Result;
use crate::tournament::ShortestTime;
use std::sync::OnceLock;
use std::time::Duration;

/// Number of draws in each manner that are timed.
const TIMED: usize = ShortestTime::TIMED;

/// Kinds of draws that are remembered; a program with more kinds measures the oldest again.
const KINDS: usize = 64;

/// State of the measurement for one kind of draw.
enum Trial {
    Running([Times; 2]),
    Decided { triangle: Duration, compute: Duration },
    Refused(Obstacle),
}

/// Times of one manner. They arrive after later draws have begun.
#[derive(Clone, Copy, Default)]
struct Times {
    begun: usize,
    told: ShortestTime,
}

/// The manners of one display. `K` is what a draw's time depends on, for example its size as [`Manners::size_class`].
///
/// Real draws are timed in alternation, because both manners write the same pixels: nothing is drawn only for the
/// measurement.
pub struct Manners<K> {
    asked: OnceLock<Option<Manner>>,
    trials: PlainMutex<Vec<(K, Trial)>>,
    last: PlainMutex<Option<DrawReport>>,
}

impl<K> Default for Manners<K> {
    fn default() -> Self {
        Self { asked: OnceLock::new(), trials: PlainMutex::default(), last: PlainMutex::default() }
    }
}

impl Trial {
    fn choose(&mut self, asked: Option<Manner>) -> DrawReport {
        match (self, asked) {
            (Self::Refused(obstacle), _) => only(obstacle.clone()),
            (_, Some(manner)) => DrawReport { manner, copies: false, why: MannerReason::Asked },
            (Self::Running([triangle, compute]), None) => {
                let is_compute = compute.begun < triangle.begun;
                let (manner, next) = if is_compute { (Manner::Compute, compute) } else { (Manner::Triangle, triangle) };
                next.begun += 1;
                DrawReport { manner, copies: false, why: MannerReason::Measuring }
            }
            (Self::Decided { triangle, compute }, None) => {
                // Faster by at least a sixteenth; below that, the manner that stores least is kept.
                let quicker = *compute + *triangle / 16 < *triangle;
                let manner = if quicker { Manner::Compute } else { Manner::Triangle };
                DrawReport {
                    manner,
                    copies: false,
                    why: MannerReason::Measured { triangle: *triangle, compute: *compute },
                }
            }
        }
    }
}

fn only(obstacle: Obstacle) -> DrawReport {
    DrawReport { manner: Manner::Triangle, copies: false, why: MannerReason::Only(obstacle) }
}

impl<K: Copy + PartialEq> Manners<K> {
    /// Class of a number of pixels in which draws take about equally long: powers of 4.
    pub fn size_class(pixels: u64) -> u32 {
        pixels.max(1).ilog2() / 2
    }

    /// Selects the manner of a draw. `able` looks at the target and returns the kind of the draw and what a compute
    /// shader needs for it; it is not called where a triangle is requested. Where the reason is [`MannerReason::Measuring`],
    /// report the draw's time to [`Manners::told`].
    ///
    /// # Errors
    /// [`crate::Error::InvalidInput`] for an invalid value of [`Manner::VARIABLE`].
    pub fn choose<T>(
        &self,
        asked: Option<Manner>,
        able: impl FnOnce() -> Result<(K, T), Obstacle>,
    ) -> Result<(DrawReport, Option<(K, T)>)> {
        let asked = self.asked(asked)?;
        let (drawn, found) = match asked {
            Some(Manner::Triangle) => {
                (DrawReport { manner: Manner::Triangle, copies: false, why: MannerReason::Asked }, None)
            }
            _ => match able() {
                Err(obstacle) => (only(obstacle), None),
                Ok((kind, found)) => (self.with(kind, |trial| trial.choose(asked)), Some((kind, found))),
            },
        };
        Ok((self.done(drawn), found))
    }

    /// Records the time of a draw of this kind.
    pub fn told(&self, kind: K, manner: Manner, time: Duration) {
        self.with(kind, |trial| {
            let Trial::Running(times) = trial else { return };
            times[usize::from(manner == Manner::Compute)].told.note(time);
            if let [Some(triangle), Some(compute)] = times.map(|times| times.told.result()) {
                *trial = Trial::Decided { triangle, compute };
            }
        });
    }

    /// Records that the driver cannot do draws of this kind with a compute shader. They use a triangle from now on,
    /// including the draw whose manner was just selected.
    pub fn refuse(&self, kind: K, why: String) -> DrawReport {
        let obstacle = Obstacle::Refused(why);
        self.with(kind, |trial| *trial = Trial::Refused(obstacle.clone()));
        self.only(obstacle)
    }

    /// Records that the current draw uses a triangle because of this obstacle.
    pub fn only(&self, obstacle: Obstacle) -> DrawReport {
        self.done(only(obstacle))
    }

    /// Records that the current draw stores into another texture, which is then copied into the target.
    pub fn copied(&self, drawn: DrawReport) -> DrawReport {
        self.done(DrawReport { copies: true, ..drawn })
    }

    fn done(&self, drawn: DrawReport) -> DrawReport {
        self.last.lock().insert(drawn).clone()
    }

    /// Returns the requested manner: from the environment, otherwise from the argument.
    fn asked(&self, here: Option<Manner>) -> Result<Option<Manner>> {
        let forced = match self.asked.get() {
            Some(known) => *known,
            None => {
                let found = Manner::asked(&|name| std::env::var_os(name))?;
                *self.asked.get_or_init(|| found)
            }
        };
        Ok(forced.or(here))
    }

    /// Draws offscreen until the kind is settled, so that measurements do not time both manners. `draw` selects a
    /// manner, draws, and waits until its time is reported; its argument is an obstacle to a compute shader besides the
    /// target, if there is one. Where a CPU draws (`software`), settling would take most of the time for selecting a
    /// path.
    pub fn settle(
        &self,
        asked: Option<Manner>,
        software: bool,
        mut draw: impl FnMut(Option<Obstacle>) -> Result<DrawReport>,
    ) -> Result<()> {
        let obstacle = (software && self.asked(asked)?.is_none()).then_some(Obstacle::Unmeasured);
        for _ in 0..=2 * TIMED {
            if draw(obstacle.clone())?.why != MannerReason::Measuring {
                break;
            }
        }
        Ok(())
    }

    /// True where this kind needs more measurements.
    pub fn is_measuring(&self, kind: &K) -> bool {
        self.trials
            .lock()
            .iter()
            .any(|(other, trial)| other == kind && matches!(trial, Trial::Running([first, _]) if first.begun > 0))
    }

    /// Returns how the last draw was done.
    pub fn last(&self) -> Option<DrawReport> {
        self.last.lock().clone()
    }

    fn with<R>(&self, kind: K, f: impl FnOnce(&mut Trial) -> R) -> R {
        let mut trials = self.trials.lock();
        let at = trials.iter().position(|(other, _)| *other == kind).unwrap_or_else(|| {
            if trials.len() == KINDS {
                trials.remove(0);
            }
            trials.push((kind, Trial::Running(Default::default())));
            trials.len() - 1
        });
        f(&mut trials[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(manners: &Manners<u32>, asked: Option<Manner>, kind: u32) -> DrawReport {
        manners.choose(asked, || Ok((kind, ()))).unwrap().0
    }

    /// Draws until it is decided; `times` of a triangle and of a compute shader, microseconds.
    fn decided(manners: &Manners<u32>, kind: u32, times: [u64; 2]) -> DrawReport {
        for _ in 0..2 * TIMED {
            let drawn = choose(manners, None, kind);
            assert_eq!(drawn.why, MannerReason::Measuring);
            assert!(manners.is_measuring(&kind));
            let time = times[usize::from(drawn.manner == Manner::Compute)];
            manners.told(kind, drawn.manner, Duration::from_micros(time));
        }
        assert!(!manners.is_measuring(&kind));
        choose(manners, None, kind)
    }

    #[test]
    fn the_quicker_one_is_kept_for_each_kind() {
        let manners = Manners::default();
        for (kind, times, expected) in [
            (0, [160, 24], Manner::Compute),
            (1, [24, 160], Manner::Triangle),
            (2, [100, 99], Manner::Triangle),
            (3, [0, 0], Manner::Triangle),
        ] {
            let drawn = decided(&manners, kind, times);
            let [triangle, compute] = times.map(Duration::from_micros);
            assert_eq!((drawn.manner, drawn.why), (expected, MannerReason::Measured { triangle, compute }));
        }
        assert_eq!(choose(&manners, None, 0).manner, Manner::Compute, "others change nothing");
        assert_eq!(manners.last().unwrap().manner, Manner::Compute);
    }

    #[test]
    fn the_first_draw_of_each_does_not_count() {
        let manners = Manners::default();
        for _ in 0..2 {
            let drawn = choose(&manners, None, 0);
            manners.told(0, drawn.manner, Duration::ZERO);
        }
        for _ in 0..2 * (TIMED - 1) {
            let drawn = choose(&manners, None, 0);
            let time = if drawn.manner == Manner::Compute { 2 } else { 9 };
            manners.told(0, drawn.manner, Duration::from_micros(time));
        }
        let [triangle, compute] = [9, 2].map(Duration::from_micros);
        assert_eq!(choose(&manners, None, 0).why, MannerReason::Measured { triangle, compute });
    }

    #[test]
    fn times_may_come_late() {
        let manners = Manners::default();
        let drawn: Vec<_> = (0..5 * TIMED).map(|_| choose(&manners, None, 0).manner).collect();
        assert_eq!(drawn.iter().filter(|manner| **manner == Manner::Compute).count(), 5 * TIMED / 2);
        for manner in drawn {
            manners.told(0, manner, Duration::from_micros(if manner == Manner::Compute { 1 } else { 5 }));
        }
        assert_eq!(choose(&manners, None, 0).manner, Manner::Compute);
    }

    #[test]
    fn what_is_asked_for_is_done_where_it_can_be() {
        let manners = Manners::default();
        for manner in Manner::ALL {
            let drawn = choose(&manners, Some(manner), 0);
            assert_eq!(drawn, DrawReport { manner, copies: false, why: MannerReason::Asked });
        }
        let (drawn, _) = manners.choose(Some(Manner::Compute), || Err::<(u32, ()), _>(Obstacle::InPass)).unwrap();
        assert_eq!(
            drawn,
            DrawReport { manner: Manner::Triangle, copies: false, why: MannerReason::Only(Obstacle::InPass) }
        );
        let (_, looked) =
            manners.choose(Some(Manner::Triangle), || -> Result<(u32, ()), _> { unreachable!() }).unwrap();
        assert!(looked.is_none());
        let copied = manners.copied(choose(&manners, Some(Manner::Compute), 0));
        assert_eq!(
            (copied.to_string().as_str(), manners.last()),
            ("compute and a copy (requested)", Some(copied.clone()))
        );
        let refused = manners.refuse(0, "no".into());
        assert_eq!(refused, manners.last().unwrap());
        for asked in [None, Some(Manner::Compute)] {
            assert_eq!(choose(&manners, asked, 0), refused);
        }
        assert_eq!(refused.to_string(), "triangle (the driver rejected the shader or its target: no)");
    }

    #[test]
    fn what_nobody_sees_settles_its_kind_but_not_where_a_cpu_draws() {
        for (software, expected) in [(false, 2 * TIMED + 1), (true, 1)] {
            let (manners, mut draws) = (Manners::default(), 0);
            let draw = |obstacle: Option<Obstacle>| {
                draws += 1;
                let (drawn, _) = manners.choose(None, || obstacle.map_or(Ok((0, ())), Err))?;
                manners.told(0, drawn.manner, Duration::from_micros(draws));
                Ok(drawn)
            };
            manners.settle(None, software, draw).unwrap();
            assert_eq!((draws, manners.is_measuring(&0)), (expected as u64, false));
        }
        let manners = Manners::<u32>::default();
        let draw = |obstacle: Option<Obstacle>| {
            assert_eq!(obstacle, None, "who asks is heard");
            Ok(choose(&manners, Some(Manner::Compute), 0))
        };
        manners.settle(Some(Manner::Compute), true, draw).unwrap();
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let manners = Manners::default();
        for kind in 0..3 * KINDS as u32 {
            decided(&manners, kind, [5, 1]);
        }
        assert_eq!(manners.trials.lock().len(), KINDS);
        assert_eq!(choose(&manners, None, 0).why, MannerReason::Measuring);
    }

    #[test]
    fn sizes_are_alike_within_a_factor_of_four() {
        let class = Manners::<u32>::size_class;
        assert_eq!((class(0), class(1), class(1920 * 1080)), (0, 0, class(2048 * 1024)));
        assert!(class(3840 * 2160) > class(1920 * 1080) && class(u64::MAX) == 31);
    }
}
