//! Programs: source, binaries, linking, the cache.

use crate::queue;
use interop_core::{Error, Result};
use opencl_backend::cl::{
    Arg, BinaryCache, BinaryType, Buffer, BuildStatus, Context, Device, MemFlags, Object, Program, Queue,
};
use std::path::PathBuf;
use std::time::Instant;

const SOURCE: &str = "
#ifndef BY
#define BY 2
#endif
__kernel void scale(__global float *a, const float by) { a[get_global_id(0)] *= by * BY; }
__kernel void negate(__global float *a) { a[get_global_id(0)] = -a[get_global_id(0)]; }
";

/// The program's kernels do what they should; `factor` is its `BY`.
fn works(queue: &Queue, program: &Program, factor: f32) -> Result<()> {
    let buffer = Buffer::with_data(queue.context(), MemFlags::READ_WRITE, &[1.5f32; 100])?;
    queue.launch(&program.kernel("scale")?, &[Arg::from(&buffer), Arg::from(4.0f32)], [100], &[])?;
    queue.launch(&program.kernel("negate")?, &[Arg::from(&buffer)], [100], &[])?;
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, [-1.5 * 4.0 * factor; 100]);
    Ok(())
}

pub fn source(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let program = Program::build(queue.context(), SOURCE, "-DBY=3")?;
    works(&queue, &program, 3.0)?;
    let mut names = program.kernel_names()?;
    names.sort();
    assert_eq!(names, ["negate", "scale"]);
    assert_eq!(program.status(device)?, BuildStatus::Success);
    assert_eq!(program.binary_type(device)?, BinaryType::Executable);
    assert!(program.options(device)?.contains("-DBY=3"));
    assert!(program.source()?.contains("__kernel void scale"));
    assert!(matches!(program.kernel("no"), Err(Error::InvalidInput { problem, .. }) if problem.contains("scale")));
    match Program::build(queue.context(), "__kernel void k(__global int *out) { *out = no_such; }", "") {
        Err(Error::KernelBuild { log, .. }) => assert!(log.contains("no_such"), "{log}"),
        other => panic!("{other:?}"),
    }
    // A function that is not there: NVIDIA's assembler finds it, and does not tell its name.
    match Program::build(queue.context(), "__kernel void k() { no_such(); }", "") {
        Err(Error::KernelBuild { log, .. }) => assert!(!log.is_empty()),
        other => panic!("{other:?}"),
    }
    for (source, options) in [("\0", ""), ("", "\0")] {
        assert!(matches!(Program::build(queue.context(), source, options), Err(Error::InvalidInput { .. })));
    }
    // Options that no compiler knows are an error, not the end of the process.
    assert!(Program::build(queue.context(), SOURCE, "--no-such-option").is_err());
    Ok(())
}

/// NVIDIA's driver crashes when asked for the names of none.
pub fn without_kernels(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    for source in ["", "float f(float x) { return x; }"] {
        let program = Program::build(&context, source, "")?;
        assert!(program.kernel_names()?.is_empty() && program.kernels()?.is_empty());
        assert!(program.kernel("k").is_err());
    }
    Ok(())
}

pub fn binaries(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let program = Program::build(queue.context(), SOURCE, "")?;
    let binaries = program.binaries()?;
    assert!(binaries.len() == 1 && binaries[0].0.is(device));
    let again = Program::from_binaries(queue.context(), &binaries, "")?;
    works(&queue, &again, 2.0)?;
    // In another context of the same device, too.
    let other = crate::queue(device)?;
    works(&other, &Program::from_binaries(other.context(), &binaries, "")?, 2.0)?;
    // The driver's own bytes, where it does not end the process on others.
    let raw = program.driver_binaries()?;
    match Program::from_binaries(queue.context(), &raw, "") {
        Err(Error::Unsupported { .. }) => assert_eq!(device.platform().name()?, "rusticl"),
        program => works(&queue, &program?, 2.0)?,
    }
    Ok(())
}

/// What is no binary of this device is an error.
pub fn damaged_binary(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    let from = |binary: Vec<u8>| Program::from_binaries(&context, &[(device.clone(), binary)], "");
    assert!(matches!(from(Vec::new()), Err(Error::InvalidInput { .. })));
    assert!(matches!(Program::from_binaries(&context, &[], ""), Err(Error::InvalidInput { .. })));
    let other = from(b"this is no program of any driver, whatever its length may be".to_vec());
    assert!(other.is_err(), "it was taken");
    let (_, good) = Program::build(&context, SOURCE, "")?.binaries()?.swap_remove(0);
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
    let buffer = Buffer::with_data(queue.context(), MemFlags::READ_WRITE, &[4.0f32; 10])?;
    queue.launch(&program.kernel("k")?, &[Arg::from(&buffer)], [10], &[])?;
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, [8.5; 10]);
    Ok(())
}

pub fn compile_and_link(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let context = queue.context();
    let calls = Object::compile(context, CALLS, "", &[("shared.h", HEADER)])?;
    let twice = Object::compile(context, TWICE, "", &[])?;
    assert_eq!(calls.binary_type(device)?, BinaryType::CompiledObject);
    linked_works(&queue, &Program::link(context, &[&calls, &twice], "")?)?;
    assert!(Program::link(context, &[&calls], "").is_err(), "a function that does not exist was linked");
    assert!(matches!(Program::link(context, &[], ""), Err(Error::InvalidInput { .. })));
    match Object::compile(context, CALLS, "", &[]) {
        Err(Error::KernelBuild { log, .. }) => assert!(log.contains("shared.h"), "{log}"),
        other => panic!("{}", other.is_ok()),
    }
    Ok(())
}

pub fn library(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let context = queue.context();
    let twice = Object::compile(context, TWICE, "", &[])?;
    let library = Object::library(context, &[&twice], "")?;
    assert_eq!(library.binary_type(device)?, BinaryType::Library);
    let calls = Object::compile(context, CALLS, "", &[("shared.h", HEADER)])?;
    linked_works(&queue, &Program::link(context, &[&calls, &library], "")?)
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

pub fn binary_cache(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let context = queue.context();
    let folder = std::env::temp_dir().join(format!("pixelferry-cl-cache-{}", std::process::id()));
    let cache = BinaryCache::Folder(folder.clone());
    let build = |options: &str| Program::build_cached(context, SOURCE, options, &cache);
    let checked = |program: Program| {
        works(&queue, &program, 2.0)?;
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
    works(&queue, &build("-DBY=5")?, 5.0)?;
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
        works(&queue, &build("-DBY=5")?, 5.0)?;
    }
    // A folder that cannot be made is no error either.
    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    checked(Program::build_cached(context, SOURCE, "", &BinaryCache::Folder(file.join("sub")))?)?;
    checked(Program::build_cached(context, SOURCE, "", &BinaryCache::Off)?)?;

    let nonce = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    for (name, source) in [("small", SOURCE.to_owned() + &format!("// {nonce}")), ("large", large(nonce))] {
        let timed = || {
            let begin = Instant::now();
            Program::build_cached(context, &source, "", &cache).map(|_| begin.elapsed().as_secs_f64() * 1e3)
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
    assert!(matches!(Program::built_in(&context, &["no.such.kernel"]), Err(Error::Unsupported { .. })));
    let lacks = |reason: String| {
        let operation = "clCreateProgramWithBuiltInKernels";
        Err(Error::Unsupported { operation, device: device.name().into(), reason })
    };
    let Some(name) = listed.split(';').find(|name| !name.is_empty()) else {
        return lacks("CL_DEVICE_BUILT_IN_KERNELS is empty".into());
    };
    match Program::built_in(&context, &[name]).and_then(|program| program.kernel(name)) {
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
    let program = Program::from_il(&context, &bytes, "")?;
    assert!(program.kernel_names()?.is_empty());
    assert!(matches!(Program::from_il(&context, &[], ""), Err(Error::InvalidInput { .. })));
    Ok(())
}
