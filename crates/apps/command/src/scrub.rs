//! Removes private data from a text: names of people and machines, home folders, and serial numbers.

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
        let mut text = text.to_owned();
        for (word, instead) in &self.words {
            text = replace_word(&text, word, instead);
        }
        for folder in ["/home/", "/Users/", "C:\\Users\\"] {
            text = replace_names_after(&text, folder);
        }
        without_uuids(&text)
    }
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Replaces a word where no letter or digit touches it.
fn replace_word(text: &str, word: &str, instead: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        out += before;
        let goes_on = word.starts_with(is_part) && out.ends_with(is_part) || after.starts_with(is_part);
        out += if goes_on { word } else { instead };
        rest = after;
    }
    out + rest
}

/// Replaces the name that follows `folder`: the home of another user.
fn replace_names_after(text: &str, folder: &str) -> String {
    let mut parts = text.split(folder);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['/', '\\', ':', '\'', '"', ' ', '\n', ',', ')']).unwrap_or(part.len());
        out += folder;
        out += "USER";
        out += &part[end..];
    }
    out
}

/// Replaces the serial numbers of devices: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn without_uuids(text: &str) -> String {
    const LENGTH: usize = 36;
    let is_uuid = |bytes: &[u8]| {
        bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let (mut out, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next() {
        let is_there = rest.as_bytes().get(..LENGTH).is_some_and(is_uuid);
        let length = if is_there { LENGTH } else { letter.len_utf8() };
        out += if is_there { "UUID" } else { &rest[..length] };
        rest = &rest[length..];
    }
    out
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
