//! Serves the page's files and the WebSocket for pictures.

use super::gateway_state::GatewayState;
use super::guard::Rights;
use super::{guard, viewer};
use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Maximum number of connections that have not become WebSockets; the system lets others wait.
const MOST_CONNECTIONS: usize = 128;
/// Time limit for a request's head, and for idle connections.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for a connection that has not become a WebSocket, whatever it requests: a client that reads nothing would
/// otherwise occupy its place forever. Browsers connect again.
const LIFE: Duration = Duration::from_secs(15);
/// Size limit of a message from the page in bytes.
const MOST_MESSAGE: usize = 16 << 10;

const FILES: [(&str, &str, &str); 6] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("page/page.js")),
    ("/picture.js", "text/javascript; charset=utf-8", include_str!("page/picture.js")),
    ("/video.js", "text/javascript; charset=utf-8", include_str!("page/video.js")),
    ("/input.js", "text/javascript; charset=utf-8", include_str!("page/input.js")),
];

/// The page loads nothing from other sites.
const POLICY: &str = "default-src 'self'; img-src data:; form-action 'none'";
/// Other sites may not show the page in a frame, either.
const UNFRAMED: &str = "default-src 'self'; img-src data:; form-action 'none'; frame-ancestors 'none'";
/// Other sites may not read it.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-cache"),
];

/// Accepts connections until the runtime ends.
pub async fn serve(listener: TcpListener, shared: Arc<GatewayState>) {
    let router = router(shared);
    let rooms = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    // The semaphore is never closed.
    while let Ok(room) = rooms.clone().acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // For example, no descriptors are left; other connections may end in the meantime.
                tracing::debug!("a connection failed: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("cannot disable Nagle's algorithm; small messages will be delayed: {error}");
        }
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            let served = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
            match timeout(LIFE, served).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!("a connection ended: {error}"),
                Err(_) => tracing::debug!("a connection was closed after {LIFE:?}"),
            }
            drop(room);
        });
    }
}

fn router(shared: Arc<GatewayState>) -> Router {
    let mut router = Router::new().route("/pictures", get(connect));
    for (path, kind, text) in FILES {
        router = router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }));
    }
    router.layer(middleware::from_fn_with_state(shared.clone(), answer)).with_state(shared)
}

/// Refuses requests to foreign names, and adds the headers of every answer.
async fn answer(State(shared): State<Arc<GatewayState>>, request: Request, next: Next) -> Response {
    // The page itself says that it needs a token; its other files are not secret.
    let is_page = ["/", "/pictures"].contains(&request.uri().path());
    let may_look = !is_page || guard::rights(request.uri().query(), &shared.tokens) != Rights::None;
    let mut response = match guard::host(request.headers(), &shared.names) {
        Ok(_) if may_look => next.run(request).await,
        Ok(_) => (StatusCode::UNAUTHORIZED, "this page needs its token: open it with ?token=...\n").into_response(),
        Err(refusal) => refuse(&refusal),
    };
    let policy = if shared.is_framed { POLICY } else { UNFRAMED };
    for (name, value) in HEADERS.into_iter().chain([(header::CONTENT_SECURITY_POLICY, policy)]) {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn refuse(refusal: &guard::Refusal) -> Response {
    tracing::debug!("request refused: {refusal}");
    (StatusCode::FORBIDDEN, format!("{refusal}\n")).into_response()
}

async fn connect(
    State(shared): State<Arc<GatewayState>>,
    uri: Uri,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let own = guard::host(&headers, &shared.names).and_then(|host| guard::origin(&headers, &host));
    if let Err(refusal) = own {
        return refuse(&refusal);
    }
    let Ok(room) = shared.rooms.clone().try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many browsers are watching\n").into_response();
    };
    let may_steer = guard::rights(uri.query(), &shared.tokens) == Rights::Steer;
    upgrade.max_message_size(MOST_MESSAGE).max_frame_size(MOST_MESSAGE).on_upgrade(move |socket| async move {
        if let Err(error) = viewer::serve(socket, &shared, may_steer).await {
            tracing::debug!("a browser left: {error}");
        }
        drop(room);
    })
}
