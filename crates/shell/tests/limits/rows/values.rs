//! Limits of values and loops.

use super::*;

pub(super) const ROWS: &[Row] = &[
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
        limits: &["PAST_VALUES_MAX"],
        below: 3,
        beyond: 40,
        text: |count| {
            let values = times(count, |at| format!("x=v{at}; "));
            format!("{values}x=rm; x=ls; $x -rf /\n")
        },
        ends: Ends::Hole(Role::Program, Why::Budget),
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
];
