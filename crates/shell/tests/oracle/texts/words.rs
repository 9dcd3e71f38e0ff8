//! Words: quotes, expansions, patterns, substitutions.

use super::{ARITHMETIC, NAMES, PATTERNS, Texts};

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

impl Texts<'_> {
    pub(super) fn word(&mut self) -> String {
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

    pub(super) fn words(&mut self, most: usize) -> String {
        let count = self.draws.below(most + 1);
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn double(&mut self) -> String {
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

    pub(super) fn parameter(&mut self, quoted: bool) -> String {
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

    /// Text inside `"${x:-here}"`.
    pub(super) fn inner_quoted(&mut self) -> String {
        match self.draws.below(7) {
            0 => self.pick(&["a", "a b", "", "*", "~", "'q'", "\\\"", "{a,b}"]).to_owned(),
            1 | 2 => self.parameter(true),
            3 => format!("\"{}\"", self.pick(&["a b", "", "$x", "$@"])),
            4 => self.substitution(),
            _ => self.pick(&["$x", "$@", "${arr[@]}", "$*"]).to_owned(),
        }
    }

    pub(super) fn substitution(&mut self) -> String {
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
}
