//! `pixelferry-net demo`: a display, workers and the page in one process.

use crate::display::{self, Picture};
use crate::failure::Failure;
use crate::join::{Guests, Papers, Through, host, join};
use crate::output::{complain, say};
use crate::{HUB, stop, worker};
use clap::Args;
use pixelferry_media::web::WebOptions;
use pixelferry_net::Packing;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

#[derive(Args)]
pub struct DemoOptions {
    /// Address and port for browsers. If it is not a loopback address, everybody who can reach it may watch and send
    /// input.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Endpoint for further workers and viewers.
    #[arg(long, default_value = HUB)]
    hub: String,
    /// Number of workers to start in this process.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=64))]
    workers: u8,
    #[command(flatten)]
    picture: Picture,
    /// Number of frames to show; by default unlimited.
    #[arg(long)]
    frames: Option<u64>,
}

/// Shows frames until Ctrl-C, which ends the process with all its parts.
pub fn run(options: &DemoOptions) -> Result<(), Failure> {
    let net = host(std::slice::from_ref(&options.hub), &[], &Papers::default(), &Guests::default())?;
    // The endpoint with the port that the system chose, if none was named.
    let hub = net.endpoints()?.into_iter().next().unwrap_or_else(|| options.hub.clone());
    let through = Through { connect: hub.clone(), patience: 10, papers: Papers::default() };
    let mut workers = Vec::new();
    for number in 0..options.workers {
        let (through, scene) = (through.clone(), options.picture.scene.clone());
        let worker = worker::WorkerOptions { through, scene, codec: Packing::default(), idle: None };
        let work =
            move || worker::run(&worker).unwrap_or_else(|failure| complain(format_args!("a worker ended: {failure}")));
        workers.push(thread::Builder::new().name(format!("worker {number}")).spawn(work).map_err(Failure::Thread)?);
    }
    let page = join(&through)?.gateway(&options.picture.scene, WebOptions::at(options.listen))?;
    say(format_args!("open http://{}", page.address()))?;
    say(format_args!("more workers: pixelferry-net worker --connect {hub}; Ctrl-C ends everything"))?;
    display::show(&net, &options.picture, options.frames, Duration::MAX)?;
    if stop::is_asked() {
        for worker in workers {
            // Workers report themselves why they ended.
            let _ = worker.join();
        }
    }
    Ok(())
}
