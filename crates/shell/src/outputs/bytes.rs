//! Encodings: `base64`, `base32`, `basenc`, `xxd`, `openssl enc -base64`, gzip.

use super::{Given, gzip};
use crate::text::Text;

pub(super) fn base64(given: Given<'_>) -> Option<Text> {
    let mut decodes = false;
    let mut wrap = 76;
    let mut operands = Vec::new();
    let known = given.known()?;
    let mut args = known.iter().copied();
    while let Some(arg) = args.next() {
        match arg {
            "--decode" | "-D" => decodes = true,
            "--ignore-garbage" | "--" => {}
            "-w" | "-b" => wrap = args.next()?.parse().ok()?,
            arg if arg.starts_with("--wrap=") => wrap = arg.strip_prefix("--wrap=")?.parse().ok()?,
            arg if arg.starts_with("-w") => wrap = arg.strip_prefix("-w")?.parse().ok()?,
            arg if arg.starts_with("--d") => decodes = true,
            arg if arg.starts_with('-') && arg.len() > 1 => {
                let letters = arg.strip_prefix('-')?;
                if !letters.chars().all(|letter| matches!(letter, 'd' | 'i' | 'D')) {
                    return None;
                }
                decodes |= letters.contains(['d', 'D']);
            }
            arg => operands.push(arg),
        }
    }
    let text = given.read_by(&operands)?;
    if decodes {
        return decoded(text, 6, sextet).map(Text::of_bytes);
    }
    Some(Text::known(encoded(text.as_bytes(), wrap)))
}

pub(super) fn base32(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let decodes =
        matches!(known.as_slice(), ["-d" | "-D" | "--decode" | "-di"] | ["-d" | "-D" | "--decode", "-"]);
    if !decodes {
        return None;
    }
    decoded(given.text()?, 5, quintet).map(Text::of_bytes)
}

/// `basenc --base16 -d`
pub(super) fn basenc(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let (options, operands): (Vec<&str>, Vec<&str>) =
        known.into_iter().partition(|arg| arg.starts_with('-') && arg.len() > 1);
    let mut encoding = None;
    let mut decodes = false;
    for option in options {
        match option {
            "-d" | "-D" | "--decode" | "-di" | "-id" => decodes = true,
            "-i" | "--ignore-garbage" => {}
            option => encoding = Some(option),
        }
    }
    let text = given.read_by(&operands).filter(|_| decodes)?;
    let bytes = match encoding? {
        "--base64" | "--base64url" => decoded(text, 6, sextet),
        "--base32" => decoded(text, 5, quintet),
        "--base16" => decoded(text, 4, |digit| digit.to_digit(16)),
        _ => None,
    };
    bytes.map(Text::of_bytes)
}

/// `openssl base64 -d`, `openssl enc -base64 -d`. The caller already resolved the file after `-in`.
pub(super) fn openssl(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let (first, rest) = known.split_first()?;
    let base64 = match *first {
        "base64" => true,
        "enc" => rest.iter().any(|arg| matches!(*arg, "-base64" | "-a")),
        _ => false,
    };
    let plain = rest.iter().all(|arg| matches!(*arg, "-base64" | "-a" | "-d" | "-A" | "-in"));
    if !base64 || !plain || !rest.contains(&"-d") {
        return None;
    }
    decoded(given.text()?, 6, sextet).map(Text::of_bytes)
}

/// `xxd -r -p`, `xxd -r`
pub(super) fn xxd(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let mut reverses = false;
    let mut plain = false;
    let mut operands = Vec::new();
    for arg in known {
        match arg {
            "-r" | "-revert" => reverses = true,
            "-p" | "-ps" | "-plain" | "-postscript" => plain = true,
            "-rp" | "-pr" => (reverses, plain) = (true, true),
            arg if arg.starts_with('-') && arg.len() > 1 => return None,
            arg => operands.push(arg),
        }
    }
    let text = given.read_by(&operands).filter(|_| reverses)?;
    let bytes = if plain { decoded(text, 4, |digit| digit.to_digit(16)) } else { undumped(text) };
    bytes.map(Text::of_bytes)
}

/// Decodes lines of an offset, a colon, bytes in hexadecimal digits, two blanks, and the bytes as text.
fn undumped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (offset, rest) = line.split_once(':')?;
        // `xxd` would fill the space before another offset.
        if usize::from_str_radix(offset.trim(), 16).ok()? != bytes.len() {
            return None;
        }
        let rest = rest.trim_start();
        let digits = rest.split_once("  ").map_or(rest, |(digits, _)| digits);
        bytes.extend(decoded(digits, 4, |digit| digit.to_digit(16))?);
    }
    Some(bytes)
}

/// `gunzip`, `zcat`
pub(super) fn gunzip(given: Given<'_>) -> Option<Text> {
    const OPTIONS: &[&str] = &[
        "-",
        "-c",
        "-cd",
        "-cdf",
        "-d",
        "-dc",
        "-dcf",
        "-f",
        "-q",
        "--decompress",
        "--stdout",
        "--to-stdout",
    ];
    let is_plain = given.known()?.iter().all(|arg| OPTIONS.contains(arg));
    let bytes = given.input?.as_bytes().filter(|_| is_plain)?;
    gzip::gunzip(bytes).map(Text::of_bytes)
}

/// `gzip -d`
pub(super) fn gzip(given: Given<'_>) -> Option<Text> {
    let decodes = |arg: &&str| *arg == "--decompress" || !arg.starts_with("--") && arg.contains('d');
    if given.known()?.iter().any(decodes) { gunzip(given) } else { None }
}

fn sextet(one: char) -> Option<u32> {
    match one {
        'A'..='Z' => Some(u32::from(one) - u32::from('A')),
        'a'..='z' => Some(u32::from(one) - u32::from('a') + 26),
        '0'..='9' => Some(u32::from(one) - u32::from('0') + 52),
        '+' | '-' => Some(62),
        '/' | '_' => Some(63),
        _ => None,
    }
}

fn quintet(one: char) -> Option<u32> {
    match one {
        'A'..='Z' => Some(u32::from(one) - u32::from('A')),
        '2'..='7' => Some(u32::from(one) - u32::from('2') + 26),
        _ => None,
    }
}

/// Decodes characters with `bits` bits each. Skips all other characters, as `-i` does. A decoder that stops at such a
/// character has already written the preceding bytes.
fn decoded(text: &str, bits: u32, value: impl Fn(char) -> Option<u32>) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut held: u32 = 0;
    let mut count = 0;
    for one in text.chars() {
        let Some(value) = value(one) else { continue };
        held = (held << bits) | value;
        count += bits;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((held >> count) & 0xff).ok()?);
            held &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encoded(bytes: &[u8], wrap: usize) -> String {
    let mut made = String::with_capacity(bytes.len() * 4 / 3 + 4);
    let mut column = 0;
    for chunk in bytes.chunks(3) {
        let number =
            (0..3).fold(0usize, |sum, at| (sum << 8) | chunk.get(at).copied().map_or(0, usize::from));
        for at in 0..4 {
            let letter = if at <= chunk.len() {
                ALPHABET.get((number >> (18 - 6 * at)) & 63).copied().map_or('=', char::from)
            } else {
                '='
            };
            made.push(letter);
            column += 1;
            if wrap > 0 && column == wrap {
                made.push('\n');
                column = 0;
            }
        }
    }
    if wrap > 0 && column > 0 {
        made.push('\n');
    }
    made
}
