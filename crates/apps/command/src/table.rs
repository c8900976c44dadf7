//! The whole report as text, for `pixelferry probe --all` and bug reports.

use pixelferry::{
    DeviceIdentity,
    report::{Availability, Diagnosis, ProbeReport, SystemReport},
};
use std::fmt::Write as _;

pub fn report(report: &SystemReport) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, report);
    text
}

fn write(out: &mut String, report: &SystemReport) -> std::fmt::Result {
    let SystemReport { version, surface, .. } = report;
    writeln!(out, "pixelferry {version}, tried with: {surface}, unwritten pixels: {}", surface.unwritten())?;
    writeln!(out, "\nCompute")?;
    for backend in &report.backends {
        availability(out, &backend.api.to_string(), &backend.availability)?;
        let languages: Vec<_> = backend.languages.iter().map(ToString::to_string).collect();
        writeln!(out, "      takes kernels in {}", languages.join(", "))?;
        for device in &backend.devices {
            identity(out, device)?;
        }
    }
    writeln!(out, "\nDisplay")?;
    for display in &report.displays {
        availability(out, display.kind, &display.availability)?;
        if let Some(device) = &display.device {
            identity(out, device)?;
        }
    }
    for pairing in &report.pairings {
        paths(out, pairing)?;
    }
    for d in &report.diagnoses {
        writeln!(out)?;
        diagnosis(out, "", d)?;
    }
    for problem in &report.problems {
        writeln!(out, "\nproblem: {problem}")?;
    }
    match &report.chosen {
        Some(c) => writeln!(out, "\nBy default: {} -> {} by {}\n  {}", c.compute, c.display, c.path, c.why),
        None => writeln!(out, "\nNo path works on this machine; the reasons are above."),
    }
}

fn availability(out: &mut String, name: &str, availability: &Availability) -> std::fmt::Result {
    match availability {
        Availability::Available => writeln!(out, "  {name}: available"),
        Availability::Unavailable { reason, hint } => {
            writeln!(out, "  {name}: unavailable: {reason}")?;
            if hint.is_empty() { Ok(()) } else { writeln!(out, "      {hint}") }
        }
    }
}

fn identity(out: &mut String, device: &DeviceIdentity) -> std::fmt::Result {
    let kind = if device.software { "software" } else { "hardware" };
    writeln!(out, "      {} ({kind}, {} memory)", device.name, device.memory)?;
    writeln!(out, "        {}, {}", device.vendor, device.driver)?;
    if let Some(uuid) = device.uuid {
        writeln!(out, "        uuid {uuid}")?;
    }
    if let Some(pci) = &device.pci {
        writeln!(out, "        pci {pci}")?;
    }
    Ok(())
}

fn paths(out: &mut String, pairing: &ProbeReport) -> std::fmt::Result {
    writeln!(out, "\n{} -> {}", pairing.compute, pairing.display)?;
    writeln!(out, "  order: {}", pairing.order)?;
    for path in &pairing.paths {
        writeln!(out, "  {path}")?;
    }
    pairing.diagnoses.iter().try_for_each(|d| diagnosis(out, "  ", d))
}

/// Writes a finding and advice, with the command on a line of its own.
pub fn diagnosis(out: &mut String, indent: &str, d: &Diagnosis) -> std::fmt::Result {
    let [finding, advice] = [&d.finding, &d.advice].map(|text| text.trim_end_matches('.'));
    writeln!(out, "{indent}{}: {finding}. {advice}{}", d.name, if d.command.is_some() { ":" } else { "." })?;
    d.command.iter().try_for_each(|command| writeln!(out, "{indent}    {command}"))
}
