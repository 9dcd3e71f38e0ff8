//! The hostile texts, one row for each way to reach a limit.

use castellan_event::{Role, Why};

use super::{Ends, Row};

/// Limits that lose no information, with the reason.
pub(crate) const EXEMPT: &[(&str, &str)] = &[
    ("ARITHMETIC_BYTES_PER_WORK", PRICE),
    ("BRACE_COPIES_PER_WORK", PRICE),
    ("BYTES_PER_WORK", PRICE),
    ("COMPARISONS_PER_WORK", PRICE),
    ("COPIED_PER_WORK", PRICE),
    ("ENTRIES_PER_WORK", PRICE),
    ("MADE_FILES_MAX", "a file that the text wrote and that is not told is unknown to whoever looks into it"),
    ("WORK_OF_PARSING", PRICE),
    ("WORK_OF_SED", PRICE),
    ("WORK_PER_STEP", PRICE),
];

/// Costs: the work limit bounds their sum.
const PRICE: &str = "a price, no limit";

fn times(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

/// Returns branches, one of which runs.
fn branches(count: usize, one: impl Fn(usize) -> String, last: &str) -> String {
    let others = times(count, |at| format!("if [ -f a ]; then {}; el", one(at)));
    format!("{others}se {last}; fi\n")
}

/// Returns a text inside `count` functions that call each other.
fn in_functions(count: usize, text: &str) -> String {
    let calls = times(count, |at| format!("f{}() {{\nf{at}\n}}\n", at + 1));
    format!("f0() {{\n{text}\n}}\n{calls}f{count}\n")
}

/// Returns a text in nested groups: three functions of thirty levels each reach the depth limit of the walk.
fn deep(count: usize, text: &str) -> String {
    let group =
        |levels: usize, text: &str| format!("{}{text}\n{}", "{ ".repeat(levels), "}\n".repeat(levels));
    format!(
        "f() {{\n{}}}\ng() {{\n{}}}\n{}\n",
        group(count.saturating_sub(50), text),
        group(25, "f"),
        group(25, "g")
    )
}

pub(crate) const ROWS: &[Row] = &[
    // The text and the parser.
    Row {
        limits: &["TEXT_BYTES_MAX"],
        below: 100,
        beyond: 20_000,
        text: |count| format!("{}rm -rf /\n", "ls a\n".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Size),
    },
    Row {
        limits: &["WINDOW_BYTES"],
        below: 0,
        beyond: 10_000,
        text: |count| format!("echo '{}'\nrm -rf /\n{}", "a".repeat(count), "ls a\n".repeat(20_000)),
        ends: Ends::Hole(Role::Code, Why::Size),
    },
    Row {
        limits: &["CUT_TEXT_BYTES_MAX"],
        below: 20_000,
        beyond: 300_000,
        text: |count| format!("cat > f <<'E'\n{}E\nrm -rf /\n", "line\n".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Size),
    },
    Row {
        limits: &["PARSER_DEPTH_MAX"],
        below: 10,
        beyond: 60,
        text: |count| format!("{}rm -rf /{}\n", "( ".repeat(count), " )".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["REPARSE_DEPTH_MAX"],
        below: 2,
        beyond: 9,
        text: |count| (0..count).fold("rm -rf /".to_owned(), |text, _| format!("echo $(( $({text}) ))")),
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["REPARSE_BYTES_MIN", "REPARSE_FACTOR_MAX"],
        below: 0,
        beyond: 6,
        text: |count| {
            let text = format!("{}rm -rf /", "ls a; ".repeat(1_000));
            (0..count).fold(text, |text, _| format!("echo $(( $({text}) ))"))
        },
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["PARSER_STEPS_MAX", "PARSER_STEPS_PER_BYTE"],
        below: 10,
        beyond: 10_000,
        text: |count| format!("echo {}\nrm -rf /\n", "1$(a)".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["PARSER_STEPS_MIN"],
        below: 3,
        beyond: 39,
        text: |count| format!("{}rm -rf /{}\n", "echo \"$(".repeat(count), ")\"".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    // Work.
    Row {
        limits: &["WORK_MAX", "WORK_MIN", "WORK_PER_BYTE"],
        below: 3,
        beyond: 60,
        text: |count| {
            let open = times(3, |at| format!("for a{at} in {{1..{count}}}; do "));
            format!("{open} ls $a0$a1$a2; done; done; done\nrm -rf /\n")
        },
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["WORK_FOR_FILES_MAX"],
        below: 0,
        beyond: 40,
        text: |count| format!("{}rm -rf /\n", times(count, |at| format!("source /w/heavy{at}.sh\n"))),
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["ITEMS_MAX"],
        below: 10,
        beyond: 3_500,
        text: |count| format!("{}rm -rf /\n", times(count, |at| format!("ls {at}\n"))),
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["WRITTEN_FILES_MAX"],
        below: 0,
        beyond: 70,
        text: |count| times(count, |at| format!("echo 'rm -rf /' > /w/x{at}\n")),
        ends: Ends::Written(Why::Budget),
    },
    Row {
        limits: &["ARGUMENTS_MAX"],
        below: 10,
        beyond: 2_500,
        text: |count| format!("env {}rm -rf /\n", "A=1 ".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["LINE_BYTES_MAX"],
        below: 10,
        beyond: 60_000,
        text: |count| format!("x='{}'\nrm $x $x $x -rf /\n", "a".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Size),
    },
    Row {
        limits: &["TRAPS_MAX"],
        below: 5,
        beyond: 40,
        text: |count| {
            format!("{}trap 'rm -rf /' EXIT\n", times(count, |at| format!("trap 'ls {at}' EXIT\n")))
        },
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["WRAPPERS_MAX"],
        below: 3,
        beyond: 20,
        text: |count| format!("{}rm -rf /\n", "env ".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    // Depth.
    Row {
        limits: &["DEPTH_MAX"],
        below: 51,
        beyond: 79,
        text: |count| deep(count, "rm -rf /"),
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["DEPTH_MAX"],
        below: 51,
        beyond: 73,
        text: |count| deep(count, "x='rm -rf /'; : \"$($x)\""),
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["DEPTH_MAX"],
        below: 51,
        beyond: 73,
        text: |count| deep(count, "x='rm -rf /'; : > >($x)"),
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["TEXT_DEPTH_MAX"],
        below: 5,
        beyond: 16,
        text: |count| {
            let chain = times(count, |at| format!("alias a{}=a{at}\n", at + 1));
            format!("shopt -s expand_aliases\nalias a0='rm -rf /'\n{chain}a{count}\n")
        },
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["TEXT_DEPTH_MAX"],
        below: 5,
        beyond: 15,
        text: |count| format!("shopt -s expand_aliases\nalias x='rm -rf /'\n{}", in_functions(count, "x")),
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["TEXT_DEPTH_MAX"],
        below: 5,
        beyond: 20,
        text: |count| format!("x='rm -rf /'\n{}", in_functions(count, "eval \"$x\"")),
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["TEXT_DEPTH_MAX"],
        below: 1,
        beyond: 3,
        text: |count| {
            let chain = times(4, |at| format!("a{at}='eval \"$a{}\"'\n", at + 1));
            let aliases = times(4, |at| format!("alias b{}=b{at}\n", at + 1));
            let functions = in_functions(2 * count, "b4");
            format!(
                "shopt -s expand_aliases\n{chain}a4='rm -rf /'\nalias b0='eval \"$a0\"'\n{aliases}{functions}"
            )
        },
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["RECURSION_MAX"],
        below: 0,
        beyond: 6,
        text: |count| format!("f() {{ $1; shift; f \"$@\"; }}\nf {}'rm -rf /'\n", "ls ".repeat(count)),
        ends: Ends::Hole(Role::Program, Why::Parameter),
    },
    // Values.
    Row {
        limits: &["VALUES_MAX"],
        below: 3,
        beyond: 12,
        text: |count| format!("{}$x\n", branches(count, |at| format!("x='ls {at}'"), "x='rm -rf /'")),
        ends: Ends::Hole(Role::Program, Why::Budget),
    },
    Row {
        limits: &["VALUES_MAX"],
        below: 3,
        beyond: 12,
        text: |count| {
            let functions = branches(count, |at| format!("f() {{ ls {at}; }}"), "f() { $x; }");
            format!("x=ls\n{functions}x='rm -rf /'\nf\n")
        },
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["VALUES_MAX"],
        below: 3,
        beyond: 12,
        text: |count| {
            let aliases = branches(count, |at| format!("alias a='ls {at}'"), "alias a='rm -rf /'");
            format!("shopt -s expand_aliases\n{aliases}a\n")
        },
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["VALUES_MAX"],
        below: 3,
        beyond: 12,
        text: |count| {
            let names = branches(count, |at| format!("hash -p /bin/l{at} x"), "hash -p /bin/rm x");
            format!("hash -p /bin/ls x\n{names}x -rf /\n")
        },
        ends: Ends::Hole(Role::Program, Why::Budget),
    },
    Row {
        limits: &["VALUES_MAX"],
        below: 3,
        beyond: 12,
        text: |count| {
            let writes = branches(count, |at| format!("echo 'ls {at}' > /w/x"), "echo 'rm -rf /' > /w/x");
            format!("{writes}bash /w/x\n")
        },
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["VALUES_MAX"],
        below: 3,
        beyond: 12,
        text: |count| {
            let outputs = branches(count, |at| format!("echo 'ls {at}'"), "echo 'rm -rf /'");
            format!("{{\n{outputs}}} | sh\n")
        },
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["VALUES_MAX"],
        below: 0,
        beyond: 12,
        text: |count| format!("{}rm -rf .\n", branches(count, |at| format!("cd /w/{at}"), "cd /")),
        ends: Ends::Nowhere,
    },
    Row {
        limits: &["CHOICES_MAX"],
        below: 1,
        beyond: 6,
        text: |count| {
            let values = times(count, |at| format!("if a; then x{at}=1; else x{at}=2; fi\n"));
            let used = times(count, |at| format!("$x{at} "));
            format!("{values}if a; then y='rm -rf /'; else y=ls; fi\necho \": {used};\" \"$y\" | sh\n")
        },
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["CHOICES_MAX"],
        below: 0,
        beyond: 5,
        text: |count| {
            let values = times(count, |at| format!("if a; then x{at}=1; else x{at}=2; fi\n"));
            let used = times(count, |at| format!("x{at}=$x{at} "));
            format!("{values}env {used} rm -rf ${{z:-{{/}}{{b,c}}\n")
        },
        ends: Ends::Operand(Why::Budget),
    },
    // Loops.
    Row {
        limits: &["ROUNDS_MAX"],
        below: 5,
        beyond: 70,
        text: |count| format!("while read l; do $l; done <<'E'\n{}rm -rf /\nE\n", "ls\n".repeat(count)),
        ends: Ends::Hole(Role::Program, Why::Input),
    },
    Row {
        limits: &["ROUNDS_MAX"],
        below: 5,
        beyond: 70,
        text: |count| format!("for i in {}'rm -rf /'; do $i; done\n", "ls ".repeat(count)),
        ends: Ends::Hole(Role::Program, Why::Budget),
    },
    Row {
        limits: &["ROUNDS_MAX"],
        below: 5,
        beyond: 80,
        text: |count| {
            let list = "ls ".repeat(count);
            format!("a=({list} 'rm -rf /')\nfor ((i=0; i<={count}; i++)); do ${{a[i]}}; done\n")
        },
        ends: Ends::Hole(Role::Program, Why::Expansion),
    },
    Row {
        limits: &["REPEATS_MAX"],
        below: 1,
        beyond: 8,
        text: |count| {
            let first = times(count, |at| format!("x{at}=ls\n"));
            let moves = times(count, |at| format!("x{at}=$x{}; ", at + 1));
            format!("{first}x{count}='rm -rf /'\nwhile a; do $x0; {moves}done\n")
        },
        ends: Ends::Hole(Role::Program, Why::Dynamic),
    },
    Row {
        limits: &["REPEATS_MAX"],
        below: 0,
        beyond: 1,
        text: |_| "set -- ls\nwhile a; do \"$@\"; set -- rm -rf /; done\n".to_owned(),
        ends: Ends::Hole(Role::Program, Why::Parameter),
    },
    Row {
        limits: &["REPEATS_MAX"],
        below: 1,
        beyond: 1,
        text: |_| {
            "shopt -s expand_aliases\nalias a=ls\nwhile b; do eval a; alias a='rm -rf /'; done\n".to_owned()
        },
        ends: Ends::Found,
    },
    Row {
        limits: &["REPEATS_MAX"],
        below: 1,
        beyond: 1,
        text: |_| "hash -p /bin/ls x\nwhile b; do x -rf /; hash -p /bin/rm x; done\n".to_owned(),
        ends: Ends::Found,
    },
    Row {
        limits: &["REPEATS_MAX"],
        below: 0,
        beyond: 8,
        text: |count| {
            let first = times(count, |at| format!("exec {}< <(echo ls)\n", 20 + at));
            let moves = times(count, |at| format!("exec {}<&{}; ", 20 + at, 21 + at));
            format!("{first}exec {}< <(echo rm -rf /)\nwhile b; do bash <&20; {moves}done\n", 20 + count)
        },
        ends: Ends::Hole(Role::Code, Why::Input),
    },
    Row {
        limits: &["REPEATS_MAX"],
        below: 1,
        beyond: 1,
        text: |_| "f() { ls; }\nwhile b; do f -rf /; f() { rm \"$@\"; }; done\n".to_owned(),
        ends: Ends::Found,
    },
    // Words.
    Row {
        limits: &["BRACES_MAX"],
        below: 3,
        beyond: 300,
        text: |count| format!("echo {{1..{count}}}$(rm -rf /)\n"),
        ends: Ends::Found,
    },
    Row {
        limits: &["BRACES_MAX"],
        below: 0,
        beyond: 300,
        text: |count| format!("{{rm,-rf,/{}}}\n", ",x".repeat(count)),
        ends: Ends::Hole(Role::Program, Why::Budget),
    },
    Row {
        limits: &["BRACE_COPIES_MAX"],
        below: 2,
        beyond: 9,
        text: |count| format!("echo {}{}$(rm -rf /)\n", "a".repeat(4_000), "{a,b}".repeat(count)),
        ends: Ends::Found,
    },
    Row {
        limits: &["BRACES_DEPTH_MAX"],
        below: 2,
        beyond: 30,
        text: |count| format!("echo {}b{}$(rm -rf /)\n", "{a,".repeat(count), "}".repeat(count)),
        ends: Ends::Found,
    },
    Row {
        limits: &["BRACES_RANGE_MAX"],
        below: 0,
        beyond: 70,
        text: |count| format!("rm -rf /{{{}1..2}}\n", "0".repeat(count)),
        ends: Ends::Operand(Why::Budget),
    },
    Row {
        limits: &["HIDDEN_PATTERNS_MAX"],
        below: 0,
        beyond: 5,
        text: |count| format!("shopt -s dotglob\nrm -rf /{}etc\n", "*/".repeat(count)),
        ends: Ends::Operand(Why::Budget),
    },
    Row {
        limits: &["PATTERN_CHARS_MAX"],
        below: 0,
        beyond: 70,
        text: |count| format!("rm -rf /[{}e]tc\n", "a".repeat(count)),
        ends: Ends::Operand(Why::Glob),
    },
    Row {
        limits: &["PATTERN_CHARS_MAX"],
        below: 0,
        beyond: 200,
        text: |count| format!("shopt -s extglob\nrm -rf /@({}etc)\n", "a|".repeat(count)),
        ends: Ends::Operand(Why::Glob),
    },
    Row {
        limits: &["PATTERN_SET_MAX"],
        below: 3,
        beyond: 300,
        text: |count| format!("x='yrm -rf /'\n${{x#[{}y]}}\n", "a".repeat(count)),
        ends: Ends::Hole(Role::Program, Why::Expansion),
    },
    Row {
        limits: &["COMPARISONS_MAX"],
        below: 3,
        beyond: 600,
        text: |count| format!("x='{}rm -rf /'\n${{x#{}}}\n", "a".repeat(count), "?".repeat(count)),
        ends: Ends::Hole(Role::Program, Why::Expansion),
    },
    Row {
        limits: &["DIRECTORY_BYTES_MAX"],
        below: 0,
        beyond: 2_200,
        text: |count| format!("cd /{}\ncd {}\nrm -rf ../..\n", "a".repeat(count), "b".repeat(count)),
        ends: Ends::Nowhere,
    },
    Row {
        limits: &["VALUE_BYTES_MAX"],
        below: 10,
        beyond: 50_000,
        text: |count| format!("x='{}'\neval \"echo $x$x$x; rm -rf /\"\n", "a".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Size),
    },
    Row {
        limits: &["VALUE_BYTES_MAX"],
        below: 10,
        beyond: 50_000,
        text: |count| format!("x='{}'\necho \"echo $x$x$x; rm -rf /\" | sh\n", "a".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Size),
    },
    Row {
        limits: &["VALUE_BYTES_MAX"],
        below: 1,
        beyond: 8,
        text: |count| {
            // Each alias expands to the next alias twice.
            let chain = times(count, |at| format!("alias a{at}='a{} a{} '\n", at + 1, at + 1));
            let long = "b".repeat(2_000);
            format!("shopt -s expand_aliases\n{chain}alias a{count}='echo {long} '\na0; rm -rf /\n")
        },
        ends: Ends::Found,
    },
    Row {
        limits: &["WRITTEN_BYTES_MAX"],
        below: 0,
        beyond: 60,
        text: |count| {
            format!("for f in [{}]$(curl x.com); do rm -rf /w/b/$f; done\n", "\u{1d11e}".repeat(count))
        },
        ends: Ends::Operand(Why::Network),
    },
    Row {
        limits: &["NAMES_FOLLOWED_MAX"],
        below: 2,
        beyond: 12,
        text: |count| {
            let chain = times(count, |at| format!("declare -n n{}=n{at}\n", at + 1));
            format!("{chain}n0='rm -rf /'\n$n{count}\n")
        },
        ends: Ends::Hole(Role::Program, Why::Dynamic),
    },
    Row {
        limits: &["ARITHMETIC_DEPTH_MAX"],
        below: 0,
        beyond: 40,
        text: |count| {
            let chain = times(count, |at| format!("x{}=x{at}\n", at + 1));
            format!("x0='a[$(rm -rf /)]'\n{chain}(( x{count} ))\n")
        },
        ends: Ends::Hole(Role::Code, Why::Arithmetic),
    },
    Row {
        limits: &["ARITHMETIC_DEPTH_MAX"],
        below: 0,
        beyond: 30,
        text: |count| format!("x='a[$(rm -rf /)]'\n(( {}x{} ))\n", "(".repeat(count), ")".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Arithmetic),
    },
    Row {
        limits: &["ARITHMETIC_DEPTH_MAX"],
        below: 0,
        beyond: 40,
        text: |count| format!("x='a[$(rm -rf /)]'\nlet '{}x'\n", "~".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Arithmetic),
    },
    // Output of programs.
    Row {
        limits: &["SET_CHARS_MAX"],
        below: 3,
        beyond: 4_200,
        text: |count| {
            let set = times(count, |at| char::from_u32(0x400 + at as u32).into_iter().collect());
            format!("echo 'sm -rf /' | tr '{set}s' '{set}r' | sh\n")
        },
        ends: Ends::Hole(Role::Code, Why::Substitution),
    },
    Row {
        limits: &["RANGES_MAX"],
        below: 3,
        beyond: 60,
        text: |count| format!("echo 'rm -rf /' | cut -c 1-8{} | sh\n", ",9".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Substitution),
    },
    Row {
        limits: &["PRINTF_WIDTH_MAX"],
        below: 3,
        beyond: 2_000,
        text: |count| format!("$(printf 'rm%{count}s-rf /' ' ')\n"),
        ends: Ends::Hole(Role::Program, Why::Substitution),
    },
    Row {
        limits: &["PRINTF_ROUNDS_MAX"],
        below: 3,
        beyond: 300,
        text: |count| format!("printf '%s\\n' {}'rm -rf /' | sh\n", "ls ".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["NUMBERS_MAX"],
        below: 3,
        beyond: 2_000,
        text: |count| {
            format!("for i in $(seq 1 {count}); do x=$i; done\n[ $x -gt 1500 ] || x=/\nrm -rf $x /\n")
        },
        ends: Ends::Found,
    },
    Row {
        limits: &["REGEX_BYTES_MAX"],
        below: 2,
        beyond: 2_000,
        text: |count| format!("echo 'xm -rf /' | sed -E 's/x([[:alpha:]]{{0,{count}}})/r\\1/' | sh\n"),
        ends: Ends::Hole(Role::Code, Why::Substitution),
    },
    Row {
        limits: &["AWK_PARTS_MAX"],
        below: 3,
        beyond: 80,
        text: |count| format!("awk 'BEGIN{{print \"rm\"{} \" -rf /\"}}' | sh\n", " \"\"".repeat(count)),
        ends: Ends::Hole(Role::Code, Why::File),
    },
    // Lists and searches.
    Row {
        limits: &["LISTED_CALLS_MAX"],
        below: 3,
        beyond: 20,
        text: |count| {
            format!("printf '%s\\n' {}/ | xargs -n1 rm -rf\n", times(count, |at| format!("x{at} ")))
        },
        ends: Ends::Operand(Why::Budget),
    },
    Row {
        limits: &["LISTED_CALLS_MAX"],
        below: 3,
        beyond: 20,
        text: |count| format!("parallel rm -rf ::: {}/\n", times(count, |at| format!("x{at} "))),
        ends: Ends::Operand(Why::Budget),
    },
    Row {
        limits: &["LISTED_CALLS_MAX"],
        below: 3,
        beyond: 20,
        text: |count| format!("parallel ::: {}'rm -rf /'\n", times(count, |at| format!("'ls {at}' "))),
        ends: Ends::Hole(Role::Code, Why::Budget),
    },
    Row {
        limits: &["SEARCH_STARTS_MAX"],
        below: 0,
        beyond: 9,
        text: |count| format!("find {}/ -exec rm -rf {{}} +\n", times(count, |at| format!("x{at} "))),
        ends: Ends::Operand(Why::Budget),
    },
];
