//! GStreamer's elements: the encoders, in the order in which they are tried, and the elements around them.

use super::error::Error;
use interop_core::describe::child_process::ChildProcess;
use std::process::{Command, Stdio};

const INSPECT: &str = "gst-inspect-1.0";

/// One of GStreamer's encoders. All of them encode without delay and keep the order of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Name of the element.
    pub name: &'static str,
    /// Properties that set constant quality and no delay.
    pub(crate) properties: &'static [&'static str],
}

const ENCODERS: [Element; 5] = [
    Element { name: "nvh264enc", properties: &["zerolatency=true", "bframes=0", "rc-mode=constqp"] },
    Element { name: "vah264enc", properties: &["rate-control=cqp", "b-frames=0"] },
    Element { name: "v4l2h264enc", properties: &[] },
    Element {
        name: "x264enc",
        properties: &["tune=zerolatency", "speed-preset=superfast", "pass=qual", "quantizer=21"],
    },
    Element { name: "openh264enc", properties: &["complexity=low", "bitrate=12000000"] },
];

/// Debian's packages.
pub(crate) const CORE: &str = "libgstreamer1.0-0";
pub(crate) const BASE: &str = "gstreamer1.0-plugins-base";
pub(crate) const GOOD: &str = "gstreamer1.0-plugins-good";
pub(crate) const BAD: &str = "gstreamer1.0-plugins-bad";
const UGLY: &str = "gstreamer1.0-plugins-ugly";

/// An element, and the Debian package that contains it.
pub(crate) type ElementPackage = (&'static str, &'static str);

/// Elements that every encoder needs.
const NEEDED: [ElementPackage; 6] = [
    ("fdsrc", CORE),
    ("rawvideoparse", BASE),
    ("videoconvert", BASE),
    ("h264parse", BAD),
    ("gdppay", BAD),
    ("fdsink", CORE),
];

/// Returns the encoders of this machine's GStreamer, best first. Whether one works shows only when it encodes.
///
/// # Errors
/// [`Error::NoTools`], [`Error::NoElements`], [`Error::NoEncoder`].
pub fn encoders() -> Result<Vec<Element>, Error> {
    with(&[])
}

/// Returns the encoders, if these elements are available, too.
pub(crate) fn with(more: &[ElementPackage]) -> Result<Vec<Element>, Error> {
    let mut missing = missing(&[&NEEDED, more].concat())?;
    let mut known = Vec::new();
    for encoder in ENCODERS {
        if is_known(encoder.name)? {
            known.push(encoder);
        }
    }
    if known.is_empty() && missing.is_empty() {
        return Err(Error::NoEncoder(ENCODERS.map(|encoder| encoder.name).join(", ")));
    }
    if known.is_empty() {
        missing.push(("x264enc", UGLY));
    }
    all_there(missing).map(|()| known)
}

/// Returns an error that names all missing elements, if there are any.
pub(crate) fn require(elements: &[ElementPackage]) -> Result<(), Error> {
    all_there(missing(elements)?)
}

fn missing(elements: &[ElementPackage]) -> Result<Vec<ElementPackage>, Error> {
    let mut missing = Vec::new();
    for needed in elements {
        if !is_known(needed.0)? {
            missing.push(*needed);
        }
    }
    Ok(missing)
}

fn all_there(missing: Vec<ElementPackage>) -> Result<(), Error> {
    if missing.is_empty() {
        return Ok(());
    }
    let (elements, mut packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    packages.dedup();
    Err(Error::NoElements { elements: elements.join(", "), packages: packages.join(" ") })
}

fn is_known(element: &str) -> Result<bool, Error> {
    let mut inspect = Command::new(INSPECT);
    inspect.args(["--exists", element]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = ChildProcess::start(inspect).and_then(|mut child| child.wait());
    Ok(status.map_err(|source| Error::NoTools { tool: INSPECT, source })?.success())
}
