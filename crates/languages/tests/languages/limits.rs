//! A hostile program reaches each limit of this crate. The reading then finds the act behind the limit, or reports the
//! loss by a `Hole` or an unknown text.
use std::collections::BTreeSet;

use castellan_event::Why;
use castellan_languages::{Act, Language, Reading, Start, What, Work, read_within};
use castellan_programs::Arg;

/// A program that grows with a number. Each one runs `rm -rf /` in a shell.
struct Row {
    /// The limits that it reaches.
    limits: &'static [&'static str],
    language: Language,
    /// A number at which the reading finds `rm -rf /`; 0 if there is none.
    below: usize,
    /// A number that exceeds the limit.
    beyond: usize,
    text: fn(usize) -> String,
    ends: Ends,
}

/// The expected result when a limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// The command.
    Found,
    /// A `Hole` for code.
    Hole(Why),
    /// Shell text with an unknown part.
    Text(Why),
}

/// Limits that lose nothing, and why.
const EXEMPT: &[(&str, &str)] = &[
    ("BYTES_PER_WORK", PRICE),
    ("ENTRIES_COPIED_PER_WORK", PRICE),
    ("HERE_BYTES_MAX", "a longer text goes to the helper (apart)"),
    ("HERE_OPENINGS_MAX", "a text with more goes to the helper (apart)"),
    ("JAVASCRIPT_HERE_BYTES_MAX", "a longer text goes to the helper (apart)"),
    ("JAVASCRIPT_HERE_OPENINGS_MAX", "a text with more goes to the helper (apart)"),
    ("JAVASCRIPT_STACK_PER_BYTE", STACK),
    ("PARSER_STACK_MIN", STACK),
    ("PARSER_STACK_PER_BYTE", STACK),
    ("PARSER_WORK_PER_KIB", PRICE),
    ("SURVEY_DEPTH_MAX", STACK),
    ("SENT_DEPTH_MAX", "a deeper part of what a request sends is unknown, and the request remains"),
    ("SERVICE_PATH_BYTES_MAX", "the last member remains, which shows the change"),
    ("STACK_BYTES", "the stack of a helper, whose end is a `Hole` (apart)"),
    ("KEPT_ACTS_MAX", "readings that are not kept are made again"),
    ("KEPT_WORK_MIN", "readings that are not kept are made again"),
    ("READER_BYTES_PER_NODE", PRICE),
    ("READER_BYTES_PER_WORK", PRICE),
    ("SPREAD_WORK", PRICE),
    ("WORK_PER_PARSER_CALL", PRICE),
    ("WORK_PER_PERL_CALL", PRICE),
    ("WRITTEN_BYTES_MAX", "it cuts what people read; why a value is not known stays with it"),
];

/// A text that takes more ends the process, and the test.
const STACK: &str = "the stack of the deepest text (hostile)";

/// Costs; the work that they use has a limit of its own.
const PRICE: &str = "a price, no limit";

const RM: &str = "os.system('rm -rf /')\n";

fn times(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

fn python(text: &str) -> String {
    format!("import os, sys\n{text}")
}

const ROWS: &[Row] = &[
    // The text and the parser.
    Row {
        limits: &["TEXT_BYTES_MAX"],
        language: Language::Python,
        below: 10,
        beyond: 20_000,
        text: |count| python(&format!("{}{RM}", "x=1\n".repeat(count))),
        ends: Ends::Hole(Why::Size),
    },
    Row {
        limits: &["BRACKETS_MAX"],
        language: Language::Lua,
        below: 5,
        beyond: 160,
        text: |count| format!("x = {}os.execute('rm -rf /'){}\n", "(".repeat(count), ")".repeat(count)),
        ends: Ends::Hole(Why::Nesting),
    },
    Row {
        limits: &["TREE_DEPTH_MAX"],
        language: Language::Python,
        below: 5,
        beyond: 130,
        text: |count| python(&format!("{}{}{}", "[".repeat(count), RM.trim(), "]".repeat(count))),
        ends: Ends::Hole(Why::Nesting),
    },
    Row {
        limits: &["TREE_DEPTH_MAX"],
        language: Language::PowerShell,
        below: 5,
        beyond: 130,
        text: |count| format!("{}iex 'rm -rf /'{}\n", "(".repeat(count), ")".repeat(count)),
        ends: Ends::Hole(Why::Nesting),
    },
    Row {
        limits: &["TREE_DEPTH_MAX"],
        language: Language::AppleScript,
        below: 5,
        beyond: 130,
        text: |count| format!("do shell script {}\"rm -rf /\"{}\n", "(".repeat(count), ")".repeat(count)),
        ends: Ends::Text(Why::Dynamic),
    },
    Row {
        limits: &["PARSER_CALLS_MIN", "PARSER_CALLS_PER_KIB"],
        language: Language::Python,
        below: 0,
        beyond: 5_000,
        text: |count| python(&format!("{}\n{RM}", "from await ".repeat(count))),
        ends: Ends::Hole(Why::Budget),
    },
    Row {
        limits: &["NODES_MIN", "NODES_PER_BYTE"],
        language: Language::JavaScript,
        below: 2,
        beyond: 17,
        text: |count| {
            let nested = format!("{}1{}", "a[b += ".repeat(count), "] += 1".repeat(count));
            format!("let a = [], b = 0; {nested};\nrequire('child_process').execSync('rm -rf /');\n")
        },
        ends: Ends::Hole(Why::Budget),
    },
    Row {
        limits: &["LAYERS_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 30,
        text: |count| {
            python(&format!("def d(f):\n    f()\n    return f\n{}def g(): {RM}", "@d\n".repeat(count)))
        },
        ends: Ends::Hole(Why::Nesting),
    },
    Row {
        limits: &["LAYERS_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 30,
        text: |count| {
            python(&format!("[{} {}]\n", RM.trim(), times(count, |at| format!("for x{at} in [1] "))))
        },
        ends: Ends::Hole(Why::Nesting),
    },
    Row {
        limits: &["LINE_PART_BYTES"],
        language: Language::Perl,
        below: 3,
        beyond: 155,
        text: |count| format!("my $x='{}'; system('rm -rf /');\n", "a".repeat(count)),
        ends: Ends::Found,
    },
    Row {
        limits: &["OPEN_COMMENTS_MAX"],
        language: Language::Lua,
        below: 3,
        beyond: 120,
        text: |count| format!("x='{}'\n{RM}", "/* ".repeat(count)).replace("system", "execute"),
        ends: Ends::Hole(Why::Budget),
    },
    Row {
        limits: &["ERRORS_MAX"],
        language: Language::Python,
        below: 0,
        beyond: 40,
        text: |count| python(&format!("{}{RM}", "x = = 1\n".repeat(count))),
        ends: Ends::Hole(Why::Syntax),
    },
    // The run.
    Row {
        limits: &["RUN_DEPTH_MAX"],
        language: Language::Python,
        below: 5,
        beyond: 120,
        text: |count| {
            let calls = times(count, |at| format!("def f{at}(c): return f{}(c)\n", at + 1));
            python(&format!("{calls}def f{count}(c): os.system(c)\nf0('rm -rf /')\n"))
        },
        ends: Ends::Hole(Why::Nesting),
    },
    Row {
        limits: &["WORK_MAX", "WORK_MIN", "WORK_PER_BYTE"],
        language: Language::Python,
        below: 2,
        beyond: 200,
        text: |count| {
            python(&format!(
                "for a in range({count}):\n  for b in range({count}):\n    for c in range({count}):\n      x=a\n{RM}"
            ))
        },
        ends: Ends::Hole(Why::Budget),
    },
    Row {
        limits: &["ACTS_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 2_100,
        text: |count| python(&format!("{}{RM}", times(count, |at| format!("os.system('ls {at}')\n")))),
        ends: Ends::Hole(Why::Budget),
    },
    Row {
        limits: &["RECURSION_MAX"],
        language: Language::Python,
        below: 0,
        beyond: 9,
        text: |count| {
            let next = "{'ls': 'id', 'id': 'rm -rf /'}.get(c, 'rm -rf /')";
            python(&format!("def f(n, c):\n    os.system(c)\n    f(n - 1, {next})\nf({count}, 'ls')\n"))
        },
        ends: Ends::Text(Why::Dynamic),
    },
    Row {
        limits: &["TEXT_DEPTH_MAX"],
        language: Language::Python,
        below: 2,
        beyond: 8,
        text: |count| {
            let chain = times(count, |at| format!("x{}='exec(x{at})'\n", at + 1));
            format!("x0=\"__import__('os').system('rm -rf /')\"\n{chain}exec(x{count})\n")
        },
        ends: Ends::Hole(Why::Nesting),
    },
    // Values.
    Row {
        limits: &["VALUE_BYTES_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 40_000,
        text: |count| python(&format!("x='{}'\nos.system('rm -rf / '+x+x)\n", "a".repeat(count))),
        ends: Ends::Text(Why::Size),
    },
    Row {
        limits: &["VALUE_BYTES_MAX"],
        language: Language::Perl,
        below: 0,
        beyond: 70_000,
        text: |count| format!("system('rm -rf /' . pack('A{count}', 'x'));\n"),
        ends: Ends::Text(Why::Encoding),
    },
    Row {
        limits: &["PIECES_MAX"],
        language: Language::Python,
        below: 0,
        beyond: 80,
        text: |count| {
            python(&format!("x='rm -rf /; '\n{}os.system(x)\n", "x+=os.environ['A']+'a'\n".repeat(count)))
        },
        ends: Ends::Text(Why::Size),
    },
    Row {
        limits: &["CHOICES_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 12,
        text: |count| {
            let others = times(count, |at| format!("if len(sys.argv)>{at}: x='ls {at}'\n"));
            python(&format!("x='ls'\nif len(sys.argv)>99: x='rm -rf /'\n{others}os.system(x)\n"))
        },
        ends: Ends::Text(Why::Dynamic),
    },
    Row {
        limits: &["CHOICES_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 9,
        text: |count| {
            let others = times(count, |at| format!("a{at}=A('ls {at}')\n"));
            let class =
                "class A:\n    def __init__(self, c): self.c=c\n    def __del__(self): os.system(self.c)\n";
            python(&format!("{class}{others}z=A('rm -rf /')\n"))
        },
        ends: Ends::Text(Why::Dynamic),
    },
    Row {
        limits: &["CAPABLE_CHOICES_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 40,
        text: |count| {
            let one = |at: usize| format!("def f{at}(): pass\nif len(sys.argv)>{at}: f=f{at}\n");
            let last = "c='ls'\ndef g(): os.system(c)\nif len(sys.argv)>77: f=g\nc='rm -rf /'\nf()\n";
            python(&format!("f=None\n{}{last}", times(count, one)))
        },
        ends: Ends::Hole(Why::Budget),
    },
    Row {
        limits: &["ELEMENTS_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 600,
        text: |count| {
            let list = "'ls',".repeat(count);
            python(&format!("l=[{list}]\nl.append('rm -rf /')\nos.system(l[-1])\n"))
        },
        ends: Ends::Text(Why::Dynamic),
    },
    Row {
        limits: &["ITERATIONS_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 600,
        text: |count| python(&format!("for x in [{}'rm -rf /']: os.system(x)\n", "'ls',".repeat(count))),
        ends: Ends::Found,
    },
    Row {
        limits: &["ITERATIONS_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 600,
        text: |count| {
            let list = "'ls',".repeat(count);
            python(&format!("x=[{list}'rm -rf /']\nfor i in range({}): os.system(x[i])\n", count + 1))
        },
        ends: Ends::Text(Why::Dynamic),
    },
    Row {
        limits: &["ITERATIONS_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 600,
        text: |count| {
            python(&format!("x=''\nfor c in '{}rm -rf /': x+=c\nos.system(x[{count}:])\n", "a".repeat(count)))
        },
        ends: Ends::Text(Why::Dynamic),
    },
    Row {
        limits: &["ITERATIONS_MAX"],
        language: Language::Ruby,
        below: 3,
        beyond: 530,
        text: |count| format!("{count}.times {{ |i| system(i == 520 ? 'rm -rf /' : [1, 2][i]) }}\n"),
        ends: Ends::Found,
    },
    Row {
        limits: &["ITERATIONS_MAX"],
        language: Language::Ruby,
        below: 0,
        beyond: 530,
        text: |count| format!("x={{520 => 'rm -rf /'}}\n{count}.times {{ |i| system(x[i]) }}\n"),
        ends: Ends::Found,
    },
    Row {
        limits: &["ITERATIONS_MAX"],
        language: Language::Php,
        below: 3,
        beyond: 513,
        text: |count| {
            let list = "1,".repeat(count);
            format!("<?php array_reduce([{list}'rm -rf /'], function($c, $x) {{ system($x); }});\n")
        },
        ends: Ends::Found,
    },
    Row {
        limits: &["ITERATIONS_MAX"],
        language: Language::Perl,
        below: 0,
        beyond: 600,
        text: |count| {
            let letter =
                |at: usize| u32::try_from(at).ok().and_then(|at| char::from_u32(0x4e00 + at)).unwrap();
            let (first, second, last) = (letter(0), letter(1), letter(count));
            format!("my $x='{last}m -rf /'; $x =~ tr/{first}-{last}/{second}-{last}r/; system($x);\n")
        },
        ends: Ends::Text(Why::Dynamic),
    },
    Row {
        limits: &["LOOP_ROUNDS_MAX"],
        language: Language::Python,
        below: 2,
        beyond: 12,
        text: |count| {
            let first = times(count, |at| format!("f{at}=print\n"));
            let moves = times(count, |at| format!("    f{at}=f{}\n", at + 1));
            python(&format!("{first}f{count}=os.system\nwhile sys.argv:\n    f0('rm -rf /')\n{moves}"))
        },
        ends: Ends::Hole(Why::Dynamic),
    },
    Row {
        limits: &["LOOP_ROUNDS_MAX"],
        language: Language::JavaScript,
        below: 2,
        beyond: 12,
        text: |count| {
            let first = times(count, |at| format!("let f{at}=console.log;\n"));
            let moves = times(count, |at| format!("f{at}=f{};\n", at + 1));
            let last = format!("let f{count}=require('child_process').execSync;\n");
            format!("{first}{last}while (process.argv.length) {{\nf0('rm -rf /');\n{moves}}}\n")
        },
        ends: Ends::Hole(Why::Dynamic),
    },
    Row {
        limits: &["LOOP_ROUNDS_MAX"],
        language: Language::Python,
        below: 1,
        beyond: 12,
        text: |count| {
            let list = "print,".repeat(count);
            python(&format!("l=[{list}os.system]\nwhile sys.argv:\n    l[0]('rm -rf /')\n    l=l[1:]\n"))
        },
        ends: Ends::Found,
    },
    Row {
        limits: &["NESTED_VALUES_MAX"],
        language: Language::Python,
        below: 3,
        beyond: 60,
        text: |count| {
            let more = "f=partial(f)\n".repeat(count);
            python(&format!("from functools import partial\nf=partial(os.system,'rm -rf /')\n{more}f()\n"))
        },
        ends: Ends::Hole(Why::Nesting),
    },
    Row {
        limits: &["NESTED_VALUES_MAX"],
        language: Language::Php,
        below: 8,
        beyond: 45,
        text: |count| {
            let (open, close, first) = ("[".repeat(count), "]".repeat(count), "[0]".repeat(count));
            format!("<?php $a={open}'rm -rf /'{close}; $b=$a; $b{first}='ls'; system($a{first});\n")
        },
        ends: Ends::Hole(Why::Nesting),
    },
];

fn reading(row: &Row, count: usize) -> Reading {
    read_within(row.language, &(row.text)(count), &Start::default(), &mut Work::default())
}

fn ends(reading: &Reading, ends: Ends) -> bool {
    let texts = |act: &Act| match &act.what {
        What::Shell { text, .. } => vec![text.clone()],
        What::Command { argv, .. } => {
            let words: Vec<_> = argv.iter().map(Arg::written).collect();
            argv.iter().cloned().chain([Arg::known(words.join(" "))]).collect()
        }
        What::Effect { .. }
        | What::Request { .. }
        | What::Call { .. }
        | What::Script { .. }
        | What::Module { .. }
        | What::Sql { .. }
        | What::Directory(_)
        | What::Variable { .. }
        | What::Hole { .. } => Vec::new(),
    };
    let texts: Vec<Arg> = reading.acts.iter().flat_map(texts).collect();
    match ends {
        Ends::Found => texts.iter().any(|text| text.written().starts_with("rm -rf /")),
        Ends::Text(why) => texts.iter().any(|text| text.why() == Some(why)),
        Ends::Hole(why) => {
            reading.acts.iter().any(|act| matches!(&act.what, What::Hole { why: own, .. } if *own == why))
        }
    }
}

#[test]
fn a_limit_that_is_reached_is_not_silent() {
    let mut wrong = String::new();
    for (number, row) in ROWS.iter().enumerate() {
        let shown = |reading: &Reading| {
            let acts: Vec<String> =
                reading.acts.iter().rev().take(3).map(|act| format!("{act:.200?}")).collect();
            acts.iter().map(|act| act.chars().take(200).collect::<String>() + "\n    ").collect::<String>()
        };
        if row.below > 0 {
            let below = reading(row, row.below);
            if !ends(&below, Ends::Found) || row.ends != Ends::Found && ends(&below, row.ends) {
                wrong.push_str(&format!("{number} {:?}: below it\n    {}\n", row.limits, shown(&below)));
            }
        }
        let beyond = reading(row, row.beyond);
        if !ends(&beyond, row.ends) {
            wrong.push_str(&format!(
                "{number} {:?}: not {:?}\n    {}\n",
                row.limits,
                row.ends,
                shown(&beyond)
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A chain of base classes has no limit of its own: the length of the text bounds it.
#[test]
fn members_of_distant_classes_are_found() {
    for (first, call) in [
        ("class A0:\n    def go(self, c): os.system(c)\n", "A40().go('rm -rf /')\n"),
        ("import subprocess\nclass A0(subprocess.Popen): pass\n", "A40('rm -rf /', shell=True)\n"),
        ("class A0:\n    c='ls'\n    def go(self): os.system(self.c)\n", "A40.c='rm -rf /'\nA40().go()\n"),
    ] {
        let chain = times(40, |at| format!("class A{}(A{at}): pass\n", at + 1));
        let text = python(&format!("{first}{chain}{call}"));
        let reading = read_within(Language::Python, &text, &Start::default(), &mut Work::default());
        assert!(ends(&reading, Ends::Found), "{first}: {reading:?}");
    }
}

#[test]
fn every_limit_has_a_row() {
    let limit = |line: &'static str| Some(line.strip_prefix("pub(crate) const ")?.split_once(':')?.0);
    let all: BTreeSet<&str> = include_str!("../../src/limits.rs").lines().filter_map(limit).collect();
    let exempt = EXEMPT.iter().map(|(limit, _)| *limit);
    let told: BTreeSet<&str> = ROWS.iter().flat_map(|row| row.limits).copied().chain(exempt).collect();
    assert!(all.len() > 30, "only {all:?}");
    assert_eq!(all, told);
}
