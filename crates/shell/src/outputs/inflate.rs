//! Deflate (RFC 1951) within gzip (RFC 1952), as `gunzip` reads it. Checksums are not compared: what is wrong has been written by
//! the time that is noticed.

use crate::limits::VALUE_BYTES_MAX;

/// Bits of the longest code.
const CODE_BITS_MAX: usize = 15;

/// Lengths of copies, by symbol from 257: the shortest, and how many more bits say how much longer.
const LENGTHS: [(u16, u8); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];

/// Distances of copies, in the same way.
const DISTANCES: [(u16, u8); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];

/// The order in which the lengths of the codes for lengths are written.
const LENGTH_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// What gzip's first member holds. `None`: it is none, is broken, or holds more than a value may.
pub(super) fn gunzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else { return None };
    let mut rest = rest;
    if flags & 4 != 0 {
        let [low, high, after @ ..] = rest else { return None };
        rest = after.get(usize::from(u16::from_le_bytes([*low, *high]))..)?;
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    inflate(rest)
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut bits = Bits { bytes, at: 0 };
    let mut made = Vec::new();
    loop {
        let is_last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut made)?,
            1 => {
                let lengths: Vec<u8> = (0..288).map(fixed_length).collect();
                compressed(&mut bits, &Codes::new(&lengths), &Codes::new(&[5; 30]), &mut made)?;
            }
            2 => {
                let (literals, distances) = tables(&mut bits)?;
                compressed(&mut bits, &literals, &distances, &mut made)?;
            }
            _ => return None,
        }
        if is_last {
            return Some(made);
        }
    }
}

fn fixed_length(symbol: u16) -> u8 {
    match symbol {
        0..=143 => 8,
        144..=255 => 9,
        256..=279 => 7,
        _ => 8,
    }
}

fn stored(bits: &mut Bits<'_>, made: &mut Vec<u8>) -> Option<()> {
    let start = bits.at.div_ceil(8);
    let [low, high, _, _] = bits.bytes.get(start..start + 4)? else { return None };
    let length = usize::from(u16::from_le_bytes([*low, *high]));
    made.extend(bits.bytes.get(start + 4..start + 4 + length)?);
    bits.at = (start + 4 + length) * 8;
    (made.len() <= VALUE_BYTES_MAX).then_some(())
}

fn tables(bits: &mut Bits<'_>) -> Option<(Codes, Codes)> {
    let literals = usize::from(bits.take(5)?) + 257;
    let distances = usize::from(bits.take(5)?) + 1;
    let count = usize::from(bits.take(4)?) + 4;
    let mut lengths = [0; 19];
    for at in LENGTH_ORDER.iter().take(count) {
        *lengths.get_mut(*at)? = u8::try_from(bits.take(3)?).ok()?;
    }
    let codes = Codes::new(&lengths);
    let mut all: Vec<u8> = Vec::new();
    while all.len() < literals + distances {
        let (length, times) = match bits.symbol(&codes)? {
            16 => (*all.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (u8::try_from(length).ok()?, 1),
        };
        all.extend(std::iter::repeat_n(length, usize::from(times)));
    }
    let (literals, rest) = all.split_at_checked(literals)?;
    Some((Codes::new(literals), Codes::new(rest.get(..distances)?)))
}

fn compressed(bits: &mut Bits<'_>, literals: &Codes, distances: &Codes, made: &mut Vec<u8>) -> Option<()> {
    loop {
        let symbol = bits.symbol(literals)?;
        if let Ok(byte) = u8::try_from(symbol) {
            made.push(byte);
        } else if symbol == 256 {
            return Some(());
        } else {
            let length = bits.number(&LENGTHS, symbol - 257)?;
            let distance = bits.symbol(distances)?;
            let from = made.len().checked_sub(bits.number(&DISTANCES, distance)?)?;
            for at in from..from + length {
                made.push(*made.get(at)?);
            }
        }
        if made.len() > VALUE_BYTES_MAX {
            return None;
        }
    }
}

/// Bits, the lowest of each byte first.
struct Bits<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Bits<'_> {
    /// A number of at most 16 bits.
    fn take(&mut self, count: u8) -> Option<u16> {
        let mut number = 0;
        for place in 0..count {
            let byte = self.bytes.get(self.at / 8)?;
            number |= u16::from(byte >> (self.at % 8) & 1) << place;
            self.at += 1;
        }
        Some(number)
    }

    /// A number that a symbol begins and further bits end.
    fn number(&mut self, table: &[(u16, u8)], symbol: u16) -> Option<usize> {
        let (least, more) = table.get(usize::from(symbol))?;
        Some(usize::from(*least) + usize::from(self.take(*more)?))
    }

    fn symbol(&mut self, codes: &Codes) -> Option<u16> {
        let (mut code, mut first, mut index) = (0usize, 0usize, 0usize);
        for count in codes.counts.iter().skip(1) {
            code |= usize::from(self.take(1)?);
            if let Some(offset) = code.checked_sub(first).filter(|offset| offset < count) {
                return codes.symbols.get(index + offset).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// Canonical Huffman codes.
struct Codes {
    /// How many codes there are of each length.
    counts: [usize; CODE_BITS_MAX + 1],
    /// The symbols, in the order of their codes.
    symbols: Vec<u16>,
}

impl Codes {
    fn new(lengths: &[u8]) -> Codes {
        let mut counts = [0; CODE_BITS_MAX + 1];
        for length in lengths.iter().filter(|length| **length > 0) {
            if let Some(count) = counts.get_mut(usize::from(*length)) {
                *count += 1;
            }
        }
        let mut symbols: Vec<(u8, u16)> =
            lengths.iter().copied().zip(0..).filter(|(length, _)| *length > 0).collect();
        symbols.sort_unstable();
        Codes { counts, symbols: symbols.into_iter().map(|(_, symbol)| symbol).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.chars().filter_map(|one| u8::try_from(one.to_digit(16)?).ok()).collect();
        digits.chunks(2).map(|pair| pair.iter().fold(0, |sum, digit| sum * 16 + digit)).collect()
    }

    fn check(hex: &str, expected: Option<&str>) {
        let found = gunzip(&bytes(hex)).map(|made| String::from_utf8_lossy(&made).into_owned());
        assert_eq!(found.as_deref(), expected, "{hex}");
    }

    #[test]
    fn what_gzip_has_made_is_read() {
        // With fixed codes.
        check("1f8b08000000000000032bca55d02d4a53d0e7020000e9e65009000000", Some("rm -rf /\n"));
        // With stored.
        check("1f8b0800000000000003010900f6ff726d202d7266202f0a00e9e65009000000", Some("rm -rf /\n"));
        // With a name.
        check("1f8b0808000000000003782e7368002bca55d02d4a53d0e7020000e9e65009000000", Some("rm -rf /\n"));
        // With codes of its own.
        check(
            "1f8b0800000000000003b58d490e82401405aff2121376dace434c4c9ce7797687f00111f8d836889e5ee21d5c57a54a3984477433eeb84a7e05b038811bf9e1131c93844ab1a77fde30d96e42fac84a0bc2619f8449b10825bb6428a174699382a6810c87533920b4e0b19d538942e697f9ff255f2896ca956aadde40bbd3edf507c3d178329dcd17cbd57ab3dded0fc7d3f9f205d7808c08f1000000",
            Some(
                "the quick brown fox jumps over the lazy dog; rm -rf /home/dev/project/target && echo done > log.txt # the quick brown fox jumps over the lazy dog; rm -rf /home/dev/project/target && echo done > log.txt # 0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            ),
        );
    }

    #[test]
    fn what_is_broken_is_not_read() {
        check("", None);
        check("1f8b08000000000000ff", None);
        check("1f8b080000000000000306", None);
        check("504b0304", None);
    }

    #[test]
    fn what_holds_more_than_a_value_may_is_not_read() {
        // 200,000 bytes of `a`.
        check(
            "1f8b0800000000000003edc13101000000c2a0aceb5fc20cfe400100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000af019b5369e0400d0300",
            None,
        );
    }
}
