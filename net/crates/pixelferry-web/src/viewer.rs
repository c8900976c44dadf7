//! One browser: pictures to it, and what its page sends back.

use crate::gateway::Shared;
use crate::pace::Pace;
use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How often a browser is asked whether it is there.
const BEAT: Duration = Duration::from_secs(10);
/// One that is not heard for so long, or takes nothing, is gone.
const SILENCE: Duration = Duration::from_secs(30);

/// What the page is told beside the pictures.
#[derive(Serialize)]
struct Status<'a> {
    scene: &'a str,
    served: bool,
}

/// What the page tells: so many pictures more were shown or passed over.
#[derive(Deserialize)]
struct Taken {
    taken: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum Ended {
    #[error(transparent)]
    Socket(#[from] axum::Error),
    #[error("it took nothing for {SILENCE:?}")]
    Stalled,
    #[error("it said nothing for {SILENCE:?}")]
    Silent,
    #[error("its message is none of the protocol")]
    Foreign,
}

/// Sends pictures until the browser leaves.
pub async fn serve(mut socket: WebSocket, shared: &Shared) -> Result<(), Ended> {
    let (mut pictures, mut served) = (shared.pictures.subscribe(), shared.served.subscribe());
    // Who comes gets the picture of now.
    pictures.mark_changed();
    served.mark_changed();
    let (mut pace, mut heard, mut beat) = (Pace::new(), Instant::now(), interval(BEAT));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // An error says that the gateway is gone, and the socket with it.
            Ok(()) = served.changed() => {
                let status = Status { scene: &shared.scene, served: *served.borrow_and_update() };
                let text = serde_json::to_string(&status).unwrap_or_default();
                send(&mut socket, Message::Text(text.into())).await?;
            }
            Ok(()) = pictures.changed(), if pace.is_open() => {
                let picture: Option<Bytes> = pictures.borrow_and_update().clone();
                if let Some(picture) = picture {
                    pace.sent(Instant::now());
                    send(&mut socket, Message::Binary(picture)).await?;
                }
            }
            message = socket.recv() => {
                let Some(message) = message else { return Ok(()) };
                heard = Instant::now();
                if !take(message?, shared, &mut pace) {
                    let frame = CloseFrame { code: close_code::POLICY, reason: "no message of the protocol".into() };
                    send(&mut socket, Message::Close(Some(frame))).await?;
                    return Err(Ended::Foreign);
                }
            }
            _ = beat.tick() => {
                if heard.elapsed() > SILENCE {
                    return Err(Ended::Silent);
                }
                send(&mut socket, Message::Ping(Bytes::new())).await?;
            }
        }
    }
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Ended> {
    Ok(timeout(SILENCE, socket.send(message)).await.map_err(|_| Ended::Stalled)??)
}

/// `false` for what the page never sends.
fn take(message: Message, shared: &Shared, pace: &mut Pace) -> bool {
    match message {
        Message::Binary(input) => {
            if let Err(error) = shared.viewer.send(&input) {
                tracing::debug!("an input was not sent: {error}");
            }
            true
        }
        Message::Text(text) => {
            let now = Instant::now();
            serde_json::from_str(&text).is_ok_and(|Taken { taken }| (0..taken).all(|_| pace.taken(now)))
        }
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) => true,
    }
}
