//! The head of a Mach-O file (`mach-o/loader.h`): 64 bits, the processor, a program.

use std::path::Path;

use anyhow::{Context, ensure};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    Arm64,
    X86_64,
}

/// `MH_MAGIC_64`, `CPU_TYPE_ARM64`, `CPU_TYPE_X86_64` and `MH_EXECUTE`.
const MAGIC: u32 = 0xFEED_FACF;
const ARM64: u32 = 0x0100_000C;
const X86_64: u32 = 0x0100_0007;
const EXECUTE: u32 = 2;

/// Checks that a file is a program for the processor.
pub(super) fn check(file: &Path, processor: Processor) -> anyhow::Result<()> {
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    ensure!(is_program(&bytes, processor), "`{}` is no Mach-O program for {processor:?}", file.display());
    Ok(())
}

fn is_program(bytes: &[u8], processor: Processor) -> bool {
    let number = |at: usize| {
        let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok());
        field.map(u32::from_le_bytes)
    };
    let wanted = match processor {
        Processor::Arm64 => ARM64,
        Processor::X86_64 => X86_64,
    };
    (number(0), number(4), number(12)) == (Some(MAGIC), Some(wanted), Some(EXECUTE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_from_other_files() {
        let head = |kind: u8| {
            let mut head = vec![0xCF, 0xFA, 0xED, 0xFE, 0x0C, 0, 0, 1, 0, 0, 0, 0, kind, 0, 0, 0];
            head.extend([0; 16]);
            head
        };
        assert!(is_program(&head(2), Processor::Arm64));
        assert!(!is_program(&head(2), Processor::X86_64));
        // An object file.
        assert!(!is_program(&head(1), Processor::Arm64));
        assert!(!is_program(&head(2)[..12], Processor::Arm64));
        assert!(!is_program(b"\x7fELF", Processor::Arm64));
        assert!(!is_program(b"", Processor::Arm64));
    }
}
