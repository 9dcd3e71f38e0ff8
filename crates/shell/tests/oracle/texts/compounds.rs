//! Conditions and compound commands.

use super::{DEPTH_MAX, PATTERNS, SCALARS, Texts};

impl Texts<'_> {
    pub(super) fn condition(&mut self) -> String {
        match self.draws.below(6) {
            0 => format!("-n \"{}\"", self.parameter(true)),
            1 => format!("\"$x\" = {}", self.word()),
            2 => self
                .pick(&[
                    "1 -eq 1",
                    "$i -lt 3",
                    "-f a1.txt",
                    "-z \"$x\"",
                    "$# -gt 0",
                    "-v x",
                    "a = b",
                    "-d sub",
                    "x",
                ])
                .to_owned(),
            3 => format!("-z {}", self.word()),
            _ => "1 -lt 2".to_owned(),
        }
    }

    pub(super) fn double_condition(&mut self) -> String {
        match self.draws.below(8) {
            0 => format!("$x == {}", self.pick(PATTERNS.get(..4).unwrap_or_default())),
            1 => self
                .pick(&[
                    "$x =~ ^(.)(.*)$",
                    "abc =~ b(.)",
                    "$x =~ $y",
                    "-n $x && -z $y",
                    "$x < $y",
                    "! -f a1.txt",
                    "-v arr[0]",
                    "1 -lt i++",
                    "( a == b || $x )",
                    "i -eq 0",
                ])
                .to_owned(),
            2 => format!("-n {}", self.parameter(false)),
            3 => format!("$(mark in test) == {}", self.parameter(false)),
            _ => "a == a".to_owned(),
        }
    }

    pub(super) fn eval_text(&mut self) -> String {
        match self.draws.below(5) {
            0 | 1 => self.quoted_inline(),
            2 => format!("\"mark $x\" {}", self.words(2)),
            3 => format!("mark {}", self.words(3)),
            _ => "'mark \"$x\"; x=evaled'".to_owned(),
        }
    }

    /// Commands as a single quoted word.
    pub(super) fn quoted_inline(&mut self) -> String {
        let text = self.deeper(Self::inline, "mark q");
        match self.draws.below(3) {
            0 | 1 => format!("'{}'", text.replace('\'', "'\\''")),
            _ => {
                let mut quoted = String::from("\"");
                for one in text.chars() {
                    if matches!(one, '"' | '\\' | '`' | '$') {
                        quoted.push('\\');
                    }
                    quoted.push(one);
                }
                quoted.push('"');
                quoted
            }
        }
    }

    pub(super) fn statement(&mut self) -> String {
        if self.fuel == 0 || self.depth >= DEPTH_MAX {
            return self.simple();
        }
        match self.draws.below(34) {
            0..=11 => self.simple(),
            kind => self.deeper(|texts| texts.compound(kind), "mark"),
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each form: a table")]
    pub(super) fn compound(&mut self, kind: usize) -> String {
        match kind {
            12 => {
                let (first, operator) = (self.statement(), self.pick(&["&&", "||"]));
                format!("{{ {first}\n}} {operator} {}", self.statement())
            }
            13 => {
                let first = self.simple();
                let second = self.simple();
                format!(
                    "{first} {} {second} {} {}",
                    self.pick(&["&&", "||"]),
                    self.pick(&["&&", "||"]),
                    self.simple()
                )
            }
            14 => format!("({}\n)", self.list(2)),
            15 => {
                let redirect =
                    self.pick(&["", " 2>&1", " >out.txt", " </dev/null", " <<<'r1 r2'", " <a1.txt"]);
                format!("{{ {}\n}}{redirect}", self.list(2))
            }
            16 => {
                let condition = self.simple();
                let body = self.list(2);
                let otherwise = match self.draws.below(3) {
                    0 => String::new(),
                    1 => format!("else {}\n", self.list(1)),
                    _ => {
                        let condition = self.simple();
                        format!("elif {condition}; then {}\nelse {}\n", self.list(1), self.list(1))
                    }
                };
                format!("if {condition}; then {body}\n{otherwise}fi")
            }
            17 | 18 => {
                let name = self.pick(SCALARS);
                let words = self.words(4);
                let body = self.list(2);
                format!("for {name} in {words}; do {body}\ndone")
            }
            19 => format!("for x; do {}\ndone", self.list(2)),
            20 => {
                self.labels += 1;
                let name = format!("k{}", self.labels);
                let body = self.list(2);
                let head = self.pick(&[
                    "while (( K++ < 3 ))",
                    "until (( ++K > 2 ))",
                    "while [ $((K++)) -lt 2 ]",
                    "while [[ ${#K} -lt 3 ]] && K=x$K",
                ]);
                format!("{name}=; {}; do {body}\ndone", head.replace('K', &name))
            }
            21 => {
                self.labels += 1;
                let name = format!("k{}", self.labels);
                format!("for (({name}=0; {name}<3; {name}++)); do mark \"${name}\"; {}\ndone", self.list(1))
            }
            22 => {
                let word = self.word();
                let (first, second) = (self.pick(PATTERNS), self.pick(PATTERNS));
                let end = self.pick(&[";;", ";&", ";;&"]);
                let (one, two) = (self.list(1), self.list(1));
                let first = if first.is_empty() { "''" } else { first };
                let second = if second.trim().is_empty() { "\"\"" } else { second };
                format!(
                    "case {word} in\n{first}) {one}\n{end}\n{second}|q) {two}\n;;\n*) {}\n;;\nesac",
                    self.simple()
                )
                .replace("\n ) ", "\n' ') ")
            }
            23 | 24 => {
                let name = self.pick(&["f", "g", "h"]);
                let body = self.list(3);
                let head =
                    self.pick(&["N() {", "function N {", "N () {", "function N() {"]).replace('N', name);
                let tail = self.pick(&["", " 2>&1", " <<<\"$1\""]);
                let call = format!("{name} {}", self.words(2));
                // A recursive function stops at the nesting limit, which takes long.
                format!("{head} (( ++D{name} > 3 )) && return; {body}\n}}{tail}\n{call}")
            }
            25 => {
                self.labels += 1;
                let label = format!("E{}", self.labels);
                let quoted = self.pick(&["<<N", "<<'N'", "<<-N", "<<\"N\"", "<<\\N"]).replace('N', &label);
                let reader = self.pick(&[
                    "bash",
                    "read x",
                    "while read x; do mark \"$x\"; done",
                    "bash -s p q",
                    "{ read x; read y; }",
                    ". /dev/stdin",
                    "while IFS= read -r x; do mark \"$x\"; done",
                    "mapfile -t arr",
                    "bash /dev/stdin p",
                    "while read -r x y; do mark \"$y\" $x; done",
                    "read -d '' x",
                ]);
                let body = match self.draws.below(4) {
                    0 => self.inline(),
                    1 => format!("mark {}\n{}", self.words(2), self.words(2)),
                    2 => self
                        .pick(&[
                            "a $x b\n\\$x `echo q`",
                            "\ttabbed\n\tmark t",
                            "mark \"$x\"\nmark '$y'",
                            "a\\\nb",
                            "mark $(echo s)\n\nmark e",
                            "$((1+2)) ${x:-d}\n\"q\"",
                            "'a' \\\\ \\a",
                        ])
                        .to_owned(),
                    _ => self.simple(),
                };
                format!("{reader} {quoted}\n{body}\n{label}")
            }
            26 | 27 => {
                let writer = match self.draws.below(4) {
                    0 => format!("echo mark {}", self.words(2)),
                    1 => format!("printf '%s\\n' {}", self.words(3)),
                    2 => format!("echo {}", self.words(2)),
                    _ => format!("{{ {}\n}}", self.list(2)),
                };
                let reader = self.pick(&[
                    "bash",
                    "while read x; do mark \"$x\"; done",
                    "read x",
                    "bash -s a b",
                    "{ read x; mark \"$x\"; }",
                    "mark",
                    "while read -r x y; do mark $x \"$y\"; done",
                    "(read x y; mark $y)",
                    "bash -c 'read x; mark $x'",
                    "mapfile -t arr",
                    ". /dev/stdin",
                    "bash -c \"$(</dev/stdin)\"",
                    "while IFS=: read x y; do mark $x $y; done",
                    "{ mapfile -t arr; mark \"${arr[@]}\"; }",
                    "for x in 1 2; do read y; mark $y; done",
                ]);
                format!("{writer} {} {reader}", self.pick(&["|", "|&"]))
            }
            28 => {
                let code = self.quoted_inline();
                format!("bash -c {code} {}", self.words(3))
            }
            29 => format!(
                "(exec {} {})",
                self.pick(&["mark", "-a q mark", "mk", "-c mark", "bash -c 'mark \"$@\"' q"]),
                self.words(2)
            ),
            30 => format!(
                "{} {}",
                self.pick(&[
                    "while read x; do mark \"$x\"; done < <(",
                    "source <(",
                    "bash <(",
                    "read x y < <(",
                    "mark <(",
                    ": >(",
                    "echo mark t > >(bash); : <(",
                    "mapfile -t arr < <("
                ]),
                format_args!("{}\n)", self.list(1))
            ),
            31 => format!(
                "{}\n}}{}",
                format_args!("{{ {}", self.list(1)),
                self.pick(&[" & wait", " &", " & wait $!"])
            ),
            32 => format!(
                "coproc {}; wait",
                self.pick(&[
                    "mark co",
                    "{ mark co2; }",
                    "NAME { read x; mark \"$x\"; }",
                    "{ echo mark c; } && read -u ${COPROC[0]} x && mark \"$x\""
                ])
            ),
            _ => format!(
                "shopt -s expand_aliases\nalias {}\n{} {}",
                self.pick(&[
                    "al='mark al'",
                    "al=mark",
                    "al='mark '",
                    "al2='al t'",
                    "al='x=1 mark'",
                    "al='mark a; mark b'",
                    "al='for x in 1 2; do mark'"
                ]),
                self.pick(&["al", "al2", "\\al", "al al", "'al'", "x=2 al", "al2 al"]),
                self.words(2)
            ),
        }
    }
}
