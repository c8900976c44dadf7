//! Tests of the security: certificates, names and passwords, right and wrong ones.

use crate::common::*;
use crate::papers::{Papers, folder, security};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::{Error, Net, NetOptions, Security};
use pixelferry_testing::wait_until;
use std::path::PathBuf;

/// A viewer with these papers gets the hub's picture, byte for byte.
fn gets_pictures(endpoint: &str, security: Security) {
    let viewer = Net::join(NetOptions::through(endpoint).with_security(security)).unwrap().view("secret").unwrap();
    let mut picture = None;
    wait_until("the picture", || {
        picture = viewer.next(LOOK);
        picture.is_some()
    });
    assert!(*picture.unwrap().to_bytes().unwrap() == secret());
}

/// A viewer with these papers is not let in; what it is told.
fn is_refused(endpoint: &str, security: Security) -> String {
    let refused = Net::join(NetOptions::through(endpoint).with_security(security)).err().expect("nobody lets it in");
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    let told = refused.to_string();
    assert!(told.contains(endpoint) && told.contains("certificate") && told.contains("password"), "{told}");
    told
}

fn image() -> ImageDesc {
    ImageDesc::new(31, 17, PixelFormat::Rgba8)
}

fn secret() -> Vec<u8> {
    expected(&image(), image().extent.full(), 77)
}

/// A hub that shows the secret picture.
fn secret_hub(endpoint: &str, security: Security) -> (pixelferry_net::Server, String) {
    let net = Net::join(NetOptions::hub(endpoint).with_security(security)).unwrap();
    let endpoint = net.endpoints().unwrap()[0].clone();
    let server = net.serve("secret").unwrap();
    server.publish(image(), 1, None, &secret()).unwrap();
    (server, endpoint)
}

#[test]
fn certificates_decide_who_is_believed() {
    let folder = folder("tls");
    let (ours, theirs) = (Papers::issue(&folder, "ours"), Papers::issue(&folder, "theirs"));
    let (_server, endpoint) = secret_hub("tls/127.0.0.1:0", security(|it| it.identity = Some(ours.identity.clone())));
    assert!(endpoint.starts_with("tls/127.0.0.1:"), "{endpoint}");
    gets_pictures(&endpoint, security(|it| it.authority = Some(ours.authority.clone())));
    let wrong = is_refused(&endpoint, security(|it| it.authority = Some(theirs.authority.clone())));
    assert!(wrong.contains("theirs-authority.pem"), "{wrong}");
    is_refused(&endpoint, Security::default());
    is_refused(&endpoint.replace("tls/", "tcp/"), Security::default());
}

#[test]
fn a_hub_may_ask_for_certificates_of_those_who_connect() {
    let folder = folder("mutual");
    let (ours, theirs) = (Papers::issue(&folder, "ours"), Papers::issue(&folder, "theirs"));
    let with = |identity: Option<(PathBuf, PathBuf)>| {
        security(|it| {
            (it.authority, it.mutual) = (Some(ours.authority.clone()), true);
            it.identity = identity;
        })
    };
    let (_server, endpoint) = secret_hub("tls/127.0.0.1:0", with(Some(ours.identity.clone())));
    gets_pictures(&endpoint, with(Some(ours.identity.clone())));
    is_refused(&endpoint, with(Some(theirs.identity.clone())));
    is_refused(&endpoint, security(|it| it.authority = Some(ours.authority.clone())));
}

#[test]
fn names_and_passwords_decide_who_may_join() {
    let users = folder("users").join("users.txt");
    std::fs::write(&users, "ann:correct horse\nbob:battery staple\n").unwrap();
    let (_server, endpoint) = secret_hub("tcp/127.0.0.1:0", security(|it| it.users = Some(users)));
    let user = |name: &str, word: &str| security(|it| it.user = Some((name.into(), word.into())));
    gets_pictures(&endpoint, user("ann", "correct horse"));
    gets_pictures(&endpoint, user("bob", "battery staple"));
    for wrong in [user("ann", "battery staple"), user("eve", "correct horse"), Security::default()] {
        let told = is_refused(&endpoint, wrong);
        assert!(!told.contains("battery") && !told.contains("horse"), "it tells a password: {told}");
    }
    // Both at once: what is said of names stays between the two.
    let papers = Papers::issue(&folder("users"), "ours");
    let users = folder("users").join("users.txt");
    let both = security(|it| (it.users, it.identity) = (Some(users), Some(papers.identity.clone())));
    let (_server, endpoint) = secret_hub("tls/127.0.0.1:0", both);
    let with = |word: &str| {
        security(|it| {
            it.authority = Some(papers.authority.clone());
            it.user = Some(("ann".into(), word.into()));
        })
    };
    gets_pictures(&endpoint, with("correct horse"));
    is_refused(&endpoint, with("wrong"));
}
