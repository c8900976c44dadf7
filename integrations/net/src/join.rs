//! How a command connects to the network, and with which identity.

use crate::failure::Failure;
use crate::{HUB, metrics, stop};
use clap::Args;
use pixelferry_net::{Net, NetOptions, NetRole, Security};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Environment variable with the password of `--user`.
const PASSWORD: &str = "PIXELFERRY_PASSWORD";
const HEADING: &str = "Security";

#[derive(Args, Clone)]
pub struct Through {
    /// Endpoint of the hub or router.
    #[arg(long, default_value = HUB)]
    pub connect: String,
    /// Seconds to wait until the endpoint can be reached.
    #[arg(long, default_value_t = 10)]
    pub patience: u64,
    #[command(flatten)]
    pub papers: Papers,
}

/// Certificates, name and password.
#[derive(Args, Clone, Default)]
pub struct Papers {
    /// Certificates (PEM) of the authority that verifies the other end, for endpoints tls/...
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    tls_authority: Option<PathBuf>,
    /// This program's certificate (PEM): needed to listen, or to connect with --mutual.
    #[arg(long, help_heading = HEADING, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's private key (PEM).
    #[arg(long, help_heading = HEADING, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Require certificates of the authority from connecting programs, too.
    #[arg(long, help_heading = HEADING, requires = "tls_certificate", requires = "tls_authority")]
    mutual: bool,
    /// User name for connecting; give its password with --password-file or the variable PIXELFERRY_PASSWORD.
    #[arg(long, help_heading = HEADING, value_name = "NAME")]
    user: Option<String>,
    /// File with the password of --user.
    #[arg(long, help_heading = HEADING, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
}

/// Who may connect to a command that listens.
#[derive(Args, Clone, Default)]
pub struct Guests {
    /// File with a line name:password for each user who may connect; without it everybody may.
    #[arg(long, help_heading = HEADING, value_name = "FILE")]
    users: Option<PathBuf>,
}

impl Papers {
    fn security(&self) -> Result<Security, Failure> {
        let mut security = Security::default();
        security.authority.clone_from(&self.tls_authority);
        security.identity = self.tls_certificate.clone().zip(self.tls_key.clone());
        security.mutual = self.mutual;
        if let Some(user) = &self.user {
            let password = match &self.password_file {
                Some(file) => secret(file)?,
                None => std::env::var(PASSWORD).map_err(|_| Failure::Password(user.clone()))?,
            };
            security.user = Some((user.clone(), password));
        }
        Ok(security)
    }
}

/// Returns the first line of a file.
pub fn secret(file: &Path) -> Result<String, Failure> {
    let read = fs::read_to_string(file).map_err(|reason| Failure::Secret { file: file.into(), reason })?;
    Ok(read.lines().next().unwrap_or_default().to_owned())
}

/// Joins via a hub or router as soon as it can be reached.
pub fn join(through: &Through) -> Result<Net, Failure> {
    open(&NetOptions::through(&through.connect).with_security(through.papers.security()?), through.patience)
}

/// Joins as a node that others connect to, and that may connect to other such nodes.
pub fn host(listen: &[String], connect: &[String], papers: &Papers, guests: &Guests) -> Result<Net, Failure> {
    let mut security = papers.security()?;
    if let Some(users) = &guests.users {
        // Zenoh would accept everybody if the file were missing.
        fs::File::open(users).map_err(|reason| Failure::Secret { file: users.clone(), reason })?;
        security.users = Some(users.clone());
    }
    let mut options = NetOptions::default().with_security(security);
    (options.place, options.listen, options.connect) = (NetRole::Hub, listen.to_vec(), connect.to_vec());
    open(&options, 0)
}

fn open(options: &NetOptions, patience: u64) -> Result<Net, Failure> {
    let until = Instant::now() + Duration::from_secs(patience);
    loop {
        metrics::beat();
        match Net::join(options.clone()) {
            Err(error) if Instant::now() < until => {
                if !stop::wait(Duration::from_millis(100)) {
                    return Err(error.into());
                }
            }
            joined => {
                let net = joined?;
                metrics::watch(&net);
                return Ok(net);
            }
        }
    }
}
