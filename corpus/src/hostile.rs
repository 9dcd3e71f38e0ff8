//! `hostile.txt`: shapes of text, at any size, that cost a careless parser or analysis stack, memory or time.

const TEXT: &str = include_str!("../hostile.txt");

/// The brackets of a repetition, and the sign after them.
const OPEN: char = '⟦';
const CLOSE: char = '⟧';
const TIMES: char = '×';
const NUMBER: char = '№';

/// A shape of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hostile {
    /// Its name.
    pub name: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Once(String),
    Times(String, usize),
    /// Repeated as often as the size permits.
    Growing(String),
}

/// Returns every shape. The error names the invalid line.
pub fn hostile() -> Result<Vec<Hostile>, String> {
    read(TEXT)
}

impl Hostile {
    /// Returns the text with at most `bytes` bytes. Shapes of a fixed size ignore `bytes`.
    pub fn text(&self, bytes: usize) -> String {
        let (mut fixed, mut growing) = (0, 0);
        for piece in &self.pieces {
            match piece {
                Piece::Once(text) => fixed += text.len(),
                Piece::Times(text, times) => {
                    fixed += (1..=*times).map(|at| numbered(text, at).len()).sum::<usize>()
                }
                Piece::Growing(text) => growing += text.len(),
            }
        }
        // Numbers are longer than their sign only from 1000 on; the loop below counts them exactly.
        let mut times = bytes.saturating_sub(fixed).checked_div(growing).unwrap_or(0);
        let mut text = self.with(times);
        while text.len() > bytes && times > 0 {
            times -= times.div_ceil(16);
            text = self.with(times);
        }
        text
    }

    /// Returns true if the shape can have any size.
    pub fn grows(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Growing(_)))
    }

    fn with(&self, growing: usize) -> String {
        let mut whole = String::new();
        for piece in &self.pieces {
            let (text, times) = match piece {
                Piece::Once(text) => (text, 1),
                Piece::Times(text, times) => (text, *times),
                Piece::Growing(text) => (text, growing),
            };
            (1..=times).for_each(|at| whole.push_str(&numbered(text, at)));
        }
        whole
    }
}

fn numbered(text: &str, at: usize) -> String {
    if text.contains(NUMBER) { text.replace(NUMBER, &at.to_string()) } else { text.to_owned() }
}

pub(crate) fn read(text: &str) -> Result<Vec<Hostile>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with("# "));
    lines
        .map(|(at, line)| {
            let (name, pattern) = line.split_once(": ").ok_or(format!("line {}: no name", at + 1))?;
            let pattern = pattern.replace('⏎', "\n").replace('␀', "\0").replace('␍', "\r");
            let pieces = pieces(&pattern).ok_or(format!("line {}: a repetition is not closed", at + 1))?;
            Ok(Hostile { name: name.to_owned(), pieces })
        })
        .collect()
}

fn pieces(pattern: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (repeated, after) = after.split_once(CLOSE)?;
        let after = after.strip_prefix(TIMES)?;
        let number: String = after.chars().take_while(char::is_ascii_digit).collect();
        pieces.push(Piece::Once(before.to_owned()));
        pieces.push(match number.parse() {
            Ok(times) => Piece::Times(repeated.to_owned(), times),
            Err(_) => Piece::Growing(repeated.to_owned()),
        });
        rest = after.strip_prefix(number.as_str())?;
    }
    pieces.push(Piece::Once(rest.to_owned()));
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn repetitions_grow_together() {
        for (pattern, bytes, expected) in [
            ("x: ⟦a⟧×3", 100, "aaa"),
            ("x: ⟦(⟧×a⟦)⟧×", 7, "(((a)))"),
            ("x: ⟦(⟧×a⟦)⟧×", 8, "(((a)))"),
            ("x: ⟦v№=1;⟧×2b", 0, "v1=1;v2=1;b"),
            ("x: a⏎b", 0, "a\nb"),
        ] {
            let read = read(pattern).unwrap();
            assert_eq!(read[0].text(bytes), expected, "{pattern}");
        }
        assert!(read("x: ⟦a").is_err() && read("x").is_err());
    }

    #[test]
    fn every_shape_of_the_file_has_a_name_of_its_own_and_is_as_long_as_wanted() {
        let all = hostile().unwrap();
        let names: HashSet<&str> = all.iter().map(|shape| shape.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= 60, "{}", all.len());
        for shape in all.iter().filter(|shape| shape.grows()) {
            for bytes in [8 << 10, 64 << 10] {
                let length = shape.text(bytes).len();
                assert!(length <= bytes && length > bytes / 2, "{}: {length} of {bytes}", shape.name);
            }
        }
    }
}
