//! Secrets in responses: a server that sends a secret back would show it to the sandbox. Each occurrence is overwritten
//! with stars of the same length, also where it is split between two reads.
//!
//! It finds the value itself, and credentials of Basic authorization as they were sent. It does not find other codings
//! (compressed, base64, escaped) or parts of a value.

use memchr::memmem;

/// A search for secrets in one body.
pub(crate) struct Redactor {
    texts: Vec<Vec<u8>>,
    /// The end of the bytes so far, if a secret may begin there.
    held: Vec<u8>,
}

impl Redactor {
    /// `texts`: the secrets.
    pub(crate) fn new(texts: Vec<Vec<u8>>) -> Redactor {
        Redactor { texts: texts.into_iter().filter(|text| !text.is_empty()).collect(), held: Vec::new() }
    }

    /// Overwrites each secret in a whole text.
    pub(crate) fn whole(&self, text: &mut [u8]) {
        for secret in &self.texts {
            let mut from = 0;
            while let Some(at) = text.get(from..).and_then(|rest| memmem::find(rest, secret)) {
                let start = from + at;
                from = start + secret.len();
                if let Some(found) = text.get_mut(start..from) {
                    found.fill(b'*');
                }
            }
        }
    }

    /// Takes a part of the body, and returns the bytes that can be passed on.
    pub(crate) fn part(&mut self, part: Vec<u8>) -> Vec<u8> {
        if self.texts.is_empty() {
            return part;
        }
        let mut text = std::mem::take(&mut self.held);
        text.extend_from_slice(&part);
        self.whole(&mut text);
        let held = self.texts.iter().map(|secret| start_at_end(&text, secret)).max().unwrap_or_default();
        self.held = text.split_off(text.len().saturating_sub(held));
        text
    }

    /// Returns the bytes that are left at the end of the body.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }
}

/// Returns the length of the longest end of `text` that is a start of `secret`.
fn start_at_end(text: &[u8], secret: &[u8]) -> usize {
    let longest = secret.len().saturating_sub(1).min(text.len());
    (1..=longest)
        .rev()
        .find(|length| text.ends_with(secret.get(..*length).unwrap_or_default()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_any_split_are_overwritten() {
        let text = b"a SECRETVALUE, SECSECRETVALUE and SECRETVALU";
        for split in 0..text.len() {
            for second in split..text.len() {
                let mut redactor = Redactor::new(vec![b"SECRETVALUE".to_vec()]);
                let mut out = Vec::new();
                for part in [&text[..split], &text[split..second], &text[second..]] {
                    out.extend(redactor.part(part.to_vec()));
                }
                out.extend(redactor.end());
                assert_eq!(out, b"a ***********, SEC*********** and SECRETVALU", "{split} {second}");
            }
        }
    }
}
