//! [`set_in`]: finds whether a file of variables (`.env`) sets one of some names. This module must not know the file's
//! place.

/// Values that an agent treats as not set.
pub(crate) const NOT_SET: [&str; 3] = ["", "0", "false"];

/// Returns the first of `names` that a text sets. The package `dotenv` defines the forms, each also over several lines:
/// `NAME=value`, `export NAME=value`, `NAME: value`.
pub(crate) fn set_in(text: &str, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| text.split(name).zip(after_each(text, name)).any(is_set))
}

/// The text after each occurrence of a name.
fn after_each<'t>(text: &'t str, name: &'static str) -> impl Iterator<Item = &'t str> {
    text.match_indices(name).map(|(at, found)| text.get(at + found.len()..).unwrap_or_default())
}

/// Reports whether the name between these two texts is set.
fn is_set((before, after): (&str, &str)) -> bool {
    let line = before.rsplit(['\n', '\r']).next().unwrap_or_default().trim();
    let Some(value) = after.trim_start().strip_prefix(['=', ':']) else { return false };
    let below = value.trim_start();
    // A quoted value may begin on its own line.
    let value = if below.starts_with(['"', '\'', '`']) { below } else { value };
    let value = value.split(['\n', '\r']).next().unwrap_or_default().trim();
    let value = value.trim_matches(['"', '\'', '`']);
    (line.is_empty() || line == "export") && !NOT_SET.contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_sets_a_variable() {
        let check = |text: &str, expected: bool| {
            let names: &[&'static str] = &["OTHER_MODE", "SAFE_MODE"];
            assert_eq!(set_in(text, names), expected.then_some("SAFE_MODE"), "{text:?}");
        };
        for text in [
            "SAFE_MODE=1",
            "A=b\r\n  export SAFE_MODE = true # on\n",
            "SAFE_MODE: yes",
            "SAFE_MODE\n=1",
            "export\nSAFE_MODE='1'",
            "SAFE_MODE=\n\"1\"",
            "SAFE_MODE=0\nSAFE_MODE=1",
            "A=SAFE_MODE\nSAFE_MODE=on",
        ] {
            check(text, true);
        }
        for text in [
            "",
            "# SAFE_MODE=1",
            "MY_SAFE_MODE=1",
            "SAFE_MODEL=1",
            "SAFE_MODE=",
            "SAFE_MODE=0",
            "SAFE_MODE='false'",
            "SAFE_MODE=\nA=1",
            "A=SAFE_MODE=1",
        ] {
            check(text, false);
        }
    }
}
