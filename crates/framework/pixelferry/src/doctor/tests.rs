//! Each cause from recorded facts: told where it is, and not where it is mended.

use super::*;
use interop_core::{Api, DeviceIdentity, DeviceUuid, MemoryKind};
use std::collections::BTreeMap;

fn device(api: Api, name: &str, software: bool) -> DeviceIdentity {
    DeviceIdentity::new(api, name).with_memory(MemoryKind::Discrete).with_software(software)
}

fn gpu(api: Api, uuid: u8) -> DeviceIdentity {
    device(api, "NVIDIA RTX", false).with_uuid(DeviceUuid([uuid; 16]))
}

/// A machine with an NVIDIA GPU on which all is well.
fn well() -> Facts {
    Facts {
        compute: vec![gpu(Api::Cuda, 1), device(Api::Cpu, "CPU", true)],
        opengl: vec![gpu(Api::OpenGl, 1)],
        has_nvidia: true,
        nvidia_driver: Some("580.159.04".into()),
        libraries: vec!["libEGL.so.1", "libEGL_nvidia.so.0", "libcuda.so.1"],
        vendor_files: Some(vec!["/usr/share/glvnd/egl_vendor.d/10_nvidia.json".into()]),
        render_nodes: RenderNodes::Open,
        screen: Screen::Local,
        ..Facts::default()
    }
}

fn llvmpipe() -> Vec<DeviceIdentity> {
    vec![device(Api::OpenGl, "llvmpipe (LLVM 15.0.6, 256 bits)", true)]
}

fn set(name: &'static str, value: &str) -> BTreeMap<&'static str, String> {
    BTreeMap::from([(name, value.to_owned())])
}

/// Checks that the cause alone is told, with words of its finding and its command, and that mended facts have none.
#[track_caller]
fn check(ill: &Facts, name: &str, finding: &str, command: &str, mended: &Facts) {
    let found = examine(ill);
    let names: Vec<_> = found.iter().map(|cause| cause.name).collect();
    assert_eq!(names, [name], "{ill:#?}");
    assert!(found[0].finding.contains(finding), "{}", found[0].finding);
    let given = found[0].command.as_deref().unwrap();
    assert!(given.contains(command), "{given}");
    assert!(!found[0].advice.is_empty() && !found[0].advice.ends_with('.'));
    assert_eq!(examine(mended), [], "{mended:#?}");
}

#[test]
fn a_machine_on_which_all_is_well_has_no_cause() {
    assert_eq!(examine(&well()), []);
    // Nothing is known of one that has nothing.
    assert_eq!(examine(&Facts::default()), []);
}

#[test]
fn opengl_on_another_gpu_than_cuda() {
    let integrated = device(Api::OpenGl, "Intel UHD", false).with_uuid(DeviceUuid([7; 16]));
    let ill = Facts { opengl: vec![integrated.clone()], ..well() };
    let both = Facts { opengl: vec![integrated, gpu(Api::OpenGl, 1)], ..well() };
    check(
        &ill,
        "display-on-another-gpu",
        "OpenGL Intel UHD draws, so frames cross between two GPUs",
        "__NV_PRIME_RENDER_OFFLOAD=1",
        &both,
    );
}

#[test]
fn opengl_is_a_program_on_the_cpu() {
    // A machine with Mesa and without NVIDIA.
    let mesa = Facts {
        compute: Vec::new(),
        opengl: llvmpipe(),
        has_nvidia: false,
        vendor_files: Some(vec!["/usr/share/glvnd/egl_vendor.d/50_mesa.json".into()]),
        ..well()
    };
    let mended = Facts { opengl: vec![device(Api::OpenGl, "AMD Radeon", false)], ..mesa.clone() };
    let forced = Facts { variables: set("LIBGL_ALWAYS_SOFTWARE", "1"), ..mesa.clone() };
    check(&forced, "software-opengl", "LIBGL_ALWAYS_SOFTWARE is '1'", "unset LIBGL_ALWAYS_SOFTWARE", &mended);
    let closed = Facts { render_nodes: RenderNodes::Closed, ..mesa.clone() };
    check(&closed, "software-opengl", "may not open", "usermod -aG render,video", &mended);
    check(&mesa, "software-opengl", "no driver for this GPU", "apt-get install libgl1-mesa-dri", &mended);
    let none = Facts { render_nodes: RenderNodes::Absent, ..mesa.clone() };
    check(&none, "software-opengl", "no GPU is visible", "lspci", &mended);
    let boxed = Facts { in_container: true, ..none };
    check(&boxed, "software-opengl", "no GPU is visible", "docker run --gpus all", &mended);
}

#[test]
fn a_container_without_the_capability_graphics() {
    let ill = Facts {
        opengl: Vec::new(),
        no_opengl: Some(("libEGL.so could not be loaded".into(), "Install libEGL.".into())),
        libraries: vec!["libcuda.so.1"],
        vendor_files: Some(Vec::new()),
        in_container: true,
        variables: set("NVIDIA_DRIVER_CAPABILITIES", "compute,utility"),
        ..well()
    };
    let mended = Facts { in_container: true, variables: set("NVIDIA_DRIVER_CAPABILITIES", "all"), ..well() };
    let name = "container-without-graphics";
    let command = "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics";
    check(&ill, name, "NVIDIA_DRIVER_CAPABILITIES is 'compute,utility'", command, &mended);
    let unset = Facts { variables: BTreeMap::new(), opengl: llvmpipe(), ..ill.clone() };
    check(&unset, name, "NVIDIA_DRIVER_CAPABILITIES is not set", command, &mended);
    let bare_host = Facts { variables: set("NVIDIA_DRIVER_CAPABILITIES", "compute, graphics"), ..ill };
    check(&bare_host, name, "its host has no libEGL_nvidia", "apt-get install libnvidia-gl-580", &mended);
}

#[test]
fn no_file_names_a_driver_to_egl() {
    let name = "no-egl-vendor-file";
    let no_gl = Facts { opengl: Vec::new(), no_opengl: Some(("no EGL display".into(), "Install.".into())), ..well() };
    let bare = Facts { vendor_files: Some(Vec::new()), ..no_gl.clone() };
    check(
        &bare,
        name,
        "its driver is not listed in any EGL vendor file",
        "tee /usr/share/glvnd/egl_vendor.d/10_nvidia.json",
        &well(),
    );
    let mesa_alone = Facts { opengl: llvmpipe(), vendor_files: Some(vec!["/a/50_mesa.json".into()]), ..well() };
    check(&mesa_alone, name, "its driver is not listed in any EGL vendor file", "10_nvidia.json", &well());
    let no_library = Facts { libraries: vec!["libEGL.so.1"], ..bare.clone() };
    check(&no_library, name, "in any EGL vendor file", "apt-get install libnvidia-gl-580", &well());
    for variable in ["__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS"] {
        let astray = Facts { variables: set(variable, "/nowhere"), ..bare.clone() };
        check(&astray, name, &format!("{variable} is '/nowhere'"), &format!("unset {variable}"), &well());
    }
    // Without NVIDIA, and without any library of EGL.
    let nothing = Facts { has_nvidia: false, compute: Vec::new(), libraries: Vec::new(), ..bare };
    check(&nothing, name, "OpenGL finds none", "apt-get install libegl1 libegl-mesa0", &well());
    // Systems that have no such files, and drivers that are found without.
    let windows = Facts { vendor_files: None, no_opengl: None, ..nothing.clone() };
    assert_eq!(examine(&windows), []);
    let found_without = Facts { opengl: vec![gpu(Api::OpenGl, 1)], no_opengl: None, ..nothing };
    assert_eq!(examine(&found_without), []);
}

#[test]
fn windows_subsystem_for_linux() {
    let mesa = Some(vec!["/usr/share/glvnd/egl_vendor.d/50_mesa.json".into()]);
    let ill = Facts { in_wsl: true, opengl: llvmpipe(), vendor_files: mesa.clone(), ..well() };
    let d3d12 = vec![device(Api::OpenGl, "D3D12 (NVIDIA RTX)", false)];
    let mended = Facts { in_wsl: true, opengl: d3d12, vendor_files: mesa, ..well() };
    check(&ill, "wsl", "d3d12", "export GALLIUM_DRIVER=d3d12", &mended);
}

#[test]
fn x_forwarding_through_ssh() {
    let ill = Facts { over_ssh: true, screen: Screen::Forwarded, ..well() };
    let mended = Facts { screen: Screen::None, ..ill.clone() };
    check(&ill, "ssh-x-forwarding", "crosses the network", "unset DISPLAY", &mended);
    // An X server elsewhere, without ssh, is somebody's wish.
    assert_eq!(examine(&Facts { over_ssh: false, ..ill }), []);
}

#[test]
fn an_old_driver() {
    let no_cuda = Some("the driver offers CUDA 11.8; this needs 12.0".to_owned());
    let ill = Facts { compute: Vec::new(), no_cuda, nvidia_driver: Some("520.61.05".into()), ..well() };
    check(&ill, "old-driver", "CUDA 11.8; this needs 12.0 (driver 520.61.05)", "install nvidia-driver", &well());
    let absent = Facts { no_cuda: Some("libcuda.so.1 could not be loaded".into()), ..ill.clone() };
    assert_eq!(examine(&absent), []);
    let boxed = examine(&Facts { in_container: true, ..ill });
    assert!(boxed[0].advice.contains("on the host"), "{boxed:?}");
}

#[test]
fn trouble_with_opengl_that_has_no_known_cause_is_told_as_it_is() {
    let ill = Facts { opengl: Vec::new(), no_opengl: Some(("it crashed".into(), "Ask.".into())), ..well() };
    let found = examine(&ill);
    assert_eq!((found.len(), found[0].name, found[0].finding.as_str()), (1, "no-opengl", "it crashed"));
}

#[test]
fn what_is_missing_has_a_name() {
    let unavailable = |reason: &str| Availability::Unavailable { reason: reason.into(), hint: "Do this.".into() };
    let backend = |api, reason: &str| BackendStatus {
        api,
        availability: unavailable(reason),
        devices: Vec::new(),
        languages: Vec::new(),
    };
    let backends = [backend(Api::OpenCl, "no ICD"), backend(Api::Cuda, "no libcuda")];
    let memory = DisplayStatus { kind: "memory", availability: unavailable("none"), device: None };
    let found = machine(&backends, &[memory]);
    for name in ["no-opencl", "no-cuda", "no-display"] {
        assert!(found.iter().any(|one| one.name == name && one.advice == "Do this."), "{name}: {found:#?}");
    }
    // A cause that says the same stands in its place.
    let old = machine(&[backend(Api::Cuda, "the driver offers CUDA 11.8")], &[]);
    let old: Vec<_> = old.iter().filter(|one| one.name == "old-driver").collect();
    assert!(old.len() == 1 && old[0].command.is_some(), "{old:#?}");
}

#[test]
fn every_cause_has_a_name_of_its_own() {
    let names: Vec<_> = causes().collect();
    for (at, name) in names.iter().enumerate() {
        assert!(!names[..at].contains(name), "{name}");
    }
}

#[test]
fn a_home_that_cannot_be_written() {
    let hint = "PoCL, which is installed, has no device without a cache: set POCL_CACHE_DIR".to_owned();
    let ill = Facts { no_opencl: Some(("no usable device".into(), hint)), ..well() };
    let missing = Facts { no_opencl: Some(("no driver".into(), "Install one.".into())), ..well() };
    check(&ill, "no-cache-for-opencl", "no usable device", "POCL_CACHE_DIR=", &missing);
}

#[test]
fn a_layer_that_the_loader_does_not_find() {
    let with = |layers: &str| Facts { variables: set("OPENCL_LAYERS", layers), ..well() };
    let there = std::env::current_exe().unwrap().display().to_string();
    let both = format!("{there}:/no/layer.so");
    check(&with(&both), "opencl-layer-missing", "'/no/layer.so'", "pixelferry clgl devices", &with(&there));
}
