//! Limits of words, output of programs, lists and searches.

use super::*;

pub(super) const ROWS: &[Row] = &[
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
        limits: &["NESTED_VALUES_MAX"],
        below: 2,
        beyond: 30,
        text: |count| format!("echo $(jq -nc '{}1{}')$(rm -rf /)\n", "[".repeat(count), "]".repeat(count)),
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
        ends: Ends::Found,
    },
    Row {
        limits: &["ARITHMETIC_DEPTH_MAX"],
        below: 0,
        beyond: 30,
        text: |count| format!("x='a[$(rm -rf /)]'\n(( {}x{} ))\n", "(".repeat(count), ")".repeat(count)),
        ends: Ends::Found,
    },
    Row {
        limits: &["ARITHMETIC_DEPTH_MAX"],
        below: 0,
        beyond: 40,
        text: |count| format!("x='a[$(rm -rf /)]'\nlet '{}x'\n", "~".repeat(count)),
        ends: Ends::Found,
    },
    // Output of programs.
    Row {
        limits: &["SET_CHARS_MAX"],
        below: 3,
        beyond: 4_200,
        text: |count| {
            let set = times(count, |at| (at % 10).to_string());
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
        limits: &["SED_COMMANDS_MAX"],
        below: 3,
        beyond: 100,
        text: |count| format!("echo 'xm -rf /' | sed '{}s/x/r/' | sh\n", "s/y/z/;".repeat(count)),
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
