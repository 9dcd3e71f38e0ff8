//! [`words`]: the words of a name.

/// Splits a name into lower-case singular words with blanks around: `CreateAccessKeys` → ` create access key `.
pub(crate) fn words(name: &str) -> String {
    let mut words = String::from(" ");
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_ascii_uppercase() && before.is_ascii_lowercase();
        if begins || !letter.is_ascii_alphanumeric() {
            close(&mut words);
        }
        if letter.is_ascii_alphanumeric() {
            words.push(letter.to_ascii_lowercase());
        }
        before = letter;
    }
    close(&mut words);
    words
}

/// Ends a word and makes it singular.
fn close(words: &mut String) {
    if words.ends_with("policies") {
        words.truncate(words.len() - "ies".len());
        words.push('y');
    }
    let is_plural =
        words.ends_with('s') && !["ss", "us", "is", " as", " os"].iter().any(|end| words.ends_with(end));
    if is_plural {
        words.pop();
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_are_taken_apart() {
        let cases = [
            ("CreateAccessKey", " create access key "),
            ("secrets versions access", " secret version access "),
            ("put-role-policies", " put role policy "),
            ("pg:credentials:url", " pg credential url "),
            ("redis status", " redis status "),
            ("", " "),
        ];
        for (name, expected) in cases {
            assert_eq!(words(name), expected, "{name}");
        }
    }
}
