//! Paths: the resolution of arguments, and the kind of the result.

use castellan_event::{Recorder, Scope, Why};
use castellan_facts::path::{Places, dev_tcp, locate, locate_entry};
use castellan_facts::scope::classify;
use castellan_programs::{Arg, Piece};

use crate::world::Same;

const WORLD: Same<'_> = Same { contents: None };

/// Reads text as an argument. A byte 1 surrounds a shell pattern, and a byte 2 an unknown part.
/// Checks for every file system: a resolved argument has a path, a place and a scope; an unresolved one has a reason;
/// the resolved path resolves to the same place again.
pub fn path(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let _ = dev_tcp(text);
    for (is_windows, folds_case) in [(false, false), (false, true), (true, true)] {
        let home = if is_windows { "C:/Users/u" } else { "/home/u" };
        let places = Places {
            homes: vec![home.to_owned()],
            workspace: Some(format!("{home}/app")),
            temporary: vec!["/scratch".to_owned()],
            castellan: vec!["/data/castellan".to_owned()],
            stand_ins: vec![("/data/claude".to_owned(), ".claude".to_owned())],
            is_windows,
            folds_case,
            ..Places::default()
        };
        let _ = classify(text, &places);
        for cwd in [None, Some(home)] {
            for find in [locate, locate_entry] {
                let located = find(&argument(text), cwd, &places, &mut Recorder::new(&WORLD));
                assert_eq!(located.path.is_some(), located.why.is_none(), "{located:?}");
                assert_eq!(located.path.is_some(), located.place.is_some(), "{located:?}");
                assert!(located.place.is_none_or(|place| place >= Scope::Root), "{located:?}");
                assert!(located.place.is_none() || located.scope <= located.place, "{located:?}");
                let is_plain = !text.contains(['\u{1}', '\u{2}']) && !is_windows;
                if let Some(path) = located.path.filter(|_| is_plain) {
                    let again = locate(&Arg::known(path.as_str()), cwd, &places, &mut Recorder::new(&WORLD));
                    assert_eq!((again.path, again.place), (Some(path), located.place), "of {text:?}");
                }
            }
        }
    }
}

fn argument(text: &str) -> Arg {
    let mut pieces = Vec::new();
    for (at, part) in text.split('\u{2}').enumerate() {
        if at % 2 == 1 {
            pieces.push(Piece::Unknown { why: Why::Variable, written: part.to_owned() });
            continue;
        }
        for (at, part) in part.split('\u{1}').enumerate() {
            pieces.push(match at % 2 {
                0 => Piece::Text(part.to_owned()),
                _ => Piece::Unknown { why: Why::Glob, written: part.to_owned() },
            });
        }
    }
    Arg::from_pieces(pieces, false)
}
