//! Text that overflows the stack of parsers, or takes them exponential time: the process must survive on the stack of a
//! usual thread, in a debug build.

/// Openers with their closers.
const NESTS: [(&str, &str); 45] = [
    ("$(", ")"),
    ("( ", " )"),
    ("{ ", "; }"),
    ("${a:-", "}"),
    ("\"${a:-", "}\""),
    ("`", "`"),
    ("\"$(", ")\""),
    ("$((", "))"),
    ("(( (", ") ))"),
    ("if a; then ", "; fi"),
    ("while a; do ", "; done"),
    ("for i in a; do ", "; done"),
    ("case a in b) ", ";; esac"),
    ("f() { ", "; }"),
    ("<( ", ")"),
    ("[[ ( ", " ) ]]"),
    ("{a,", "}"),
    ("a[", "] "),
    ("${a[", "]}"),
    ("${a/", "/b}"),
    ("${a#", "}"),
    ("a=(", ")"),
    ("$[", "]"),
    ("@(", ")"),
    ("if ", "; then a; fi"),
    ("time ", ""),
    ("time -p ! ", ""),
    ("coproc ", ""),
    ("! ", ""),
    ("a && { ", "; }"),
    ("$(( $(", " ) ))"),
    ("${ ", "; }"),
    ("cat <<E\n$(", "\n)\nE\n"),
    ("x=${=", ""),
    ("${^^", ""),
    ("${a/>(", ""),
    ("${a#\"$(", ""),
    ("case x in ?(", ""),
    ("a=(${", ""),
    ("declare a=(\"${a:-", ""),
    ("<<E\n\"${a:-", ""),
    ("((!{a,", ""),
    ("a[;", ""),
    ("<<E ", ""),
    ("a=($((a?", ""),
];

#[test]
fn the_process_survives_every_nesting() {
    for (open, close) in NESTS {
        for depth in [10, 30, 100, 1_000, 4_000] {
            if (open.len() + close.len()) * depth <= 64 << 10 {
                let text = format!("{}a{}", open.repeat(depth), close.repeat(depth));
                drop(castellan_shell::parse(&text));
            }
        }
    }
}

#[test]
fn the_process_survives_nestings_in_each_other() {
    for (open, close) in NESTS {
        for (other, closed) in NESTS {
            let text =
                format!("{}a{}", format!("{open}{other}").repeat(30), format!("{closed}{close}").repeat(30));
            drop(castellan_shell::parse(&text));
        }
    }
}

/// Deep nesting is a hole, not a tree that lacks what is deep.
#[test]
fn what_is_too_deep_is_a_hole() {
    for (open, close) in
        [("$(", ")"), ("( ", " )"), ("\"$(", ")\""), ("time ", ""), ("coproc ", ""), ("<(", ")")]
    {
        let text = format!("echo {}", open.repeat(500) + "rm" + &close.repeat(500));
        assert!(!castellan_shell::parse(&text).holes.is_empty() || open.ends_with(' '), "{open}");
        let text = open.repeat(500) + "rm" + &close.repeat(500);
        assert!(!castellan_shell::parse(&text).holes.is_empty(), "{open}");
    }
}

#[test]
fn long_text_is_a_hole_of_its_size() {
    let parsed = castellan_shell::parse(&"echo a\n".repeat(20_000));
    assert_eq!(parsed.holes.first().map(|hole| hole.why), Some(castellan_event::Why::Size));
}
