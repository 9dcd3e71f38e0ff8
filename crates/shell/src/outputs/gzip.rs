//! Decompression of gzip data.

use std::io::Read as _;

use flate2::bufread::MultiGzDecoder;

use crate::limits::VALUE_BYTES_MAX;

/// Decompresses gzip data. Returns `None` for truncated data, other formats, or output over the limit of a value.
pub(super) fn gunzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut made = Vec::new();
    MultiGzDecoder::new(bytes).take(VALUE_BYTES_MAX as u64 + 1).read_to_end(&mut made).ok()?;
    (made.len() <= VALUE_BYTES_MAX).then_some(made)
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
        // Fixed Huffman codes.
        check("1f8b08000000000000032bca55d02d4a53d0e7020000e9e65009000000", Some("rm -rf /\n"));
        // A stored block.
        check("1f8b0800000000000003010900f6ff726d202d7266202f0a00e9e65009000000", Some("rm -rf /\n"));
        // With a file name.
        check("1f8b0808000000000003782e7368002bca55d02d4a53d0e7020000e9e65009000000", Some("rm -rf /\n"));
        // Dynamic Huffman codes.
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
