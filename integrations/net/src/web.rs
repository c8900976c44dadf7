//! `pixelferry-net web`: shows a scene's pictures in browsers.

use crate::failure::Failure;
use crate::join::{Through, join, secret};
use crate::output::say;
use crate::{metrics, stop};
use clap::{Args, ValueEnum};
use pixelferry_media::web::{BrowserCodec, WebOptions};
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Clone, Copy, ValueEnum)]
enum Codec {
    /// As the scene is served.
    Served,
    /// Video via GStreamer; JPEG if GStreamer or the browser cannot.
    H264,
}

#[derive(Args)]
pub struct WebArgs {
    #[command(flatten)]
    through: Through,
    /// Address and port for browsers. If it is not a loopback address, everybody who can reach it may watch and send
    /// input.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Host name of the page, besides localhost and numeric addresses; can be repeated.
    #[arg(long = "name", value_name = "NAME")]
    names: Vec<String>,
    /// File with a token: only browsers that open the page with ?token= and that token may watch.
    #[arg(long, value_name = "FILE")]
    watch_token: Option<PathBuf>,
    /// File with a token: only browsers that open the page with ?token= and that token may send input; others only
    /// watch.
    #[arg(long, value_name = "FILE")]
    steer_token: Option<PathBuf>,
    /// Maximum number of browsers at a time.
    #[arg(long, default_value_t = WebOptions::default().viewers)]
    viewers: usize,
    /// Codec of pictures to browsers.
    #[arg(long, value_enum, default_value = "served")]
    codec: Codec,
    /// Name of the scene.
    #[arg(long, default_value = crate::SCENE)]
    scene: String,
}

/// Serves the page until it is stopped.
pub fn run(options: &WebArgs) -> Result<(), Failure> {
    let mut web = WebOptions::at(options.listen);
    web.names.clone_from(&options.names);
    web.viewers = options.viewers;
    web.hop = match options.codec {
        Codec::Served => BrowserCodec::Served,
        Codec::H264 => BrowserCodec::H264,
    };
    web.tokens.watch = options.watch_token.as_deref().map(secret).transpose()?;
    web.tokens.steer = options.steer_token.as_deref().map(secret).transpose()?;
    let gateway = join(&options.through)?.gateway(&options.scene, web)?;
    say(format_args!("open http://{}", gateway.address()))?;
    while stop::wait(stop::LOOK) {
        metrics::beat();
        metrics::set("pixelferry_browsers", gateway.viewers() as f64);
    }
    Ok(())
}
