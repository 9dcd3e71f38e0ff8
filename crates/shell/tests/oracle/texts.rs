//! Random shell texts. Every choice of 0 is the simplest. They end by themselves, write in their own directory only, and name
//! no program but the marker and bash.

use crate::draws::Draws;

/// Levels of constructs in constructs.
const DEPTH_MAX: usize = 4;
/// Pieces of one text.
const FUEL: usize = 40;

pub(crate) fn text(draws: &mut Draws) -> String {
    let mut texts = Texts { draws, depth: 0, fuel: FUEL, labels: 0 };
    let count = 1 + texts.draws.below(5);
    let lines: Vec<String> = (0..count).map(|_| texts.statement()).collect();
    lines.join("\n")
}

struct Texts<'d> {
    draws: &'d mut Draws,
    depth: usize,
    fuel: usize,
    labels: usize,
}

const NAMES: &[&str] = &["x", "y", "z", "arr", "i", "n", "ref", "map"];
const SCALARS: &[&str] = &["x", "y", "z", "i", "n"];
const LITERALS: &[&str] = &[
    "a", "b", "foo", "-n", "--opt=v", "a.b", "1", "07", "x=1", "mark", "a:b", "%", "@x", "+", "-", "_", "[",
    "]", "}", "{", "a#b", "é", "10", "0x1f", ",", "a,b", "=", "Ab", "^", "\\a", "sub",
];
const SINGLES: &[&str] = &[
    "a b", "", "$x", "*", "a  b ", "mark q", "\\n", "\"", "x;y", "~", "{a,b}", "a\tb", "a\nb", "a:b:c", "-e",
    "`x`", "é ü",
];
const ANSI: &[&str] = &[
    "a\\tb",
    "\\x41b",
    "\\'",
    "\\u00e9",
    "\\101",
    "a b",
    "\\n",
    "\\e",
    "\\cA",
    "\\\\",
    "\\x6d\\x61rk",
    "\\q",
];
const GLOBS: &[&str] = &[
    "*.txt", "a?.txt", "[ab]*", "*", "sub/*", "no*pe", "a[1-2].*", "[!a]*", "*/a1*", ".*", "?.md", "s[u]b",
    "a1.txt*",
];
const BRACES: &[&str] = &[
    "{a,b}",
    "a{1..3}b",
    "{a..c}",
    "{1..10..3}",
    "{a,b{c,d}}",
    "{a}",
    "x{,y}",
    "{01..3}",
    "{c..a}",
    "{a,$x}",
    "{a,\"b c\"}",
    "{3..1}",
    "{a,b}{c,d}",
    "{-1..1}",
    "${x}{1,2}",
    "{a,b",
    "a,b}",
    "{,}",
    "{a\\,b,c}",
    "{x..}",
    "{'a,b',c}",
    "{1..2}{a,b}",
    "{5..1..2}",
];
const PATTERNS: &[&str] = &[
    "a",
    "*",
    "?",
    "a*",
    "*b",
    "[a-c]",
    "[!a]",
    "",
    " ",
    "'*'",
    "\\*",
    "\"$y\"",
    "$y",
    "*[ab]",
    "[[:upper:]]",
    "o",
    "a?",
    ".",
];
const ARITHMETIC: &[&str] = &[
    "1+2", "i++", "++i", "i+=2", "x", "n*2", "i<3", "1?2:3", "2**3", "7/2", "7%3", "(1+2)*3", "i=5", "0x10",
    "010", "2#101", "!i", "~0", "-3", "1<<3", "i,n", "arr[1]", "$x", "${#x}", "i==0||n", "i&&n", "5>3",
    "i--", "--n", "-7/2", "-7%3", "1|6", "5^1", "arr[0]=4", "y", "1,2", "n=i=3", "i=n++", "10#08",
];

impl Texts<'_> {
    fn pick<'t>(&mut self, among: &[&'t str]) -> &'t str {
        self.draws.pick(among)
    }

    fn deeper(&mut self, make: impl FnOnce(&mut Self) -> String, otherwise: &str) -> String {
        if self.depth >= DEPTH_MAX || self.fuel == 0 {
            return otherwise.to_owned();
        }
        self.depth += 1;
        self.fuel -= 1;
        let made = make(self);
        self.depth -= 1;
        made
    }

    fn word(&mut self) -> String {
        match self.draws.below(18) {
            0..=2 => self.pick(LITERALS).to_owned(),
            3 => format!("'{}'", self.pick(SINGLES)),
            4 => self.double(),
            5 => format!("$'{}'", self.pick(ANSI)),
            6 => self
                .pick(&[
                    "a\\ b",
                    "\\*",
                    "\\$x",
                    "\\~",
                    "\\\\",
                    "m\\ark",
                    "a\\\nb",
                    "\\{a,b\\}",
                    "\\'",
                    "\\\"",
                ])
                .to_owned(),
            7..=9 => self.parameter(false),
            10 => self.substitution(),
            11 => format!("$(({}))", self.pick(ARITHMETIC)),
            12 => self.pick(BRACES).to_owned(),
            13 => self
                .pick(&["~", "~/a", "a~", "\"~\"", "~+", "x=~", "~/", "a:~", "~\"\"/a", "--p=~"])
                .to_owned(),
            14 => self.pick(GLOBS).to_owned(),
            15 | 16 => self.deeper(
                |texts| {
                    let first = texts.word();
                    format!("{first}{}", texts.word())
                },
                "a",
            ),
            _ => self
                .pick(&[
                    "$\"a b\"",
                    "$",
                    "\"\"",
                    "''",
                    "\"$\"",
                    "'a'\"b\"c",
                    "m\"a\"rk",
                    "#a",
                    "a'b c'd",
                    "\"'\"",
                    "!",
                    "$'a'$x",
                ])
                .to_owned(),
        }
    }

    fn words(&mut self, most: usize) -> String {
        let count = self.draws.below(most + 1);
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn double(&mut self) -> String {
        let count = self.draws.below(4);
        let mut text = String::from("\"");
        for _ in 0..count {
            let part = match self.draws.below(8) {
                0 => self
                    .pick(&[
                        "a", "b c", " ", "\\\"", "\\$", "\\\\", "'", "*", "~", "\\a", "\\`", "{a,b}", "\n",
                        "é",
                    ])
                    .to_owned(),
                1..=3 => self.parameter(true),
                4 => self.substitution(),
                5 => format!("$(({}))", self.pick(ARITHMETIC)),
                _ => self.pick(&["$@", "$*", "$#", "${arr[@]}", "${arr[*]}", "$1", "$?"]).to_owned(),
            };
            text.push_str(&part);
        }
        text.push('"');
        text
    }

    fn parameter(&mut self, quoted: bool) -> String {
        let name = self.pick(NAMES);
        let subject = match self.draws.below(10) {
            0..=4 => name.to_owned(),
            5 => self
                .pick(&["arr[1]", "arr[0]", "arr[-1]", "arr[i]", "map[k]", "map[$x]", "arr[$i]", "arr[i+1]"])
                .to_owned(),
            6 => self.pick(&["arr[@]", "arr[*]", "map[@]", "x[@]"]).to_owned(),
            7 => self.pick(&["@", "*"]).to_owned(),
            8 => self.pick(&["1", "2", "3", "0"]).to_owned(),
            _ => self.pick(&["!ref", "!x", "!arr[@]", "!arr[0]", "!map[@]"]).to_owned(),
        };
        let simple = subject.chars().all(|one| one.is_ascii_alphanumeric());
        match self.draws.below(16) {
            0..=3 if simple => format!("${subject}"),
            0..=4 => format!("${{{subject}}}"),
            5 | 6 => {
                let operator = self.pick(&[":-", "-", ":+", "+", ":=", "="]);
                let word = self.deeper(|texts| if quoted { texts.inner_quoted() } else { texts.word() }, "d");
                format!("${{{subject}{operator}{word}}}")
            }
            7 | 8 => {
                let operator = self.pick(&["#", "%", "##", "%%"]);
                format!("${{{subject}{operator}{}}}", self.pick(PATTERNS))
            }
            9 | 10 => {
                let operator = self.pick(&["/", "//", "/#", "/%"]);
                let pattern = self.pick(PATTERNS);
                let replacement = self.pick(&[
                    "",
                    "/",
                    "/Z",
                    "/a b",
                    "/$y",
                    "/\"$y\"",
                    "/&",
                    "/\\&",
                    "/'q r'",
                    "/~",
                    "/$(echo s)",
                ]);
                format!("${{{subject}{operator}{pattern}{replacement}}}")
            }
            11 => format!(
                "${{{subject}{}}}",
                self.pick(&[
                    "^", ",", "^^", ",,", "^^[ab]", ",,[A]", "@U", "@L", "@u", "@Q", "@E", "@A", "@a", "@P",
                    "@K"
                ])
            ),
            12 | 13 => format!(
                "${{{subject}:{}}}",
                self.pick(&[
                    "1", "0:1", " -1", "1:1", "0", "2", " -2:1", "1: -1", "i", "i:n", "(-1)", "$i", "1:$i",
                    "::1", "0:0", "9"
                ])
            ),
            14 if simple || subject.contains("arr") => format!("${{#{}}}", subject.trim_start_matches('!')),
            _ => format!("${{{subject}}}"),
        }
    }

    /// What stands in `"${x:-here}"`.
    fn inner_quoted(&mut self) -> String {
        match self.draws.below(7) {
            0 => self.pick(&["a", "a b", "", "*", "~", "'q'", "\\\"", "{a,b}"]).to_owned(),
            1 | 2 => self.parameter(true),
            3 => format!("\"{}\"", self.pick(&["a b", "", "$x", "$@"])),
            4 => self.substitution(),
            _ => self.pick(&["$x", "$@", "${arr[@]}", "$*"]).to_owned(),
        }
    }

    fn substitution(&mut self) -> String {
        match self.draws.below(12) {
            0 | 1 => format!("$(echo {})", self.words(2)),
            2 => self
                .pick(&[
                    "`echo a b`",
                    "`echo \\$x`",
                    "`echo \"$x\"`",
                    "`mark bt`",
                    "`echo \\`echo n\\``",
                    "`echo \\\\$x`",
                    "`echo '\\$x'`",
                ])
                .to_owned(),
            3 | 4 => {
                let format = self.pick(&[
                    "'%s\\n'",
                    "%s",
                    "'%s '",
                    "'%5s|'",
                    "'a\\tb'",
                    "'%d'",
                    "'%x'",
                    "'%b'",
                    "'%q'",
                    "'%s-%s.'",
                    "'%-4s|'",
                    "'%03d'",
                    "'%c'",
                    "'%.2s'",
                    "'\\n\\n'",
                    "'%%'",
                    "'\\x41'",
                    "'%i '",
                    "-- %s",
                    "'%s\\n\\n'",
                ]);
                format!("$(printf {format} {})", self.words(3))
            }
            5 => format!(
                "$(echo -e {})",
                self.pick(&["'a\\tb'", "'a\\nb'", "'a\\cb'", "'\\x41'", "'\\0101'", "'\\101'", "'a\\\\b'"])
            ),
            6 => format!("$(echo -n {})", self.words(2)),
            7..=9 => {
                let list = self.deeper(|texts| texts.list(2), "echo a");
                format!("$({list}\n)")
            }
            10 => self
                .pick(&[
                    "$(<a1.txt)",
                    "$(type -t f)",
                    "$(pwd)",
                    "$(declare -p x)",
                    "$(command -v f)",
                    "$(echo $RANDOM)",
                    "$(declare -f f)",
                    "$(alias)",
                    "$(set)",
                    "$(trap)",
                    "$(times)",
                ])
                .to_owned(),
            _ => format!("$(echo {} | {{ read x; echo \"<$x>\"; }})", self.words(2)),
        }
    }

    fn list(&mut self, most: usize) -> String {
        let count = 1 + self.draws.below(most);
        (0..count).map(|_| self.statement()).collect::<Vec<_>>().join("\n")
    }

    /// Statements on one line, where a newline would not do.
    fn inline(&mut self) -> String {
        let count = 1 + self.draws.below(2);
        (0..count).map(|_| self.simple()).collect::<Vec<_>>().join("; ")
    }

    fn simple(&mut self) -> String {
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

    fn name(&mut self) -> String {
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

    fn assignment(&mut self) -> String {
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

    #[expect(clippy::too_many_lines, reason = "one arm for each form: a table")]
    fn builtin(&mut self) -> String {
        match self.draws.below(34) {
            0 => format!("set -- {}", self.words(4)),
            1 => self.pick(&["shift", "shift 2", "shift 0", "shift 9"]).to_owned(),
            2 => format!(
                "read {} <<<{}",
                self.pick(&[
                    "x", "-r x", "x y", "-r x y z", "-a arr", "-d : x", "-n 1 x", "", "-ra arr", "-p q x",
                    "-N 2 x"
                ]),
                self.word()
            ),
            3 => format!(
                "printf -v {} {} {}",
                self.pick(&["x", "y", "arr[1]"]),
                self.pick(&["%s", "'%s-'", "%d", "'%q'", "'%5s'", "a"]),
                self.words(2)
            ),
            4 => format!("(({}))", self.pick(ARITHMETIC)),
            5 => format!("let {}", self.pick(&["i=1", "i++", "'i = 2'", "n=i+1 i=3", "x=5"])),
            6 => self
                .pick(&[
                    "IFS=:",
                    "IFS=",
                    "IFS=$' \\t\\n'",
                    "unset IFS",
                    "IFS=a",
                    "IFS=' '",
                    "IFS=' :'",
                    "IFS=,",
                ])
                .to_owned(),
            7 => format!(
                "declare {} {}",
                self.pick(&[
                    "-l", "-u", "-i", "-r", "-x", "-a", "-c", "-t", "-g", "-lx", "+i", "-ia", "-n", "-gi"
                ]),
                self.pick(&["q=Ab", "x=AbC", "i=1+2", "x", "y=x", "arr=(A b)", "i", "n=i", "ref=x", "x+=q"])
            ),
            8 => self
                .pick(&[
                    "declare -n ref=x",
                    "declare -n ref=arr",
                    "unset -n ref",
                    "ref=z",
                    "declare -n ref=arr[1]",
                    "declare -n ref",
                    "ref=q",
                    "local -n ref=x",
                    "typeset -n ref=y",
                ])
                .to_owned(),
            9 => format!(
                "export {}",
                self.pick(&[
                    "x",
                    "x=1",
                    "y=\"a b\"",
                    "-n x",
                    "x y",
                    "x=$y",
                    "x=a y=$x",
                    "\"x=a b\"",
                    "x=~",
                    "-f f",
                    "x=$y$y"
                ])
            ),
            10 => self
                .pick(&[
                    "unset x",
                    "unset arr",
                    "unset 'arr[0]'",
                    "unset -v y",
                    "unset -f f",
                    "unset f",
                    "unset 'arr[-1]'",
                    "unset x y",
                    "unset 'map[k]'",
                    "unset ref",
                ])
                .to_owned(),
            11 => self
                .pick(&[
                    "cd sub",
                    "cd ./sub",
                    "cd sub && cd ..",
                    "pushd sub",
                    "pushd sub; popd",
                    "cd sub; cd -",
                    "cd \"$PWD\"",
                    "cd sub/..",
                    "cd -P sub",
                    "cd -- sub",
                    "cd ~; cd -",
                    "CDPATH=sub; cd sub; CDPATH=",
                ])
                .to_owned(),
            12 => self
                .pick(&[
                    "set -f",
                    "set +f",
                    "set -o noglob",
                    "set -e",
                    "set +e",
                    "set -u",
                    "set -a",
                    "set -o pipefail",
                    "set -B",
                    "set +B",
                    "set -k",
                    "set -n",
                    "set -x",
                    "set -o posix",
                    "set -t",
                    "set +o noglob",
                    "set -efu",
                ])
                .to_owned(),
            13 => format!(
                "shopt {} {}",
                self.pick(&["-s", "-u"]),
                self.pick(&[
                    "nullglob",
                    "dotglob",
                    "nocaseglob",
                    "extglob",
                    "failglob",
                    "globstar",
                    "lastpipe",
                    "expand_aliases",
                    "inherit_errexit",
                    "nocasematch",
                    "sourcepath",
                    "assoc_expand_once",
                    "localvar_inherit",
                    "xpg_echo",
                    "compat44",
                    "patsub_replacement",
                    "execfail",
                    "interactive_comments"
                ])
            ),
            14 => format!(
                "alias {}",
                self.pick(&[
                    "al=mark",
                    "al='mark a'",
                    "al='mark '",
                    "al2='al b'",
                    "f='mark aliased'",
                    "echo='mark e'",
                    "al='mark a;'",
                    "x='mark x'",
                    "mark='mark m'",
                    "al='mark $x'",
                    "al='mark \"'",
                    "al='if true; then mark t; fi'",
                    "al='f() { mark alf; }; f'"
                ])
            ),
            15 => self.pick(&["unalias al", "unalias -a", "\\unalias al2"]).to_owned(),
            16 => self
                .pick(&[
                    "hash -p \"${BASH%/*}/nosuch\" mk",
                    "hash -r",
                    "hash -p ./nosuch q",
                    "hash mark",
                    "hash -d mark",
                ])
                .to_owned(),
            17 => self
                .pick(&[
                    "true",
                    "false",
                    ":",
                    "return",
                    "exit",
                    "exit 3",
                    "break",
                    "continue",
                    "return 1",
                    "break 2",
                    "continue 2",
                    "logout",
                ])
                .to_owned(),
            18 => format!("test {}", self.condition()),
            19 => format!("[[ {} ]]", self.double_condition()),
            20 => format!("eval {}", self.eval_text()),
            21 => self
                .pick(&[
                    "mapfile -t arr <a1.txt",
                    "mapfile -t arr <<<$'a\\nb'",
                    "readarray arr <<<a",
                    "mapfile -t -C 'mark cb' -c 1 arr <<<$'a\\nb'",
                    "mapfile -d : -t arr <<<a:b",
                    "mapfile -t -n 1 arr <<<$'a\\nb'",
                    "mapfile -t -s 1 arr <<<$'a\\nb'",
                    "mapfile -t -O 2 arr <<<z",
                    "mapfile -t <<<q",
                ])
                .to_owned(),
            22 => self
                .pick(&[
                    "getopts ab: x -a",
                    "getopts a x",
                    "getopts ab: x -b v; y=$OPTARG",
                    "while getopts ab: x; do mark $x $OPTARG; done",
                ])
                .to_owned(),
            23 => format!(
                "trap {} {}",
                self.quoted_inline(),
                self.pick(&["EXIT", "0", "EXIT", "DEBUG", "ERR", "RETURN", "USR1", "- EXIT", "exit"])
            ),
            24 => self.pick(&["trap - EXIT", "trap '' EXIT", "trap EXIT", "trap - DEBUG"]).to_owned(),
            25 => self
                .pick(&[
                    "enable -n echo",
                    "enable echo",
                    "builtin echo a",
                    "type mark",
                    "wait",
                    "umask 022",
                    "times",
                    "caller",
                    "jobs",
                    "help :",
                    "history",
                    "enable -n printf",
                    "enable -n eval",
                    "enable -n test",
                    "enable -n cd",
                    "enable -n command",
                ])
                .to_owned(),
            26 => self
                .pick(&[
                    "local x=l",
                    "local x",
                    "local -a arr=(l m)",
                    "local y=$x",
                    "local x=1 y=$x",
                    "local -i i=2+3",
                    "local - ; set -f",
                    "local -I x",
                    "local IFS=:",
                    "local -n ref=y",
                    "local i",
                    "local -A map=([k]=loc)",
                    "local arr",
                ])
                .to_owned(),
            27 => self
                .pick(&[
                    "source <(echo mark sourced)",
                    ". <(echo 'mark \"$@\"') p q",
                    "source /dev/stdin <<<'mark src'",
                    ". ./b.md",
                    "echo 'mark written' >w.sh; . ./w.sh",
                    "source a1.txt",
                    "echo 'mark by bash' >w.sh; bash w.sh",
                    "echo mark w >w.sh; bash <w.sh",
                    ". /dev/fd/0 <<<'mark fd0; return; mark no'",
                    "source <(echo 'x=sourced; set -- s t')",
                    "echo 'mark e' >e.sh; BASH_ENV=./e.sh bash -c :",
                ])
                .to_owned(),
            28 => self
                .pick(&["readonly x", "readonly x=r", "readonly -a arr", "declare -r y=3", "readonly n i"])
                .to_owned(),
            29 => self
                .pick(&[
                    "exec 3<a1.txt; read x <&3",
                    "exec 3<<<'l1'; read x <&3",
                    "exec 3>out.txt; echo a >&3",
                    "exec {fd}<a1.txt; read -u $fd x",
                    "exec 4<&0",
                    "exec 5< <(echo mark p5); . /dev/fd/5",
                    "exec 0<<<'mark stdin'; bash",
                    "exec <<<'a b'; read x y",
                    "exec >out.txt",
                    "exec 3>&-",
                ])
                .to_owned(),
            30 => self
                .pick(&[
                    "x=$((i++))",
                    "i=$i$i",
                    "x=$x$y",
                    "x+=$x",
                    "arr=(\"${arr[@]}\" z)",
                    "arr=(\"${arr[@]:1}\")",
                    "set -- \"$@\" t",
                    "set -- \"${@:2}\"",
                    "x=${x%?}",
                    "x=\"${arr[*]}\"",
                    "y=x; eval \"$y=ev\"",
                    "y=x; x=via; declare -n ref=$y",
                    "export x; bash -c 'mark $x'",
                    "x=${x:-$y}",
                    "i=$((i+1))",
                    "unset x; : ${x:=def}",
                ])
                .to_owned(),
            31 => self
                .pick(&[
                    "eval \"$(declare -p x)\"",
                    "eval \"$(declare -f f)\"; f",
                    "eval \"x=$y\"",
                    "eval x='$y'",
                    "eval \"set -- $x\"",
                    "eval 'mark $x' $y",
                    "eval \"mark ${x@Q}\"",
                    "eval \"arr=($x)\"",
                    "printf -v x '%q ' a 'b c'; eval \"mark $x\"",
                    "eval \"$(echo 'mark e1; mark e2')\"",
                    "eval $(printf 'mark %s;' a b)",
                    "eval mark '\"$@\"'",
                ])
                .to_owned(),
            32 => self
                .pick(&[
                    "command_not_found_handle() { mark nf \"$@\"; }; nosuch a",
                    "nosuch b c",
                    "command nosuch d",
                    "unset -f command_not_found_handle",
                ])
                .to_owned(),
            _ => self
                .pick(&[
                    "mark \"${FUNCNAME[0]}\"",
                    "mark $LINENO",
                    "mark $0",
                    "mark \"$-\"",
                    "mark $BASH_VERSION",
                    "mark $_",
                    "mark \"${PIPESTATUS[@]}\"",
                    "mark $UID",
                    "mark \"$IFS\"",
                    "mark ${!x*}",
                    "mark $PWD",
                    "mark $HOME",
                    "mark $OPTIND",
                    "mark ${BASH_SOURCE[0]}",
                    "mark $SHLVL",
                    "mark $REPLY",
                    "mark ${PATH:+p}",
                    "mark $BASH_SUBSHELL",
                    "mark $OLDPWD",
                    "mark $DIRSTACK",
                    "mark ${SHELLOPTS:0:2}",
                    "mark $OSTYPE",
                    "mark $GROUPS",
                    "mark $HOSTNAME",
                    "mark $PS4",
                    "mark $TERM",
                    "mark ${BASH_REMATCH[0]}",
                    "mark $MAPFILE",
                    "mark $COPROC",
                    "mark $EUID",
                    "mark \"${BASH_ARGV0}\"",
                    "mark $OPTERR",
                    "mark $MACHTYPE",
                ])
                .to_owned(),
        }
    }

    fn condition(&mut self) -> String {
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

    fn double_condition(&mut self) -> String {
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

    fn eval_text(&mut self) -> String {
        match self.draws.below(5) {
            0 | 1 => self.quoted_inline(),
            2 => format!("\"mark $x\" {}", self.words(2)),
            3 => format!("mark {}", self.words(3)),
            _ => "'mark \"$x\"; x=evaled'".to_owned(),
        }
    }

    /// Commands as one quoted word.
    fn quoted_inline(&mut self) -> String {
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

    fn statement(&mut self) -> String {
        if self.fuel == 0 || self.depth >= DEPTH_MAX {
            return self.simple();
        }
        match self.draws.below(34) {
            0..=11 => self.simple(),
            kind => self.deeper(|texts| texts.compound(kind), "mark"),
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each form: a table")]
    fn compound(&mut self, kind: usize) -> String {
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
                // A function that calls itself ends at the limit of nesting, and takes long to.
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
