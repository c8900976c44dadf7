//! Paths, and what is found out about them.

/// Everything about one backend and one display for one surface: every path with its state and cost, and findings.
///
/// ```
/// use pixelferry::*;
///
/// let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let link = Link::open(backend, screen.display(), desc, LinkOptions::default())?;
/// let report: &ProbeReport = link.report();
/// assert_eq!(report.chosen().map(|row| row.id), Some(link.path()));
/// println!("{report}");
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::ProbeReport;

/// Everything about one path: how far it got, why, and what it costs.
///
/// ```
/// use pixelferry::*;
///
/// # let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// # let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// # let link = Link::open(backend, screen.display(), desc, LinkOptions::default())?;
/// for row in &link.report().paths {
///     println!("{}: {} ({})", row.id, row.state.word(), row.state.detail());
/// }
/// // The CPU's threads write no texture of OpenGL's.
/// let direct = link.report().paths.iter().find(|row| row.id == PathId::DIRECT);
/// assert!(direct.is_some_and(|row| matches!(row.state, PathState::NotOffered { .. })));
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::PathReport;

/// What a path costs: a kernel that writes every pixel, the hand-over, a draw that reads every pixel.
///
/// ```
/// use pixelferry::*;
///
/// # let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// # let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let policy = Policy::default().with_profiles(Profiles::Off);
/// let link = Link::open(backend, screen.display(), desc, LinkOptions::new(policy))?;
/// let all: Vec<&Measured> = link.report().paths.iter().flat_map(|row| &row.measured).collect();
/// assert!(all.iter().all(|cost| cost.median_us > 0.0 && cost.median_us <= cost.p99_us));
/// # assert!(!all.is_empty());
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Measured;

/// A finding that the user can act on, with a name that stays the same.
///
/// ```
/// use pixelferry::*;
///
/// # let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// # let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// # let link = Link::open(backend, screen.display(), desc, LinkOptions::default())?;
/// for Diagnosis { name, finding, advice, .. } in &link.report().diagnoses {
///     println!("{name}: {finding}. {advice}");
///     assert!(!advice.is_empty());
/// }
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Diagnosis;

/// One path as data: its name, what it needs of both sides, what it costs, and how it is opened.
///
/// ```
/// use pixelferry::driver::path::{HostRoundTrip, PathSpec, Paths};
/// use pixelferry::*;
///
/// let mut mine = PathSpec::new("mine", |_| Support::Yes, |pair| Ok(Box::new(HostRoundTrip::open(pair)?)));
/// mine.mechanism = "as the path that always is there";
/// let paths = Paths::default().with(mine)?;
/// let policy = Policy::default().with_force(paths.named("mine")?).with_paths(paths);
/// let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let link = Link::open(backend, screen.display(), desc, LinkOptions::new(policy))?;
/// assert_eq!(link.path().name(), "mine");
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::PathSpec;

/// An opened path, frame by frame; [`Link`](crate::Link) does this for programs.
///
/// ```
/// use pixelferry::driver::path::{HostRoundTrip, Pairing, SharingPath};
/// use pixelferry::driver::Part;
/// use pixelferry::*;
///
/// let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// let (display, desc) = (screen.display(), SurfaceDesc::buffer(4));
/// let pairing = Pairing::new(&backend, &display, &desc);
/// let mut path = HostRoundTrip::open(&pairing)?;
/// path.begin(&Part::full(&desc))?;
/// let (memory, view) = path.target()?.into_parts();
/// memory.write(view.span().start, &[1, 2, 3, 4])?;
/// path.finish()?;
/// assert_eq!(path.surface_mut().read_back(&Part::full(&desc))?, [1, 2, 3, 4]);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::SharingPath;

/// What frames cost where they are shown so many frames late.
///
/// ```
/// use pixelferry::*;
///
/// # let (backend, screen) = open_pair(BackendChoice::Cpu, DisplayChoice::Memory, &[])?;
/// # let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let policy = Policy::default().with_mode(Mode::Throughput { most: 2 }).with_profiles(Profiles::Off);
/// let link = Link::open(backend, screen.display(), desc, LinkOptions::new(policy))?;
/// let tried: &[Lateness] = &link.report().lateness;
/// assert!(tried.iter().all(|step| step.frames_behind <= 2 && step.microseconds > 0.0));
/// assert!(link.frames_behind() <= 2);
/// # Ok::<(), Error>(())
/// ```
///
#[doc(inline)]
pub use interop_core::Lateness;
