//! These calls compile in the right order.

fn main() {}

#[allow(dead_code)]
fn right(mut link: interop_core::Link, pixels: &[u8]) -> interop_core::Result<()> {
    let mut frame = link.acquire()?;
    frame.write(pixels)?;
    frame.finish()?;
    let shown = link.shown()?;
    println!("{}", shown.surface().desc());
    link.acquire()?.finish()
}
