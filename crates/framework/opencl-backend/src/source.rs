//! Source text for the compiler, and its log for the user.

use interop_core::compute::CONVERT_SOURCE;

/// The macros that the documentation of kernels describes.
const PRELUDE: &str = include_str!("prelude.cl");

/// The macros for kernels that write images.
const IMAGES: &str = include_str!("image.cl");

/// File name of the prelude in the log.
const PRELUDE_FILE: &str = "pixelferry.cl";
const USER_FILE: &str = "kernel.cl";

fn header() -> String {
    format!("#line 1 \"{PRELUDE_FILE}\"\n{PRELUDE}{CONVERT_SOURCE}\n#line 1 \"{USER_FILE}\"\n")
}

/// Returns the user's text, preceded by macros and conversions.
pub fn with_prelude(text: &str) -> String {
    header() + text
}

/// Returns the user's text for an image target; `None` for kernels that address pixels, or that do not use an image.
pub fn for_images(text: &str) -> Option<String> {
    let wanted = text.contains("PF_STORE") && !text.contains("PF_AT");
    wanted.then(|| format!("{PRELUDE}{IMAGES}{CONVERT_SOURCE}\n{text}"))
}

/// Returns the log with lines counted from the user's first line. NVIDIA's compiler ignores `#line`: it counts from the
/// start of the text and does not print the file names of the directives.
pub fn users_log(log: String) -> String {
    if log.contains(USER_FILE) || log.contains(PRELUDE_FILE) {
        return log;
    }
    let header = header().lines().count();
    log.lines().map(|line| relocate(line, header)).collect::<Vec<_>>().join("\n")
}

/// Rewrites `<kernel>:81:22: error` with a header of 78 lines as `kernel.cl:3:22: error`.
fn relocate(line: &str, header: usize) -> String {
    let mut parts = line.splitn(4, ':');
    let location = (|| {
        let (_file, row, column, rest) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        Some((row.parse::<usize>().ok()?, column.parse::<usize>().ok()?, rest))
    })();
    match location {
        Some((row, column, rest)) if row > header => format!("{USER_FILE}:{}:{column}:{rest}", row - header),
        Some((row, column, rest)) => format!("{PRELUDE_FILE}:{row}:{column}:{rest}"),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_that_ignore_line_directives_are_rewritten() {
        let header = header().lines().count();
        let log = format!(
            "<kernel>:{}:22: error: no 'x': y\n  x = 1:2:3;\n<kernel>:4:27: note: from macro\n1 error.\n",
            header + 3
        );
        assert_eq!(
            users_log(log),
            "kernel.cl:3:22: error: no 'x': y\n  x = 1:2:3;\npixelferry.cl:4:27: note: from macro\n1 error."
        );
    }

    #[test]
    fn logs_that_heed_them_are_left_alone() {
        let log = "kernel.cl:300:2: error\n".to_owned();
        assert_eq!(users_log(log.clone()), log);
    }

    #[test]
    fn the_users_text_begins_on_a_line_of_its_own() {
        let text = with_prelude("first");
        assert_eq!(text.lines().last(), Some("first"));
        assert_eq!(text.lines().count(), header().lines().count() + 1);
    }
}
