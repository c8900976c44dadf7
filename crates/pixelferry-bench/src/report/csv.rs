//! One line for each sample.

use crate::record::Record;
use std::fmt::Write as _;

/// The names of the columns.
pub const COLUMNS: &str = "compute,display,size,width,height,format,mode,unwritten,row,kind,path,sync,frames_late,\
                           frames_per_sample,round,index,microseconds";

/// The whole result, with a line of names first (RFC 4180, but lines end in LF).
pub fn text(record: &Record) -> String {
    let mut out = String::from(COLUMNS);
    out.push('\n');
    for cell in &record.cells {
        for row in &cell.rows {
            let info = &row.info;
            let head = [
                field(&cell.compute),
                field(&cell.display),
                field(&cell.size),
                cell.width.to_string(),
                cell.height.to_string(),
                field(&cell.format),
                cell.mode.to_string(),
                cell.unwritten.to_string(),
                field(&info.row),
                format!("{:?}", info.kind).to_lowercase(),
                field(info.path.as_deref().unwrap_or_default()),
                field(info.sync.as_deref().unwrap_or_default()),
                info.frames_behind.to_string(),
                cell.frames_per_sample.to_string(),
            ]
            .join(",");
            for (round, samples) in row.rounds_us.iter().enumerate() {
                for (index, us) in samples.iter().enumerate() {
                    // Writing to a String cannot fail.
                    let _ = writeln!(out, "{head},{round},{index},{us}");
                }
            }
        }
    }
    out
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_sample_has_its_line() {
        let record = sample::record();
        let text = text(&record);
        let samples: usize = record.cells.iter().flat_map(|c| &c.rows).map(|r| r.stats.n).sum();
        assert_eq!(text.lines().count(), samples + 1);
        let second = text.lines().nth(1).unwrap();
        assert!(
            second.starts_with("\"CUDA A <&> \"\"B\"\"\",\"OpenGL C, D\",720p,64,48,RGBA8,latency,overwrite,"),
            "{second}"
        );
        assert_eq!(second.matches(',').count(), COLUMNS.matches(',').count() + 1, "one comma is inside quotes");
    }
}
