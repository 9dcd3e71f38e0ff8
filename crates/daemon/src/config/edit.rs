//! Changes a single word of a `config.toml` and leaves the rest untouched. It must not know the meaning of the word.

use std::path::Path;

use castellan_event::Mode;
use toml_edit::{DocumentMut, Item, Table, TableLike, TomlError, Value};

use super::{Config, ConfigError};
use castellan_files::write_private;

/// Changes the mode in a configuration file.
pub fn write_mode(file: &Path, mode: Mode) -> Result<(), ConfigError> {
    write_word(file, "mode", mode.as_str())
}

pub(crate) fn write_word(file: &Path, key: &str, word: &str) -> Result<(), ConfigError> {
    let malformed = |message| ConfigError::Malformed(file.to_owned(), message);
    let text = Config::read_text(file)?;
    let changed = with_word(&text, key, word).map_err(malformed)?;
    if changed == text {
        return Ok(());
    }
    write_private(file, changed.as_bytes()).map_err(|error| ConfigError::Io(file.to_owned(), error))
}

/// Changes the word of a key, such as `packs.git`, in a configuration's text. Preserves comments and spacing around it.
pub(crate) fn with_word(text: &str, key: &str, word: &str) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: TomlError| error.to_string().trim_end().to_owned())?;
    match key.split_once('.') {
        None => put(document.as_table_mut(), key, word),
        Some((table, name)) => {
            let table_item = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
            let inner = table_item.as_table_like_mut().ok_or_else(|| format!("`{table}` must be a table"))?;
            put(inner, name, word);
        }
    }
    Ok(document.to_string())
}

fn put(table: &mut dyn TableLike, name: &str, word: &str) {
    // Compares without regard to the kind of quotes.
    if table.get(name).and_then(Item::as_str) == Some(word) {
        return;
    }
    let mut value = Value::from(word);
    match table.get_mut(name) {
        // Assigned in place: an insert would drop the comment above the key.
        Some(item) => {
            if let Some(before) = item.as_value() {
                *value.decor_mut() = before.decor().clone();
            }
            *item = Item::Value(value);
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_changes_and_nothing_else() {
        for (text, key, word, expected) in [
            (
                "version = 1\nmode = 'enforce' # why\n",
                "mode",
                "monitor",
                "version = 1\nmode = \"monitor\" # why\n",
            ),
            ("version = 1 # one\n", "profile", "strict", "version = 1 # one\nprofile = \"strict\"\n"),
            ("version = 1\n", "packs.git", "off", "version = 1\n\n[packs]\ngit = \"off\"\n"),
            (
                "version = 1\n[packs]\n# mine\ngit = \"off\" # now\nweb = \"off\"\n",
                "packs.git",
                "observe",
                "version = 1\n[packs]\n# mine\ngit = \"observe\" # now\nweb = \"off\"\n",
            ),
            (
                "version = 1\npacks.web = \"off\"\n",
                "packs.web",
                "enforce",
                "version = 1\npacks.web = \"enforce\"\n",
            ),
        ] {
            assert_eq!(with_word(text, key, word).as_deref(), Ok(expected), "{key} in {text}");
        }
        assert!(with_word("version = 1\npacks = 1\n", "packs.git", "off").is_err());
        let inline = with_word("version = 1\npacks = { web = \"off\" }\n", "packs.git", "off").unwrap();
        let packs = inline.parse::<DocumentMut>().unwrap();
        let word = |name: &str| packs["packs"][name].as_str().map(str::to_owned);
        assert_eq!((word("web"), word("git")), (Some("off".to_owned()), Some("off".to_owned())));
        assert!(with_word("version = \n", "mode", "monitor").is_err());
    }
}
