//! Words of clients and languages by their meaning, from `knowledge/lexicons.toml`. It must not know who reads them.

use castellan_event::EffectKind;

include!(concat!(env!("OUT_DIR"), "/lexicons.rs"));

/// Finds the kind of effect of a word in a table of kinds.
pub fn kind_of(table: &[(&str, EffectKind)], word: &str) -> Option<EffectKind> {
    let at = table.binary_search_by_key(&word, |(name, _)| name).ok()?;
    table.get(at).map(|(_, kind)| *kind)
}
