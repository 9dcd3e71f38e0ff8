//! Changes of a value by flags and modifiers of zsh: `${(s:,:)x}`, `${x:h}`. This module must not know variables.

use castellan_event::Why;
use castellan_programs::Quoting;

use super::got::Got;
use crate::text::Text;

/// A flag of `${(flags)x}` with its argument: `s:,:`.
pub(super) type Flag<'f> = (char, &'f str);

/// Flags with an argument between delimiters.
const WITH_ARGUMENT: &[char] = &['g', 'I', 'j', 'l', 'r', 's', 'Z', '_'];

/// Reads flags; nothing if an argument has no end.
pub(super) fn flags(text: &str) -> Option<Vec<Flag<'_>>> {
    let mut made = Vec::new();
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        let mut argument = "";
        if WITH_ARGUMENT.contains(&letter) {
            let close = match rest.next()? {
                '(' => ')',
                '[' => ']',
                '{' => '}',
                '<' => '>',
                other => other,
            };
            let (inner, after) = rest.as_str().split_once(close)?;
            argument = inner;
            rest = after.chars();
        }
        made.push((letter, argument));
    }
    Some(made)
}

pub(super) fn modified(text: &str, modifiers: &str) -> Option<String> {
    let mut made = text.to_owned();
    for modifier in modifiers.strip_prefix(':')?.split(':') {
        let (directory, name) = match made.trim_end_matches('/').rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some((directory, name)) => (directory, name),
            None => (".", made.as_str()),
        };
        let (root, extension) = match name.rsplit_once('.') {
            Some((_, extension)) => (made.get(..made.len().checked_sub(extension.len() + 1)?)?, extension),
            None => (made.as_str(), ""),
        };
        made = match modifier {
            one if one.starts_with(['s', 'g']) => substituted(&made, one)?,
            "h" => directory.to_owned(),
            "t" => name.to_owned(),
            "r" => root.to_owned(),
            "e" => extension.to_owned(),
            "l" => made.to_lowercase(),
            "u" => made.to_uppercase(),
            _ => return None,
        };
    }
    Some(made)
}

/// `:s/old/new/` and `:gs/old/new/`
pub(super) fn substituted(text: &str, modifier: &str) -> Option<String> {
    let (is_every, rest) = match modifier.strip_prefix('g') {
        Some(rest) => (true, rest),
        None => (false, modifier),
    };
    let mut rest = rest.strip_prefix('s')?.chars();
    let mut parts = {
        let delimiter = rest.next()?;
        rest.as_str().split(delimiter)
    };
    let (old, new) = (parts.next()?, parts.next()?);
    let is_plain = parts.all(str::is_empty) && !old.is_empty() && !new.contains(['&', '\\']);
    is_plain.then(|| if is_every { text.replace(old, new) } else { text.replacen(old, new, 1) })
}

pub(super) fn unknown(got: &Got) -> Got {
    let why = match got {
        Got::Unknown { why, .. } => *why,
        Got::Unset | Got::One(_) | Got::Many { .. } => Why::Expansion,
    };
    Got::Unknown { why, several: true }
}

pub(super) fn pieces(text: &Text, separator: &str) -> Got {
    match text.as_str() {
        Some(known) if !separator.is_empty() => {
            let pieces = known.split(separator).filter(|piece| !piece.is_empty());
            Got::Many { values: pieces.map(Text::known).collect(), joined: false }
        }
        Some(_) | None => Got::Unknown { why: Why::Expansion, several: true },
    }
}

/// Reports whether quoting leaves a text as it is.
pub(super) fn is_plain(text: &Text) -> bool {
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_-./".contains(one);
    text.as_str().is_some_and(|known| !known.is_empty() && known.chars().all(is_plain))
}

/// `${(#)x}`: the character with this number.
pub(super) fn character_of(text: &Text) -> Got {
    let character = text.as_str().and_then(|known| known.parse().ok()).and_then(char::from_u32);
    match character {
        Some(character) => Got::One(Text::known(character.to_string())),
        None => Got::Unknown { why: Why::Expansion, several: false },
    }
}

/// `${(Q)x}`: the text without one level of quotes.
pub(super) fn unquoted(text: &Text) -> Text {
    match text.as_str() {
        Some(known) => Text::known(Quoting::XARGS.words(known).join(" ")),
        None => text.clone(),
    }
}

/// `${a:#pattern}`: the elements that the pattern does not match. Returns nothing for more than plain text.
pub(super) fn without(values: &[Text], pattern: &str, joined: bool) -> Option<Got> {
    let is_plain = pattern.chars().all(|one| one.is_ascii_alphanumeric() || "_-./".contains(one));
    let all_known = values.iter().all(|text| text.as_str().is_some());
    let left = values.iter().filter(|text| text.as_str() != Some(pattern));
    (is_plain && all_known).then(|| Got::Many { values: left.cloned().collect(), joined })
}

pub(super) fn joined(values: &[Text], separator: &str) -> Got {
    let mut all = Text::default();
    for (at, text) in values.iter().enumerate() {
        if at > 0 {
            all.push_str(separator);
        }
        all.push(text);
    }
    Got::One(all)
}

pub(super) fn changed(text: &Text, change: fn(&str) -> String) -> Got {
    match text.as_str() {
        Some(known) => Got::One(Text::known(change(known))),
        None => Got::Unknown { why: Why::Expansion, several: false },
    }
}
