//! GStreamer's elements: the encoders, in the order in which they are tried, and what goes before and after them.

use super::error::Error;
use interop_core::describe::threads;
use std::process::{Command, Stdio};

const INSPECT: &str = "gst-inspect-1.0";

/// An encoder of GStreamer's. None of them may wait for later pictures or change their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub name: &'static str,
    /// Its properties: constant quality, no delay.
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

/// Elements that every encoder needs, and the Debian package that has each.
const NEEDED: [(&str, &str); 6] = [
    ("fdsrc", "libgstreamer1.0-0"),
    ("rawvideoparse", "gstreamer1.0-plugins-base"),
    ("videoconvert", "gstreamer1.0-plugins-base"),
    ("h264parse", "gstreamer1.0-plugins-bad"),
    ("gdppay", "gstreamer1.0-plugins-bad"),
    ("fdsink", "libgstreamer1.0-0"),
];

/// The encoders that this machine's GStreamer knows, best first. Whether one works shows when it encodes.
///
/// # Errors
/// [`Error::NoTools`], [`Error::NoElement`], [`Error::NoEncoder`].
pub fn encoders() -> Result<Vec<Element>, Error> {
    require(&NEEDED)?;
    let mut known = Vec::new();
    for encoder in ENCODERS {
        if is_known(encoder.name)? {
            known.push(encoder);
        }
    }
    if known.is_empty() { Err(Error::NoEncoder(ENCODERS.map(|encoder| encoder.name).join(", "))) } else { Ok(known) }
}

/// Refuses a machine that lacks one of these elements, each beside the Debian package that has it.
pub(crate) fn require(elements: &[(&'static str, &'static str)]) -> Result<(), Error> {
    for (element, package) in elements {
        if !is_known(element)? {
            return Err(Error::NoElement { element, package });
        }
    }
    Ok(())
}

fn is_known(element: &str) -> Result<bool, Error> {
    let mut inspect = Command::new(INSPECT);
    inspect.args(["--exists", element]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status =
        threads::takes_signals(&mut inspect).status().map_err(|source| Error::NoTools { tool: INSPECT, source })?;
    Ok(status.success())
}
