//! Removes private data from a text: names of people and machines, home folders, and serial numbers.

use lazy_regex::regex::{NoExpand, escape};
use lazy_regex::{Regex, regex_replace_all};
use std::env;
use std::path::PathBuf;

/// Private words of this machine, each with its replacement.
pub struct Scrub {
    words: Vec<(String, &'static str)>,
}

impl Scrub {
    /// Collects the words of this user and this machine.
    pub fn here() -> Self {
        let variable = |name: &&str| env::var(name).ok();
        let homes = ["HOME", "USERPROFILE"].iter().filter_map(variable);
        let homes = homes.chain(env::home_dir().map(|home| home.to_string_lossy().into_owned()));
        let users: Vec<_> = ["USER", "LOGNAME", "USERNAME", "SUDO_USER"].iter().filter_map(variable).collect();
        let hosts = ["HOSTNAME", "COMPUTERNAME"].iter().filter_map(variable);
        let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
        let hosts = hosts.chain(files.iter().filter_map(|file| std::fs::read_to_string(file).ok()));
        let mut words = Vec::new();
        for home in homes {
            // The last component of the home folder is the user's name.
            let user = PathBuf::from(&home).file_name().map(|name| name.to_string_lossy().into_owned());
            words.push((home, "~"));
            words.extend(user.map(|user| (user, "USER")));
        }
        words.extend(users.into_iter().map(|user| (user, "USER")));
        for host in hosts {
            let short = host.trim().split('.').next().unwrap_or_default().to_owned();
            words.extend([(host.trim().to_owned(), "HOST"), (short, "HOST")]);
        }
        Self::of(words)
    }

    /// Sorts words so that a word comes before its own prefixes.
    fn of(mut words: Vec<(String, &'static str)>) -> Self {
        words.retain(|(word, _)| word.trim_matches('/').len() > 1 && word != "localhost");
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Self { words }
    }

    /// Returns the text without private data.
    pub fn clean(&self, text: &str) -> String {
        let replaced = |text: String, (word, instead): &(String, &str)| {
            // No letter or digit touches a word; a path may follow anything.
            let start = if word.starts_with(char::is_alphanumeric) { r"\b{start-half}" } else { "" };
            match Regex::new(&format!(r"{start}{}\b{{end-half}}", escape(word))) {
                Ok(found) => found.replace_all(&text, NoExpand(instead)).into_owned(),
                Err(_) => text.replace(word, instead),
            }
        };
        let text = self.words.iter().fold(text.to_owned(), replaced);
        // The homes of other users, and the serial numbers of devices.
        let text = regex_replace_all!(r#"(/home/|/Users/|C:\\Users\\)[^/\\:'" \n,)]*"#, &text, "${1}USER");
        regex_replace_all!(r"[[:xdigit:]]{8}-(?:[[:xdigit:]]{4}-){3}[[:xdigit:]]{12}", &text, "UUID").into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_words_are_replaced_and_others_are_not() {
        let words = [("/srv/people/anna", "~"), ("anna", "USER"), ("box.lab", "HOST"), ("box", "HOST"), ("/", "~")];
        let scrub = Scrub::of(words.map(|(word, instead)| (word.to_owned(), instead)).to_vec());
        for (private, clean) in [
            ("/srv/people/anna/lib:/srv/people/anna2", "~/lib:/srv/people/anna2"),
            ("anna's annals, by anna", "USER's annals, by USER"),
            ("box.lab and box, boxes, /usr/lib", "HOST and HOST, boxes, /usr/lib"),
            ("/home/bob/icd.json, '/home/carol'", "/home/USER/icd.json, '/home/USER'"),
            ("GPU-12345678-9abc-def0-1234-56789ABCDEF0, é", "GPU-UUID, é"),
            ("12345678-9abc-def0-1234-56789ABCDEF", "12345678-9abc-def0-1234-56789ABCDEF"),
        ] {
            assert_eq!(scrub.clean(private), clean);
        }
    }
}
