//! Other projects that a project of CMake fetches and builds: `ExternalProject_Add`, `FetchContent_Declare`.

use super::{File, LANGUAGE};
use crate::builds::Source;

/// Keys before the address of a project.
const ADDRESSES: &[&str] = &["CVS_REPOSITORY", "GIT_REPOSITORY", "HG_REPOSITORY", "SVN_REPOSITORY", "URL"];

/// Keys without an underscore.
const KEYS: &[&str] = &["ALWAYS", "COMMENT", "DEPENDEES", "DEPENDERS", "DEPENDS", "PREFIX", "TIMEOUT", "URL"];

impl File<'_> {
    /// Adds the commands and addresses of another project.
    pub(super) fn external(&mut self, arguments: &[String]) {
        let arguments = self.split(arguments.iter());
        let starts = arguments.iter().enumerate().filter(|(_, one)| is_key(one));
        for (at, key) in starts {
            let values = arguments.get(at + 1..).unwrap_or_default().iter().take_while(|one| !is_key(one));
            let values: Vec<&String> = values.collect();
            if key.ends_with("COMMAND") && values.iter().any(|one| !one.is_empty()) {
                self.words(values.into_iter());
            } else if ADDRESSES.contains(&key.as_str()) {
                let urls = values.into_iter().filter(|one| one.contains("://") || one.starts_with("git@"));
                self.sources.extend(urls.map(|url| Source::Address(LANGUAGE, url.clone())));
            }
        }
    }
}

fn is_key(word: &str) -> bool {
    let is_upper = word.chars().all(|one| one.is_ascii_uppercase() || one.is_ascii_digit() || one == '_');
    KEYS.contains(&word) || word == "COMMAND" || is_upper && word.len() > 3 && word.contains('_')
}
