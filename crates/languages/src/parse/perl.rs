//! Perl texts that are not what tree-sitter reads: the first line names another program or options, or the text is
//! UTF-16. Must not know what a program does.

use castellan_event::Why;

/// Options of the first line that change neither the text nor its files: warnings, taint checks, line ends.
const HARMLESS: &[char] = &['w', 'W', 'X', 't', 'T', 'l', 'v', 'c', '0', '1', '2', '3', '4', '5', '6', '7'];

/// Returns the reason for which Perl runs another text than this one.
pub(super) fn refused(text: &str) -> Option<Why> {
    // Perl reads a text with a NUL as its first or second byte as UTF-16.
    if text.bytes().take(2).any(|byte| byte == 0) {
        return Some(Why::Encoding);
    }
    // Perl skips blanks and a colon before the line.
    let line = text.trim_start_matches(['\u{feff}', ' ', '\t']).trim_start_matches(':');
    let line = line.strip_prefix("#!")?.lines().next()?;
    let Some((_, rest)) = line.split_once("perl") else {
        // Perl runs the program of the line instead.
        return (!line.trim().is_empty() && !line.contains("indir")).then_some(Why::Unsupported);
    };
    let (_, options) = rest.split_once([' ', '\t'])?;
    let is_harmless = |word: &str| {
        word.strip_prefix('-').is_none_or(|word| word.chars().all(|one| HARMLESS.contains(&one)))
    };
    // `-n` runs the text for each line of the files in the arguments, and `-i` changes these; `-I` names libraries.
    (!options.split_whitespace().all(is_harmless)).then_some(Why::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_or_option_in_the_first_line_is_refused() {
        for (text, expected) in [
            ("print 1;", None),
            ("# x\n#!/bin/sh\n", None),
            ("#!\nprint 1;", None),
            ("#!/usr/bin/perl\nprint 1;", None),
            ("#!/usr/bin/env perl -w\nprint 1;", None),
            ("#!perl -lTw -0777\nprint 1;", None),
            ("#!/usr/bin/perl5.36 -w\n", None),
            ("#!/bin/sh\nq{\nrm -rf ~\n};\n", Some(Why::Unsupported)),
            (" :#!/bin/sh\n", Some(Why::Unsupported)),
            ("\u{feff}#!/bin/sh\n", Some(Why::Unsupported)),
            ("#!perl -n\nprint;", Some(Why::Unsupported)),
            ("#!perl -pi.bak\n", Some(Why::Unsupported)),
            ("#!perl -w -s\n", Some(Why::Unsupported)),
            ("#!perl -Ilib\n", Some(Why::Unsupported)),
            ("#!perl -Mevil\n", Some(Why::Unsupported)),
            ("'\0", Some(Why::Encoding)),
            ("\0'", Some(Why::Encoding)),
        ] {
            assert_eq!(refused(text), expected, "{text:?}");
        }
    }
}
