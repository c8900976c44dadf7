//! Arrays that stay in memory of a device are shown, measured and read there: each window is, number for number, that of the same
//! array in memory of the host.

use crate::suite::{WINDOW, gl, point};
use pixelferry::api::gl::OffscreenTarget;
use pixelferry::{BackendChoice, ComputeBackend, CpuBackend, api::opencl::OpenClBackend, open_backend};
use pixelferry_look::{Number, OPTIONS, Request, TABLE};
use pixelferry_testing::{Need, asked, given, need, pass_in_child};
use pixelferry_view::{Array, ArrayView};
use std::sync::Arc;

/// Names the device in the child.
const INSTEAD: &str = "PIXELFERRY_TEST_DEVICE";
/// Bytes of two columns of a histogram, which is 96 pixels high.
const TWO_BARS: usize = 2 * 96 * 4;
/// 40 x 30 elements, ten window pixels for each.
const SIDES: [i64; 2] = [30, 40];

/// Bytes of which every other is in every place of a number.
fn bytes(len: usize, step: usize) -> Vec<u8> {
    (0..len).map(|n| (n * step % 251) as u8).collect()
}

/// The same array in memory of the host, and of the device.
struct ArrayCase<'a> {
    name: &'a str,
    bytes: &'a [u8],
    first: usize,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    number: &'static str,
}

impl ArrayCase<'_> {
    fn on_host(&self) -> Array {
        let (shape, number) = (self.shape.clone(), Number::of_name(self.number).unwrap());
        match self.strides.clone() {
            Some(strides) => Array::with_strides(self.name, self.bytes, self.first, shape, strides, number).unwrap(),
            None => Array::new(self.name, self.bytes, shape, number).unwrap(),
        }
    }

    fn on(&self, backend: &Arc<dyn ComputeBackend>) -> Array {
        let (shape, strides, number) =
            (self.shape.clone(), self.strides.clone(), Number::of_name(self.number).unwrap());
        let mut memory = backend.allocate(self.bytes.len()).unwrap();
        memory.write(0, self.bytes).unwrap();
        Array::on_device(self.name, Arc::clone(backend), memory, self.first, shape, strides, number).unwrap()
    }
}

fn given_of<'a>(bytes: &'a [u8], number: &'static str) -> ArrayCase<'a> {
    ArrayCase { name: "a", bytes, first: 0, shape: SIDES.to_vec(), strides: None, number }
}

/// A view of arrays of the host, and one of the same on a device.
struct Both {
    target: OffscreenTarget,
    backend: Arc<dyn ComputeBackend>,
    views: [ArrayView; 2],
}

impl Both {
    fn open(backend: &Arc<dyn ComputeBackend>, given: &[ArrayCase<'_>], request: Request) -> Option<Self> {
        let (display, target) = gl()?;
        let open = |arrays| ArrayView::open(&display, arrays, request).unwrap();
        let views = [
            open(given.iter().map(ArrayCase::on_host).collect()),
            open(given.iter().map(|given| given.on(backend)).collect()),
        ];
        Some(Self { target, backend: Arc::clone(backend), views })
    }

    fn each<R>(&mut self, work: impl FnMut(&mut ArrayView) -> R) -> [R; 2] {
        self.views.each_mut().map(work)
    }

    fn press(&mut self, key: char) {
        assert_eq!(self.each(|view| view.press(key)), [true; 2]);
    }

    fn put(&mut self, given: &ArrayCase<'_>) {
        self.views[0].put(given.on_host()).unwrap();
        self.views[1].put(given.on(&self.backend)).unwrap();
    }

    /// True where the second view's picture is made by the device.
    fn is_on_device(&mut self) -> bool {
        self.views[1].link().is_some_and(|link| Arc::ptr_eq(link.backend(), &self.backend))
    }

    /// Titles, what is under the pointer, and all pixels.
    fn compare(&mut self, what: &str) {
        let [host, device] = self.each(|view| view.title() + &view.explain());
        assert!(is_near(&host, &device), "{what}: {device}, and not {host}");
        for place in [[5.0, 5.0], [205.0, 155.0], [395.0, 295.0]] {
            let [host, device] = self.each(|view| point(view, place[0], place[1]));
            let [host, device] = [host, device].map(Option::unwrap_or_default);
            assert!(is_near(&host, &device), "{what} at {place:?}: {device}, and not {host}");
        }
        let target = &self.target;
        let [host, device] = self.views.each_mut().map(|view| {
            target.bind().unwrap();
            view.draw(WINDOW, 1.0).unwrap();
            target.read_pixels().unwrap()
        });
        // Magnitudes may be rounded otherwise, which moves those on a border from one bar of a histogram to the next: zeros of a range
        // that is symmetric are all on one.
        let most = if what.contains("of complex") { TWO_BARS } else { 0 };
        let bytes = host.iter().zip(&device).enumerate();
        let apart: Vec<_> = bytes.filter(|(_, (host, device))| host.abs_diff(**device) > 1).collect();
        if let (true, Some((at, (host, device)))) = (apart.len() > most, apart.first()) {
            let (x, y) = (at / 4 % WINDOW.width as usize, at / 4 / WINDOW.width as usize);
            panic!("{what}: {device} and not {host} at {x}, {y}, and {} more", apart.len() - 1);
        }
    }
}

/// The same words, and numbers but for rounding.
fn is_near(one: &str, other: &str) -> bool {
    let number = |word: &str| word.trim_end_matches([',', ';']).parse::<f64>().ok();
    let pairs = || one.split_whitespace().zip(other.split_whitespace());
    let near = |(one, other): (&str, &str)| {
        let numbers = number(one).zip(number(other));
        one == other || numbers.is_some_and(|(one, other)| (one - other).abs() <= one.abs() * 1e-12)
    };
    one.split_whitespace().count() == other.split_whitespace().count() && pairs().all(near)
}

fn request(given: &[(&str, &str)]) -> Request {
    let mut request = Request::default();
    for (name, text) in given {
        OPTIONS.iter().find(|option| option.name == *name).unwrap().set(&mut request, text).unwrap();
    }
    // Rounding decides whether a number that is at a percentile is outside of the range.
    request.look.marks = given.iter().any(|(_, text)| text.contains('%')).then_some(false);
    request
}

fn every_type(backend: &Arc<dyn ComputeBackend>) {
    let looks: [&[(&str, &str)]; 5] = [
        &[],
        &[("range", "minmax")],
        &[("range", "1%,99%")],
        &[("range", "symmetric"), ("exposure", "0.5")],
        &[("range", "2%,90"), ("colormap", "viridis")],
    ];
    for look in looks {
        let first = bytes(1200, 7);
        let Some(mut both) = Both::open(backend, &[given_of(&first, "uint8")], request(look)) else { return };
        for row in &TABLE {
            let bytes = bytes(1200 * row.code.1 / 8, 7);
            both.put(&given_of(&bytes, row.name));
            both.compare(&format!("{} {look:?}", row.name));
            assert!(both.is_on_device(), "{} {look:?}", row.name);
            // The histogram, and numbers in pixels.
            both.press('h');
            both.compare(&format!("histogram of {} {look:?}", row.name));
            both.press('h');
            let image = both.views[0].image();
            both.each(|view| view.camera().zoom(8.0, [205.0, 155.0], image, WINDOW));
            both.compare(&format!("numbers of {} {look:?}", row.name));
            both.press('f');
        }
        let kept = both.each(|view| view.kept());
        assert!(kept[0] > 0 && kept[0] == kept[1], "{kept:?}");
        // Frames of the ring.
        for key in [',', ',', '.', ' '] {
            both.press(key);
            both.compare(&format!("{key:?} {look:?}"));
        }
        assert!(both.is_on_device());
        // In the place of a device's array comes one of the host, and the other way round.
        let bytes = bytes(1200, 11);
        let given = given_of(&bytes, "uint8");
        both.each(|view| view.put(given.on_host()).unwrap());
        both.compare("both of the host");
        assert!(!both.is_on_device());
        both.put(&given);
        both.compare("of the device again");
        assert!(both.is_on_device());
    }
}

fn every_layout(backend: &Arc<dyn ComputeBackend>) {
    let bytes = bytes(4 * 30 * 40 * 3 * 2 + 64, 13);
    let of = |first: usize, shape: &[i64], strides: &[i64], number| ArrayCase {
        name: "a",
        bytes: &bytes,
        first,
        shape: shape.to_vec(),
        strides: Some(strides.to_vec()),
        number,
    };
    for (given, look) in [
        (of(0, &[30, 40, 3], &[120, 3, 1], "uint8"), vec![("range", "minmax")]),
        (of(8, &[3, 30, 40], &[2400, 80, 2], "int16"), vec![("layout", "CHW"), ("channel", "1")]),
        (of(16, &[4, 30, 40, 3], &[3600, 120, 3, 1], "int8"), vec![("range", "5%,95%")]),
        // From the last row to the first, and columns before rows.
        (of(29 * 80, &[30, 40], &[-80, 2], "float16"), vec![]),
        (of(64, &[30, 40], &[4, 120], "float32"), vec![("range", "minmax")]),
        (of(4, &[30, 40, 4], &[640, 16, 4], "float32"), vec![("gamma", "2.2")]),
    ] {
        let what = format!("{:?} {:?} {look:?}", given.shape, given.strides);
        let Some(mut both) = Both::open(backend, &[given], request(&look)) else { return };
        both.compare(&what);
        both.press('h');
        both.press('m');
        let image = both.views[0].image();
        both.each(|view| view.camera().zoom(10.0, [205.0, 155.0], image, WINDOW));
        both.compare(&what);
        assert!(both.is_on_device(), "{what}");
    }
}

fn differences(backend: &Arc<dyn ComputeBackend>) {
    let (one, two) = (bytes(9600, 7), bytes(9600, 11));
    let named = |name, bytes, number| ArrayCase { name, ..given_of(bytes, number) };
    // Where one is of integers of 64 bits, only the host is exact.
    for (first, second, is_there) in [
        ("uint8", "int16", true),
        ("float32", "float16", true),
        ("int32", "uint32", true),
        ("float64", "complex64", true),
        ("float8_e4m3fn", "uint8", true),
        ("int32", "int64", false),
        ("uint64", "float32", true),
    ] {
        let given = [named("one", &one, first), named("two", &two, second)];
        let Some(mut both) = Both::open(backend, &given, Request::default()) else { return };
        both.press('d');
        let what = format!("{first} minus {second} of complex");
        both.compare(if second == "complex64" { &what } else { what.trim_end_matches(" of complex") });
        assert_eq!(both.is_on_device(), is_there, "{first} minus {second}");
        both.put(&named("two", &one, first));
        both.compare("difference of one and the same");
    }
    // Of several channels and pictures, in other orders.
    let of = |name, shape: &[i64], strides: &[i64]| ArrayCase {
        name,
        shape: shape.to_vec(),
        strides: Some(strides.to_vec()),
        ..given_of(&one, "uint8")
    };
    let given = [of("one", &[4, 15, 20, 3], &[900, 60, 3, 1]), of("two", &[4, 15, 20, 3], &[900, 1, 15, 300])];
    let Some(mut both) = Both::open(backend, &given, Request::default()) else { return };
    both.press('d');
    both.compare("difference of several");
    assert!(both.is_on_device());
}

/// An array that is too short is refused; one whose memory its backend does not read is shown by the host.
fn failures(backend: &Arc<dyn ComputeBackend>) {
    let bytes = bytes(1200, 7);
    let made = |on: &Arc<dyn ComputeBackend>, number| {
        let mut memory = backend.allocate(bytes.len()).unwrap();
        memory.write(0, &bytes).unwrap();
        let number = Number::of_name(number).unwrap();
        Array::on_device("a", Arc::clone(on), memory, 0, SIDES.to_vec(), None, number)
    };
    let short = made(backend, "float32").map(drop);
    assert!(short.unwrap_err().to_string().contains("4800"));
    let Some(mut both) = Both::open(backend, &[given_of(&bytes, "bool")], request(&[("range", "minmax")])) else {
        return;
    };
    both.views[0].put(given_of(&bytes, "uint8").on_host()).unwrap();
    both.views[1].put(made(&processor(), "uint8").unwrap()).unwrap();
    both.compare("of a backend that does not read it");
    assert!(!both.is_on_device());
}

fn processor() -> Arc<dyn ComputeBackend> {
    Arc::new(CpuBackend::new().unwrap())
}

#[test]
#[ignore = "run by the tests below, in a process that sees one driver"]
fn child() {
    let backend: Arc<dyn ComputeBackend> = match std::env::var(INSTEAD).as_deref() {
        Ok("cuda") => open_backend(BackendChoice::Cuda, &[]).unwrap(),
        _ => match need(given(), OpenClBackend::open_best()) {
            Some(backend) => Arc::new(backend),
            None => return,
        },
    };
    println!("RAN ON {}", backend.device());
    for check in [every_layout, differences, failures, every_type] {
        check(&backend);
    }
}

/// It has no kernel that measures.
#[test]
fn the_host_measures_where_a_device_does_not() {
    every_layout(&processor());
}

#[test]
fn a_window_of_a_device_is_that_of_the_host_by_opencl() {
    pass_in_child("suite::devices::child", Some(Need::Pocl), &[], &["RAN ON"]);
}

#[test]
fn a_window_of_a_device_is_that_of_the_host_by_cuda() {
    if asked(Need::Nvidia) {
        pass_in_child("suite::devices::child", None, &[(INSTEAD, "cuda")], &["RAN ON"]);
    }
}
