//! Simple commands: all marker names, assignments, redirects, and lists of commands.

use super::{NAMES, SCALARS, Texts};

impl Texts<'_> {
    pub(super) fn list(&mut self, most: usize) -> String {
        let count = 1 + self.draws.below(most);
        (0..count).map(|_| self.statement()).collect::<Vec<_>>().join("\n")
    }

    /// Statements on one line, for places without newlines.
    pub(super) fn inline(&mut self) -> String {
        let count = 1 + self.draws.below(2);
        (0..count).map(|_| self.simple()).collect::<Vec<_>>().join("; ")
    }

    pub(super) fn simple(&mut self) -> String {
        match self.draws.below(14) {
            0..=5 => format!("{} {}", self.name(), self.words(3)),
            6 | 7 => self.assignment(),
            8 => format!("echo {}", self.words(3)),
            9 => format!("{} {}", self.pick(&["f", "g", "h"]), self.words(2)),
            10 => {
                let assignment = format!("{}={}", self.pick(SCALARS), self.word());
                format!("{assignment} {} {}", self.name(), self.words(2))
            }
            11 => {
                let redirect = self.pick(&[
                    ">out.txt",
                    "2>&1",
                    "</dev/null",
                    ">>log.txt",
                    "2>/dev/null",
                    "<a1.txt",
                    ">&2",
                    "<<<\"$x\"",
                    "3>&1",
                    "&>out.txt",
                    "<<<'a b'",
                ]);
                format!("{} {} {redirect}", self.name(), self.words(2))
            }
            _ => self.builtin(),
        }
    }

    pub(super) fn name(&mut self) -> String {
        match self.draws.below(16) {
            0..=8 => "mark".to_owned(),
            9 => self
                .pick(&[
                    "mk",
                    "\"mark\"",
                    "m\\ark",
                    "'mark'",
                    "ma''rk",
                    "\\mark",
                    "$'\\x6dark'",
                    "m{ar,}k",
                    "\"\"mark",
                ])
                .to_owned(),
            10 => self
                .pick(&[
                    "command mark",
                    "command -p mark",
                    "builtin eval mark",
                    "eval mark",
                    "command -- mark",
                    "command eval mark",
                    "builtin command mark",
                    "command command mark",
                    "eval -- mark",
                ])
                .to_owned(),
            11 => self
                .pick(&[
                    "m=mark; $m",
                    "$(echo mark)",
                    "${m:-mark}",
                    "`echo mark`",
                    "{mark,q}",
                    "set -- mark; \"$@\"",
                    "$x",
                    "\"${arr[@]}\"",
                    "k=rk; ma$k",
                ])
                .to_owned(),
            12 => self.pick(&["al", "time mark", "! mark", "time -p mark", "! ! mark", "al2"]).to_owned(),
            13 => self
                .pick(&[
                    "bash -c 'mark \"$0\" \"$@\"'",
                    "bash -c 'mark in \"$@\"' zero",
                    "bash -ec 'mark $#; mark \"$*\"'",
                    "bash -s <<<'mark \"$@\"'",
                ])
                .to_owned(),
            14 => {
                self.pick(&["nosuch", "exec -a q mark", "\"$m\" mark", "$unset mark", "$'' mark"]).to_owned()
            }
            _ => "mark".to_owned(),
        }
    }

    pub(super) fn assignment(&mut self) -> String {
        match self.draws.below(12) {
            0..=3 => format!("{}={}", self.pick(SCALARS), self.word()),
            4 => format!("{}+={}", self.pick(NAMES), self.word()),
            5 | 6 => format!("arr=({})", self.words(4)),
            7 => format!("arr[{}]={}", self.pick(&["0", "1", "i", "$i", "i+1", "5", "-1"]), self.word()),
            8 => format!("arr+=({})", self.words(2)),
            9 => format!("arr=([{}]={} {})", self.pick(&["2", "0", "i"]), self.word(), self.words(2)),
            10 => format!("declare -A map=([k]={} [a]={})", self.word(), self.word()),
            _ => format!("x={} y={}", self.word(), self.word()),
        }
    }
}
