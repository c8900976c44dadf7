//! The same calls in the right order do compile.

fn main() {}

#[allow(dead_code)]
fn right(mut link: pixelferry::Link, pixels: &[u8]) -> pixelferry::Result<()> {
    let mut frame = link.acquire()?;
    frame.write(pixels)?;
    frame.finish()?;
    let shown = link.shown()?;
    println!("{}", shown.surface().desc());
    link.acquire()?.finish()
}
