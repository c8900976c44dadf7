//! `pixelferry-net router`: forwards messages, and computes and shows nothing.

use crate::failure::Failure;
use crate::join::{Guests, Papers, host};
use crate::output::say;
use crate::{HUB, metrics, stop};
use clap::Args;

#[derive(Args)]
pub struct RouterOptions {
    /// Endpoint to listen on; can be repeated.
    #[arg(long, value_name = "ENDPOINT", default_value = HUB)]
    listen: Vec<String>,
    /// Endpoint of another router, which may start later; can be repeated.
    #[arg(long, value_name = "ENDPOINT")]
    connect: Vec<String>,
    #[command(flatten)]
    guests: Guests,
    #[command(flatten)]
    papers: Papers,
}

pub fn run(options: &RouterOptions) -> Result<(), Failure> {
    let net = host(&options.listen, &options.connect, &options.papers, &options.guests)?;
    say(format_args!("listening on {}", net.endpoints()?.join(" ")))?;
    while stop::wait(stop::LOOK) {
        metrics::beat();
    }
    Ok(())
}
