//! The bodies go the same way on every backend, as physics says, and reach the screen late or not.

use crate::drivers::Pair;
use pixelferry::api::gl::Viewport;
use pixelferry::{
    ComputeBackend, CpuBackend, DisplayChoice, Error, LinkOptions, MemoryDisplay, Mode, Policy, open_headless,
};
use pixelferry_demo::scenes::nbody::{Bodies, MAX_BODIES, NBody, SOFTENING, Simulation};
use pixelferry_demo::{Scene, SceneError};
use pixelferry_tests::{Need, need};
use std::rc::Rc;
use std::sync::Arc;

/// Fills neither the last tile of a GPU nor the last vector of a CPU.
const BODIES: u32 = 1_003;

fn cpu() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

/// Returns what is drawn after `frames` frames: x, y, z, speed.
fn vertices(backend: Arc<dyn ComputeBackend>, frames: u32) -> Vec<f32> {
    let mut scene = NBody::new(backend, MemoryDisplay::new(), Some(BODIES), LinkOptions::default()).unwrap();
    (0..frames).for_each(|_| assert!(scene.advance(0.0).unwrap()));
    let bytes = scene.link().read_back().unwrap();
    assert_eq!(bytes.len(), 16 * BODIES as usize);
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

fn farthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// A sum of a thousand pulls of up to about 100 is off by some 1e-5 in single precision, by the order of adding that a
/// compiler chooses. Over the 0.24 units of time here that alone moves a body by less than 1e-6; passing the cores, where
/// ways part, makes a few times that of it (4e-6 was measured). A wrong kernel is off by the way they went, about 1.
pub fn same_way([driver, cpu]: &Pair) {
    const TOLERANCE: f32 = 1e-4;
    let start = vertices(Arc::clone(cpu), 1);
    let [a, b] = [driver, cpu].map(|backend| vertices(Arc::clone(backend), 21));
    let (apart, way) = (farthest(&a, &b), farthest(&start, &b));
    println!("apart {apart:e}, way {way}");
    assert!(apart < TOLERANCE, "{apart} apart after a way of {way}");
    assert!(way > 1000.0 * TOLERANCE, "the bodies hardly moved: {way}");
}

/// Energy and momentum, in double precision.
fn conserved(all: &Bodies) -> (f64, [f64; 3]) {
    let wide = |v: &[f32; 4]| v.map(f64::from);
    let bodies: Vec<[f64; 4]> = all.bodies.iter().map(wide).collect();
    let velocities: Vec<[f64; 4]> = all.velocities.iter().map(wide).collect();
    let (mut energy, mut momentum) = (0.0, [0.0; 3]);
    for (i, (b, v)) in bodies.iter().zip(&velocities).enumerate() {
        energy += 0.5 * b[3] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        (0..3).for_each(|axis| momentum[axis] += b[3] * v[axis]);
        for other in &bodies[..i] {
            let apart2: f64 = (0..3).map(|axis| (b[axis] - other[axis]).powi(2)).sum();
            energy -= b[3] * other[3] / (apart2 + f64::from(SOFTENING).powi(2)).sqrt();
        }
    }
    (energy, momentum)
}

/// The energy is counted from the potential that the force should be the slope of: a wrong force does not keep it. The
/// bounds are a few times what was measured: 9e-5 for the energy (the steps' length), 2e-8 for the momentum (rounding).
pub fn conservation(backend: Arc<dyn ComputeBackend>) {
    let mut simulation = Simulation::new(backend, BODIES).unwrap();
    let (energy, momentum) = conserved(&simulation.read().unwrap());
    assert!(energy < -0.1, "not bound: {energy}");
    for _ in 0..60 {
        simulation.step().unwrap();
    }
    let (later, moved) = conserved(&simulation.read().unwrap());
    let drift = ((later - energy) / energy).abs();
    println!("energy {energy} to {later}, off by {drift:e}; momentum {momentum:?} to {moved:?}");
    assert!(drift < 5e-4, "the energy went from {energy} to {later}");
    assert!(moved.iter().zip(momentum).all(|(a, b)| (a - b).abs() < 1e-6), "momentum from {momentum:?} to {moved:?}");
}

#[test]
fn energy_and_momentum_are_kept_by_threads() {
    conservation(cpu());
}

#[test]
fn numbers_that_cannot_be_are_explained() {
    for wrong in [0, MAX_BODIES + 1, u32::MAX] {
        match NBody::new(cpu(), MemoryDisplay::new(), Some(wrong), LinkOptions::default()) {
            Err(SceneError::Core(Error::InvalidInput { problem, .. })) => {
                assert!(problem.contains(&wrong.to_string()) && problem.contains("1048576"), "{problem}");
            }
            Err(other) => panic!("{wrong}: {other}"),
            Ok(_) => panic!("{wrong} bodies were taken"),
        }
    }
    for few in 1..6 {
        let mut scene = NBody::new(cpu(), MemoryDisplay::new(), Some(few), LinkOptions::default()).unwrap();
        (0..3).for_each(|_| assert!(scene.advance(0.0).unwrap()));
        assert_eq!(scene.link().read_back().unwrap().len(), 16 * few as usize);
    }
    let scene = NBody::new(cpu(), MemoryDisplay::new(), None, LinkOptions::default()).unwrap();
    assert!(scene.about().unwrap().starts_with("4096 bodies (fewer, as a CPU computes"), "{:?}", scene.about());
}

#[test]
fn late_frames_of_threads_are_those_of_before_and_all_arrive() {
    late(cpu());
}

pub fn late(backend: Arc<dyn ComputeBackend>) {
    const FRAMES: u32 = 9;
    let Some(screen) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    let gl = Rc::clone(screen.gl().expect("an OpenGL display was asked for"));
    let options = LinkOptions::new(Policy::default().with_mode(Mode::FramesBehind(2)));
    let mut scene = NBody::new(Arc::clone(&backend), screen.display(), Some(BODIES), options).unwrap();
    let target = gl.create_offscreen_target(160, 90).unwrap();
    for n in 0..FRAMES {
        assert!(scene.advance(n as f32 / 30.0).unwrap());
        target.bind().unwrap();
        scene.draw(&gl, Viewport::full(160, 90)).unwrap();
    }
    let late = scene.link().frames_behind() as u32;
    println!("{late} frames behind on {}", scene.link().path());
    let shown = |scene: &mut NBody| -> Vec<f32> {
        let bytes = scene.link().read_back().unwrap();
        bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
    };
    // The same backend and kernels: the same bits.
    assert_eq!(farthest(&shown(&mut scene), &vertices(Arc::clone(&backend), FRAMES - late)), 0.0);
    scene.link().flush().unwrap();
    assert_eq!(farthest(&shown(&mut scene), &vertices(backend, FRAMES)), 0.0);

    target.bind().unwrap();
    scene.draw(&gl, Viewport::full(160, 90)).unwrap();
    let pixels = target.read_rgba8().unwrap();
    let bright = pixels.chunks_exact(4).filter(|p| p[..3].iter().any(|c| *c > 100)).count();
    let dark = pixels.chunks_exact(4).filter(|p| p[..3].iter().all(|c| *c < 20)).count();
    println!("{bright} bright and {dark} dark of {} pixels", pixels.len() / 4);
    assert!(bright > 100 && dark > 4_000, "no galaxy: {bright} bright and {dark} dark pixels");
}
