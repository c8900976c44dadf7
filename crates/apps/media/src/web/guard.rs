//! Decides which requests the gateway answers: a page of another site, open in the same browser, must not see the scene
//! or send input.

use super::web_options::Tokens;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use std::hint::black_box;
use std::net::IpAddr;

/// Reason why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("a request needs exactly one valid Host header")]
    NoHost,
    #[error(
        "this page does not answer to the name '{0}', which another site could use for an attack. If it is yours, open \
         the page by the machine's numeric address, such as http://127.0.0.1, or start a gateway that accepts names \
         (pixelferry-net, WebOptions::names) with --name {0}"
    )]
    Name(String),
    #[error("a page of '{found}' may not connect to '{host}'; open http://{host} itself")]
    Origin { found: String, host: String },
}

/// Returns the request's host if it is a number, `localhost` or one of `names`. A foreign site could have made any
/// other name resolve to this machine (DNS rebinding).
pub fn host(headers: &HeaderMap, names: &[String]) -> Result<String, Refusal> {
    let host = only(headers, header::HOST).ok_or(Refusal::NoHost)?;
    let authority: Authority = host.parse().map_err(|_| Refusal::NoHost)?;
    let name = authority.host();
    let is_number = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
    let is_known =
        || names.iter().map(String::as_str).chain(["localhost"]).any(|known| known.eq_ignore_ascii_case(name));
    if host.contains('@') || !(is_number || is_known()) {
        return Err(Refusal::Name(name.into()));
    }
    Ok(host.into())
}

/// Accepts connections of the gateway's own page only; browsers send the site of a page.
pub fn origin(headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    let origin = only(headers, header::ORIGIN).unwrap_or("no site");
    let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    if site.is_some_and(|site| site.eq_ignore_ascii_case(host)) {
        return Ok(());
    }
    Err(Refusal::Origin { found: origin.into(), host: host.into() })
}

/// Rights that a token gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    None,
    Watch,
    Steer,
}

/// Reads the token in an address's query, `token=...`.
pub fn rights(query: Option<&str>, tokens: &Tokens) -> Rights {
    let given = query.unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("token=")).unwrap_or_default();
    let has = |token: &Option<String>| token.as_ref().is_some_and(|token| is_same(token, given));
    let may_watch = tokens.watch.is_none() || has(&tokens.watch);
    if has(&tokens.steer) || (tokens.steer.is_none() && may_watch) {
        return Rights::Steer;
    }
    if may_watch { Rights::Watch } else { Rights::None }
}

/// Compares in constant time, so that timing does not reveal where tokens differ.
fn is_same(token: &str, given: &str) -> bool {
    let pairs = token.bytes().zip(given.bytes());
    token.len() == given.len() && pairs.fold(0, |differs, (a, b)| black_box(differs | (a ^ b))) == 0
}

/// Checks that each token is valid in an address and hard to guess.
pub fn are_tokens(tokens: &Tokens) -> bool {
    let is_token = |token: &String| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (8..=128).contains(&token.len()) && token.bytes().all(is_plain)
    };
    tokens.watch.iter().chain(&tokens.steer).all(is_token)
}

fn only(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(header::HeaderName, &str)]) -> HeaderMap {
        rows.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn of(host_text: &str) -> Result<String, Refusal> {
        host(&headers(&[(header::HOST, host_text)]), &["wall.example".into()])
    }

    #[test]
    fn numbers_localhost_and_given_names_are_answered() {
        for good in [
            "127.0.0.1:8080",
            "127.0.0.1",
            "[::1]:8080",
            "10.1.2.3:1",
            "localhost:8080",
            "LOCALHOST",
            "Wall.example:80",
        ] {
            assert_eq!(of(good), Ok(good.into()));
        }
        let names =
            ["evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "a@127.0.0.1", "1.2.3", "evil"];
        for bad in names {
            assert!(matches!(of(bad), Err(Refusal::Name(_))), "{bad}: {:?}", of(bad));
        }
        for none in ["", "a b", ":8080/"] {
            assert!(of(none).is_err(), "{none}");
        }
        let twice = HeaderMap::from_iter([(header::HOST, "localhost".parse().unwrap())]);
        let mut twice_more = twice.clone();
        twice_more.append(header::HOST, "127.0.0.1".parse().unwrap());
        assert!(host(&twice, &[]).is_ok());
        assert_eq!(host(&twice_more, &[]), Err(Refusal::NoHost));
    }

    #[test]
    fn a_token_gives_its_right_and_no_token_takes_none_away() {
        let tokens = |watch: Option<&str>, steer: Option<&str>| Tokens {
            watch: watch.map(str::to_owned),
            steer: steer.map(str::to_owned),
        };
        for (watch, steer, query, right) in [
            (None, None, None, Rights::Steer),
            (None, Some("steersteer"), None, Rights::Watch),
            (None, Some("steersteer"), Some("token=steersteeR"), Rights::Watch),
            (None, Some("steersteer"), Some("codec=h264&token=steersteer"), Rights::Steer),
            (Some("watchwatch"), None, Some("token="), Rights::None),
            (Some("watchwatch"), None, Some("token=watchwatch"), Rights::Steer),
            (Some("watchwatch"), Some("steersteer"), Some("token=watchwatc"), Rights::None),
            (Some("watchwatch"), Some("steersteer"), Some("token=watchwatch"), Rights::Watch),
            (Some("watchwatch"), Some("steersteer"), Some("token=steersteer"), Rights::Steer),
        ] {
            assert_eq!(rights(query, &tokens(watch, steer)), right, "{watch:?} {steer:?} {query:?}");
        }
        assert!(are_tokens(&tokens(None, Some("a1-_b2c3"))));
        for bad in ["", "short", "with space", "with&and&", &"a".repeat(129)] {
            assert!(!are_tokens(&tokens(Some(bad), None)), "{bad}");
        }
    }

    #[test]
    fn only_the_same_site_may_connect() {
        let from = |site: &str| origin(&headers(&[(header::ORIGIN, site)]), "127.0.0.1:8080");
        for own in ["http://127.0.0.1:8080", "https://127.0.0.1:8080"] {
            assert_eq!(from(own), Ok(()));
        }
        let foreign = [
            "http://127.0.0.1",
            "http://127.0.0.1:3000",
            "http://localhost:8080",
            "http://evil.example",
            "null",
            "file://",
            "",
        ];
        for site in foreign {
            assert!(matches!(from(site), Err(Refusal::Origin { .. })), "{site}");
        }
        assert!(origin(&HeaderMap::new(), "127.0.0.1:8080").is_err());
    }
}
