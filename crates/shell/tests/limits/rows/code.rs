//! Limits of the text, the parser, the work and the depth.

use super::*;

pub(super) const ROWS: &[Row] = &[
    // The text and the parser.
    Row {
        limits: &["TEXT_BYTES_MAX"],
        below: 100,
        beyond: 20_000,
        text: |count| format!("{}rm -rf /\n", "ls a\n".repeat(count)),
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
        text: |count| {
            let nested = |text: String, at| format!("cat <<-E{at}\n\t$({text})\n\tE{at}\n");
            (0..count).fold("rm -rf /".to_owned(), nested)
        },
        ends: Ends::Hole(Role::Code, Why::Nesting),
    },
    Row {
        limits: &["JOBS_MAX"],
        below: 100,
        beyond: 2_000,
        text: |count| format!("for a in $(seq 1 {count}); do ls & done\nrm -rf /\n"),
        ends: Ends::Hole(Role::Code, Why::Nesting),
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
];
