//! Certificates for tests.

use pixelferry_net::Security;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::path::{Path, PathBuf};

/// An authority, and a certificate of it that stands for `127.0.0.1`, as files.
pub struct Papers {
    pub authority: PathBuf,
    pub identity: (PathBuf, PathBuf),
}

impl Papers {
    pub fn issue(folder: &Path, name: &str) -> Self {
        let write = |end: &str, text: String| {
            let path = folder.join(format!("{name}-{end}.pem"));
            std::fs::write(&path, text).unwrap();
            path
        };
        let (root_key, key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let mut root = CertificateParams::new([]).unwrap();
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = write("authority", root.self_signed(&root_key).unwrap().pem());
        let leaf = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate = leaf.signed_by(&key, &Issuer::new(root, root_key)).unwrap();
        let identity = (write("certificate", certificate.pem()), write("key", key.serialize_pem()));
        Self { authority, identity }
    }
}

/// A folder of this test alone, for papers and passwords.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("security-{test}"));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn security(change: impl FnOnce(&mut Security)) -> Security {
    let mut security = Security::default();
    change(&mut security);
    security
}
