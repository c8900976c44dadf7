//! Programs: source, binaries, linking, the cache.

use crate::suite::{buffer_of, vouched};
use interop_core::{Error, Result};
use pixelferry_opencl::{
    Arg, BinaryCache, BinaryType, Buffer, BuildStatus, Context, Device, MemFlags, Object, Partition, Program, Queue,
    QueueOptions,
};
use pixelferry_testing::by_level;
use std::path::PathBuf;
use std::time::Instant;

const SOURCE: &str = "
#ifndef BY
#define BY 2
#endif
__kernel void scale(__global float *a, const float by) { a[get_global_id(0)] *= by * BY; }
__kernel void negate(__global float *a) { a[get_global_id(0)] = -a[get_global_id(0)]; }
";

/// A program of binaries that the suite's own programs gave.
fn reloaded(context: &Context, binaries: &[(Device, Vec<u8>)]) -> Result<Program> {
    // SAFETY: what `Program::binaries` gave, whole or with damage that its sum shows, or what the driver gave.
    unsafe { Program::from_binaries(context, binaries, "") }
}

/// The objects linked.
fn linked(context: &Context, objects: &[&Object]) -> Result<Program> {
    // SAFETY: the objects of this file, which declare each other's functions as they are, and whose kernel is launched with
    // as many work items as its memory has numbers.
    unsafe { Program::link(context, objects, "") }
}

/// The program's kernels do what they should; `factor` is its `BY`.
fn works(queue: &Queue, program: &Program, factor: f32) -> Result<()> {
    let buffer = buffer_of(queue, &[1.5f32; 100])?;
    queue.launch(&program.kernel("scale")?, &[Arg::from(&buffer), Arg::from(4.0f32)], [100], &[])?;
    queue.launch(&program.kernel("negate")?, &[Arg::from(&buffer)], [100], &[])?;
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, [-1.5 * 4.0 * factor; 100]);
    Ok(())
}

pub fn source(queue: &Queue) -> Result<()> {
    let program = vouched(queue.context(), SOURCE, "-DBY=3")?;
    works(queue, &program, 3.0)?;
    let mut names = program.kernel_names()?;
    names.sort();
    assert_eq!(names, ["negate", "scale"]);
    assert_eq!(program.status(queue.device())?, BuildStatus::Success);
    assert_eq!(program.binary_type(queue.device())?, BinaryType::Executable);
    assert!(program.options(queue.device())?.contains("-DBY=3"));
    assert!(program.source()?.contains("__kernel void scale"));
    assert!(matches!(program.kernel("no"), Err(Error::InvalidInput { problem, .. }) if problem.contains("scale")));
    match vouched(queue.context(), "__kernel void k(__global int *out) { *out = no_such; }", "") {
        Err(error @ Error::KernelBuild { .. }) => {
            let text = error.to_string();
            assert!(text.starts_with("the program did not build on ") && text.contains("no_such"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    // A name that PoCL's headers make another of.
    match vouched(queue.context(), "__kernel void dot(__global float *a) { a[0] = 1; }", "")?.kernel("dot") {
        Ok(kernel) => assert_eq!(kernel.name(), "dot"),
        Err(error) => assert!(error.to_string().contains("'dot' is a builtin function of OpenCL C"), "{error}"),
    }
    // A function that is not there: NVIDIA's assembler finds it, and does not tell its name.
    match vouched(queue.context(), "__kernel void k() { no_such(); }", "") {
        Err(Error::KernelBuild { log, .. }) => assert!(!log.is_empty()),
        other => panic!("{other:?}"),
    }
    for (source, options) in [("\0", ""), ("", "\0")] {
        assert!(matches!(vouched(queue.context(), source, options), Err(Error::InvalidInput { .. })));
    }
    // Options that no compiler knows are an error, not the end of the process.
    assert!(vouched(queue.context(), SOURCE, "--no-such-option").is_err());
    Ok(())
}

/// NVIDIA's driver crashes when asked for the names of none.
pub fn without_kernels(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    for source in ["", "float f(float x) { return x; }"] {
        let program = vouched(&context, source, "")?;
        assert!(program.kernel_names()?.is_empty() && program.kernels()?.is_empty());
        assert!(program.kernel("k").is_err());
    }
    Ok(())
}

/// Two devices of one platform, if need be parts of one.
fn two_devices(device: &Device) -> Result<Vec<Device>> {
    let mut all = device.platform().devices()?;
    if all.len() < 2 {
        all = device.partition(&Partition::ByCounts(vec![1, 1]))?;
    }
    all.truncate(2);
    Ok(all)
}

pub fn some_devices(device: &Device) -> Result<()> {
    // SAFETY: the kernels of SOURCE, launched by `works`.
    let build =
        |context: &Context, devices: &[Device]| unsafe { Program::build_for(context, devices, SOURCE, "-DBY=5") };
    let one = Context::new(std::slice::from_ref(device))?;
    assert!(matches!(build(&one, &[]), Err(Error::InvalidInput { .. })));
    let program = build(&one, one.devices())?;
    assert!(program.devices().len() == 1 && program.devices()[0].is(device));
    works(&Queue::new(&one)?, &program, 5.0)?;

    let devices = two_devices(device)?;
    let context = Context::new(&devices)?;
    let queues: Vec<_> = devices
        .iter()
        .map(|device| Queue::with_options(&context, device, &QueueOptions::default()))
        .collect::<Result<_>>()?;
    assert!(matches!(build(&one, &devices), Err(Error::Foreign { object: "device", .. })));
    for (has, lacks) in [(0, 1), (1, 0)] {
        let program = build(&context, std::slice::from_ref(&devices[has]))?;
        assert!(program.devices().len() == 1 && program.devices()[0].is(&devices[has]));
        assert_eq!(program.status(&devices[has])?, BuildStatus::Success);
        assert_eq!(program.status(&devices[lacks])?, BuildStatus::None);
        works(&queues[has], &program, 5.0)?;
        let buffer = Buffer::with_data(&context, MemFlags::READ_WRITE, &[1.5f32; 4])?;
        let refused = queues[lacks].launch(&program.kernel("negate")?, &[Arg::from(&buffer)], [4], &[]);
        let says = |problem: &str| problem.contains("not built for") && problem.contains(devices[lacks].name());
        assert!(matches!(&refused, Err(Error::InvalidInput { problem, .. }) if says(problem)), "{refused:?}");
        // Its binaries are of that device, and a program of them is for that device.
        let binaries = program.binaries()?;
        assert!(binaries.len() == 1 && binaries[0].0.is(&devices[has]));
        let again = reloaded(&context, &binaries)?;
        assert!(again.devices().len() == 1 && again.devices()[0].is(&devices[has]));
        let of_again = again.binaries()?;
        assert!(of_again.len() == 1 && of_again[0].0.is(&devices[has]));
        let refused = queues[lacks].launch(&again.kernel("negate")?, &[Arg::from(&buffer)], [4], &[]);
        assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{refused:?}");
        // SAFETY: a live program of the context.
        let taken = unsafe { Program::from_raw(&context, program.raw()) }?;
        assert!(taken.devices().iter().any(|device| device.is(&devices[has])));
        works(&queues[has], &taken, 5.0)?;
    }
    // For all, it runs on all.
    let program = vouched(&context, SOURCE, "")?;
    let binaries = program.binaries()?;
    assert_eq!((program.devices().len(), binaries.len()), (2, 2));
    queues.iter().try_for_each(|queue| works(queue, &reloaded(&context, &binaries)?, 2.0))?;
    queues.iter().try_for_each(|queue| works(queue, &program, 2.0))
}

pub fn binaries(queue: &Queue) -> Result<()> {
    let program = vouched(queue.context(), SOURCE, "")?;
    let binaries = program.binaries()?;
    assert!(binaries.len() == 1 && binaries[0].0.is(queue.device()));
    let again = reloaded(queue.context(), &binaries)?;
    works(queue, &again, 2.0)?;
    // In another context of the same device, too.
    let other = super::queue(queue.device())?;
    works(&other, &reloaded(other.context(), &binaries)?, 2.0)?;
    // The driver's own bytes, where it does not end the process on others.
    let raw = program.driver_binaries()?;
    match reloaded(queue.context(), &raw) {
        Err(Error::Unsupported { .. }) => assert_eq!(queue.device().platform().name()?, "rusticl"),
        program => assert_eq!(program?.kernels()?.len(), 2),
    }
    Ok(())
}

/// A binary that is not of this device is an error.
pub fn damaged_binary(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    let from = |binary: Vec<u8>| reloaded(&context, &[(device.clone(), binary)]);
    assert!(matches!(from(Vec::new()), Err(Error::InvalidInput { .. })));
    assert!(matches!(reloaded(&context, &[]), Err(Error::InvalidInput { .. })));
    let (_, good) = vouched(&context, SOURCE, "")?.binaries()?.swap_remove(0);
    for at in [0, 10, 40, good.len() / 2, good.len() - 1] {
        let mut damaged = good.clone();
        damaged[at] ^= 0x10;
        assert!(from(damaged).is_err(), "damaged at {at}, it was taken");
        assert!(from(good[..at].to_vec()).is_err(), "cut at {at}, it was taken");
    }
    Ok(())
}

const CALLS: &str = "
#include \"shared.h\"
__kernel void k(__global float *a) { a[get_global_id(0)] = twice(a[get_global_id(0)]) + SHARED; }";
const TWICE: &str = "float twice(float x) { return 2 * x; }";
const HEADER: &str = "#define SHARED 0.5f\nfloat twice(float x);\n";

fn linked_works(queue: &Queue, program: &Program) -> Result<()> {
    let buffer = buffer_of(queue, &[4.0f32; 10])?;
    queue.launch(&program.kernel("k")?, &[Arg::from(&buffer)], [10], &[])?;
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, [8.5; 10]);
    Ok(())
}

pub fn compile_and_link(queue: &Queue) -> Result<()> {
    let context = queue.context();
    let calls = Object::compile(context, CALLS, "", &[("shared.h", HEADER)])?;
    let twice = Object::compile(context, TWICE, "", &[])?;
    assert_eq!(calls.binary_type(queue.device())?, BinaryType::CompiledObject);
    linked_works(queue, &linked(context, &[&calls, &twice])?)?;
    assert!(linked(context, &[&calls]).is_err(), "a function that does not exist was linked");
    assert!(matches!(linked(context, &[]), Err(Error::InvalidInput { .. })));
    match Object::compile(context, CALLS, "", &[]) {
        Err(Error::KernelBuild { log, .. }) => assert!(log.contains("shared.h"), "{log}"),
        other => panic!("{}", other.is_ok()),
    }
    Ok(())
}

pub fn library(queue: &Queue) -> Result<()> {
    let context = queue.context();
    let twice = Object::compile(context, TWICE, "", &[])?;
    let library = Object::library(context, &[&twice], "")?;
    assert_eq!(library.binary_type(queue.device())?, BinaryType::Library);
    let calls = Object::compile(context, CALLS, "", &[("shared.h", HEADER)])?;
    linked_works(queue, &linked(context, &[&calls, &library])?)
}

fn files(folder: &PathBuf) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// A program large enough for its build to take time; `nonce` makes it new to the driver's own cache.
fn large(nonce: u128) -> String {
    let function = |i: usize| {
        format!(
            "float f{i}(float x) {{ for (int j = 0; j < {i}; ++j) x = sin(x) * cos(x + j) + native_exp(-x); return x; }}\n"
        )
    };
    let calls = (1..60).map(|i| format!("+ f{i}(x)")).collect::<String>();
    let kernel = format!(
        "__kernel void k(__global float *a) {{ float x = a[get_global_id(0)]; a[get_global_id(0)] = 0 {calls}; }}"
    );
    format!(
        "// {nonce}\n#define NONCE {}\n{}{kernel}",
        nonce % 1_000_000_007,
        (1..60).map(function).collect::<String>()
    )
}

pub fn binary_cache(queue: &Queue) -> Result<()> {
    let context = queue.context();
    let folder = std::env::temp_dir().join(format!("pixelferry-cl-cache-{}", std::process::id()));
    let cache = BinaryCache::Folder(folder.clone());
    let cached = |source: &str, options: &str, cache: &BinaryCache| {
        // SAFETY: the kernels have one work item for each number of their buffer.
        unsafe { Program::build_cached(context, source, options, cache) }
    };
    let build = |options: &str| cached(SOURCE, options, &cache);
    let checked = |program: Program| {
        works(queue, &program, 2.0)?;
        // A kernel from the cache knows its parameters, also where the driver does not.
        let kernel = program.kernel("scale")?;
        let wrong = queue.launch(&kernel, &[Arg::from(1u64), Arg::from(1.0f32)], [1], &[]);
        assert!(matches!(wrong, Err(Error::InvalidInput { problem, .. }) if problem.contains("'a'")));
        Ok::<_, Error>(())
    };
    checked(build("")?)?;
    assert_eq!(files(&folder).len(), 1, "nothing was cached");
    checked(build("")?)?;
    // Other options are another program.
    works(queue, &build("-DBY=5")?, 5.0)?;
    assert_eq!(files(&folder).len(), 2);
    // Damaged, cut or foreign entries are built again and replaced.
    type Damage = fn(&[u8]) -> Vec<u8>;
    let damage: [Damage; 4] = [
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |_| Vec::new(),
        |bytes| bytes.iter().map(|b| b ^ 0x55).collect(),
        |bytes| [&bytes[..bytes.len() - 20], &[0; 20]].concat(),
    ];
    for damage in damage {
        for file in files(&folder) {
            std::fs::write(&file, damage(&std::fs::read(&file).unwrap())).unwrap();
        }
        checked(build("")?)?;
        works(queue, &build("-DBY=5")?, 5.0)?;
    }
    // A folder that cannot be made is no error either.
    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    checked(cached(SOURCE, "", &BinaryCache::Folder(file.join("sub")))?)?;
    checked(cached(SOURCE, "", &BinaryCache::Off)?)?;

    let nonce = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let timed = [("small", SOURCE.to_owned() + &format!("// {nonce}")), ("large", large(nonce))];
    for (name, source) in &timed[..by_level(1, 2, 2)] {
        let timed = || {
            let begin = Instant::now();
            cached(source, "", &cache).map(|_| begin.elapsed().as_secs_f64() * 1e3)
        };
        let (first, second, third) = (timed()?, timed()?, timed()?);
        println!("NOTE: {name} program: built in {first:.1} ms, from the cache in {second:.1} and {third:.1} ms");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    Ok(())
}

pub fn built_in(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    let listed = device.built_in_kernels()?;
    // SAFETY: nothing is launched.
    let built_in = |name: &str| unsafe { Program::built_in(&context, &[name]) };
    assert!(matches!(built_in("no.such.kernel"), Err(Error::Unsupported { .. })));
    let lacks = |reason: String| {
        let operation = "clCreateProgramWithBuiltInKernels";
        Err(Error::Unsupported { operation, device: device.name().into(), reason })
    };
    let Some(name) = listed.split(';').find(|name| !name.is_empty()) else {
        return lacks("CL_DEVICE_BUILT_IN_KERNELS is empty".into());
    };
    match built_in(name).and_then(|program| program.kernel(name)) {
        // Debian's PoCL 3.1 lists kernels that it cannot make.
        Err(Error::Driver(error)) if error.code == -45 => lacks(format!(
            "CL_DEVICE_BUILT_IN_KERNELS lists {name}, but {} answers {}",
            error.operation, error.code_name
        )),
        kernel => {
            assert_eq!(kernel?.name(), name);
            Ok(())
        }
    }
}

/// The smallest SPIR-V module: a header and what every module must have that is made to be linked (capabilities Addresses,
/// Linkage and Kernel; 64-bit addresses, OpenCL's memory model).
const SPIRV: [u32; 14] =
    [0x0723_0203, 0x0001_0000, 0, 1, 0, 0x0002_0011, 4, 0x0002_0011, 5, 0x0002_0011, 6, 0x0003_000e, 2, 2];

pub fn intermediate_language(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    let bytes: Vec<u8> = SPIRV.iter().flat_map(|word| word.to_ne_bytes()).collect();
    // SAFETY: a whole module, which has no kernels.
    let from = |il: &[u8]| unsafe { Program::from_il(&context, il, "") };
    let program = from(&bytes)?;
    assert!(program.kernel_names()?.is_empty());
    assert!(matches!(from(&[]), Err(Error::InvalidInput { .. })));
    Ok(())
}
