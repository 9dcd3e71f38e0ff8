//! Shell texts from a number: sentences of the grammar, sequences of tokens, and texts of a collection, some of them
//! changed in a few places. Equal numbers give equal texts.

/// A generator of numbers, with the texts that it changes.
pub(crate) struct Generator<'t> {
    state: u64,
    seeds: &'t [String],
}

/// Pieces with a meaning in some shell.
pub(crate) const TOKENS: &[&str] = &[
    "a",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "(",
    ")",
    "{ ",
    "; }",
    "{",
    "}",
    "$(",
    "${",
    "`",
    "\\`",
    "\"",
    "'",
    "$'",
    "\\",
    "<<E\n",
    "E\n",
    "\nE\n",
    "<<-E\n",
    "<<'E'\n",
    "\t",
    ">",
    ">>",
    "<",
    "<(",
    "$((",
    "((",
    "))",
    "[[ ",
    " ]]",
    "if ",
    "; then ",
    "; fi",
    "else ",
    "elif ",
    "case x in ",
    ") ",
    ";;",
    ";&",
    " esac",
    "for x in ",
    "for ((",
    "while ",
    "until ",
    "; do ",
    "; done",
    "x=",
    "x=(",
    "x[",
    "]",
    "export ",
    "#",
    " #",
    "$x",
    "${x:-",
    "${x/",
    "${x#",
    "${x:",
    "${#",
    "${!",
    "/",
    "!",
    "! ",
    "time ",
    "é",
    "\r",
    "*",
    "{a,b}",
    "2>&1",
    "&>",
    "|&",
    "\\\n",
    "f()",
    "f() ",
    "function ",
    "coproc ",
    "=~ ",
    "== ",
    "-n ",
    "$[",
    "${(e)",
    "=(",
    "*(",
    "@(",
    "!(",
    "${ ",
    "${|",
    "[",
    "+=",
    ":",
    "?",
    "@",
    "-",
    "=",
    "$",
    "1",
    "in ",
    "do ",
    "done",
    "then ",
    "fi",
    "select ",
    "repeat 2 ",
    "always ",
    "foreach ",
    "end",
    "namespace ",
    "<<<",
    "<&-",
    "{x}>",
    "$\"",
    "~",
    "^",
    ",",
    "%",
    "<>",
    ">|",
    "&!",
    "typeset ",
    ";|",
    "-f ",
    "<-> ",
];

impl<'t> Generator<'t> {
    pub(crate) fn new(seed: u64, seeds: &'t [String]) -> Generator<'t> {
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D;
        let mut made = Generator { state, seeds };
        made.below(2);
        made
    }

    fn below(&mut self, count: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % count.max(1)
    }

    fn of(&mut self, all: &[&'static str]) -> &'static str {
        let at = self.below(all.len());
        all.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn text(&mut self) -> String {
        let mut text = match self.below(8) {
            0 => (0..2 + self.below(14)).map(|_| self.of(TOKENS)).collect(),
            1 | 2 if !self.seeds.is_empty() => {
                let at = self.below(self.seeds.len());
                self.seeds.get(at).cloned().unwrap_or_default()
            }
            _ => self.list(3),
        };
        for _ in 0..self.below(4) {
            self.change(&mut text);
        }
        text
    }

    /// Removes, inserts or repeats a piece.
    fn change(&mut self, text: &mut String) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let at = self.below(places.len());
        let end = (at + self.below(3)).min(places.len() - 1);
        let (Some(from), Some(to)) = (places.get(at).copied(), places.get(end).copied()) else { return };
        match self.below(6) {
            0 | 1 => text.replace_range(from..to, ""),
            2 | 3 => text.insert_str(from, self.of(TOKENS)),
            4 => text.replace_range(from..to, self.of(TOKENS)),
            _ => text.truncate(from),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for number in 0..1 + self.below(2) {
            if number > 0 {
                text.push_str(self.of(&["; ", "\n", " & ", " && ", " || ", " | ", " |& ", " # c\n"]));
            }
            text.push_str(&self.command(depth));
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let inner = depth - 1;
        let text = match self.below(36) {
            0 => format!("if {}; then {}; fi", self.list(inner), self.list(inner)),
            1 => format!("if {}; then {}; else {}; fi", self.list(inner), self.list(inner), self.list(inner)),
            2 => format!(
                "{} {}; do {}; done",
                self.of(&["while", "until"]),
                self.list(inner),
                self.list(inner)
            ),
            3 => format!("for x in {} {}; do {}; done", self.word(inner), self.word(inner), self.list(inner)),
            4 => format!("for x{}do {}; done", self.of(&["; ", "\n", " "]), self.list(inner)),
            5 => format!(
                "case {} in {}) {};; ({}|{}) {}; esac",
                self.word(inner),
                self.word(inner),
                self.list(inner),
                self.word(inner),
                self.word(inner),
                self.list(inner)
            ),
            6 => format!(
                "case {} in\n{}){}{}esac",
                self.word(inner),
                self.word(inner),
                self.list(inner),
                self.of(&["\n", ";;", ";&\n", ";;& ", "; ;; ", ";| "])
            ),
            7 => format!("({})", self.list(inner)),
            8 => format!("{{ {}; }}", self.list(inner)),
            9 => format!("{{ {} }}", self.list(inner)),
            10 => format!("f{}{{ {}; }}", self.of(&["() ", " () ", "()\n", "()"]), self.list(inner)),
            11 => format!("function f{}{{ {}; }}", self.of(&[" ", "() ", "\n"]), self.list(inner)),
            12 => format!("[[ {} ]]", self.test(inner)),
            13 => format!("(({}))", self.expression(inner)),
            14 => format!(
                "for (({};{};{})){}do {}; done",
                self.expression(inner),
                self.expression(inner),
                self.expression(inner),
                self.of(&[" ", "; ", "\n"]),
                self.list(inner)
            ),
            15 => format!("select x in {}; do {}; done", self.word(inner), self.list(inner)),
            16 => format!("coproc {}", self.command(inner)),
            17 => format!("{}{}", self.of(&["time ", "! ", "time -p ", "! ! "]), self.command(inner)),
            18 => format!("f() {}", self.command(inner)),
            19 => format!(
                "cat {}{}\n{}\nE\n",
                self.of(&["<<E", "<<'E'", "<<-E", "<<\\E"]),
                self.of(&["", " | a", " >b", "; c"]),
                self.word(inner)
            ),
            20 => self.zsh_command(inner),
            21 => self.ksh_command(inner),
            22 => format!("for x in {}; {{ {}; }}", self.word(inner), self.list(inner)),
            _ => return self.simple(depth),
        };
        if self.below(6) == 0 { format!("{text} {}", self.redirect(inner)) } else { text }
    }

    fn zsh_command(&mut self, depth: usize) -> String {
        match self.below(10) {
            0 => format!("for x ({} {}) {}", self.word(depth), self.word(depth), self.command(depth)),
            1 => format!("foreach x ({}) {}; end", self.word(depth), self.list(depth)),
            2 => format!("repeat {} {}", self.word(depth), self.command(depth)),
            3 => format!(
                "if [[ {} ]] {{ {} }} else {{ {} }}",
                self.test(depth),
                self.list(depth),
                self.list(depth)
            ),
            4 => format!("{{ {} }} always {{ {} }}", self.list(depth), self.list(depth)),
            5 => format!("() {{ {} }} {}", self.list(depth), self.word(depth)),
            6 => format!("while [[ {} ]] {{ {} }}", self.test(depth), self.list(depth)),
            7 => format!("for x y in {}; do {}; done", self.word(depth), self.list(depth)),
            8 => format!("case {} {{ {}) {} }}", self.word(depth), self.word(depth), self.list(depth)),
            _ => format!("f g () {{ {} }}", self.list(depth)),
        }
    }

    fn ksh_command(&mut self, depth: usize) -> String {
        match self.below(5) {
            0 => format!("namespace x {{ {}; }}", self.list(depth)),
            1 => format!("x=(a={} b=({}))", self.word(depth), self.word(depth)),
            2 => format!("x=(({}) ({}))", self.word(depth), self.word(depth)),
            3 => format!("x.y={} {}", self.word(depth), self.simple(depth)),
            _ => format!("typeset x=(typeset -i a={})", self.word(depth)),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.below(5) == 0 {
            text.push_str(&self.assignment(depth));
            text.push(' ');
        }
        text.push_str(self.of(&[
            "a",
            "echo",
            "export",
            "declare",
            "typeset -a",
            "local",
            "readonly",
            "\\a",
            "'a'",
            "[",
            "let",
            "eval",
        ]));
        for _ in 0..self.below(4) {
            text.push(' ');
            let piece = match self.below(8) {
                0 => self.redirect(depth),
                1 => self.assignment(depth),
                _ => self.word(depth),
            };
            text.push_str(&piece);
        }
        text
    }

    fn assignment(&mut self, depth: usize) -> String {
        match self.below(7) {
            0 => format!("x+={}", self.word(depth)),
            1 => format!("x=({} {})", self.word(depth), self.word(depth)),
            2 => format!("x[{}]={}", self.expression(depth), self.word(depth)),
            3 => format!("x=([{}]={})", self.word(depth), self.word(depth)),
            4 => "x=".to_owned(),
            _ => format!("x={}", self.word(depth)),
        }
    }

    fn redirect(&mut self, depth: usize) -> String {
        let sign = self.of(&[
            "> ", ">>", "<", "2>", "<>", ">|", "2>&1 >", "<&", ">&", "&>", "&>>", "<<<", "{x}>", "12<", ">!",
            "{x[1]}>",
        ]);
        format!("{sign}{}", self.word(depth))
    }

    fn word(&mut self, depth: usize) -> String {
        let text = if depth == 0 { self.leaf() } else { self.part(depth - 1) };
        if self.below(5) == 0 { text + &self.leaf() } else { text }
    }

    fn leaf(&mut self) -> String {
        self.of(&[
            "a", "b", "-c", "'a b'", "\"a b\"", "$x", "${x}", "\"$x\"", "\\;", "\\\\", "~", "*", "?",
            "[a-c]", "{a,b}", "{1..3}", "$1", "$@", "\"$@\"", "$#", "$?", "${#x}", "${x[1]}", "${x[@]}",
            "${!x}", "${x%%*}", "$'a\\n'", "$\"a\"", "#a", "a#b", "if", "do", "}", "{", "!", "é", "=a",
            "a=b", "1", "%", "^", "@", "+", "$", "a\\\nb", "${x,,}", "${x@Q}", "${(f)x}", "$x[1]", "${x:t}",
            "*(.)", "<1-3>", "@(a|b)", "!(a)", "a(b|c)", "=(a)", "[[", "]]", "''", "\"\"", "${x^}", "in",
            "=",
        ])
        .to_owned()
    }

    fn part(&mut self, depth: usize) -> String {
        match self.below(20) {
            0 => format!("$({})", self.list(depth)),
            1 => format!("\"$({})\"", self.list(depth)),
            2 => format!("`{}`", self.leaf()),
            3 => format!("$(({}))", self.expression(depth)),
            4 => format!(
                "${{x{}{}}}",
                self.of(&[":-", "-", ":=", "+", ":?", "#", "##", "%", "%%", "^", ",,"]),
                self.word(depth)
            ),
            5 => format!(
                "\"${{x{}{}}}\"",
                self.of(&[":-", "-", ":=", "+", ":?", "#", "##", "%", "%%"]),
                self.word(depth)
            ),
            6 => format!(
                "${{x{}{}/{}}}",
                self.of(&["/", "//", "/#", "/%"]),
                self.word(depth),
                self.word(depth)
            ),
            7 => format!("${{x:{}:{}}}", self.expression(depth), self.expression(depth)),
            8 => format!("<({})", self.list(depth)),
            9 => format!("${{x[{}]}}", self.expression(depth)),
            10 => format!("$[{}]", self.expression(depth)),
            11 => format!("\"a{}b\"", self.word(depth).replace('"', "")),
            12 => format!("$({}\n)", self.command(depth)),
            _ => self.leaf(),
        }
    }

    fn test(&mut self, depth: usize) -> String {
        let sign = self.of(&["=", "==", "!=", "=~", "-eq", "<", ">", "-nt", "&&", "||"]);
        match self.below(7) {
            0 => format!("{} {}", self.of(&["-n", "-z", "-f", "-v", "!", "-e"]), self.word(depth)),
            1 if depth > 0 => format!("( {} )", self.test(depth - 1)),
            2 if depth > 0 => {
                format!("{} {} {}", self.test(depth - 1), self.of(&["&&", "||"]), self.test(depth - 1))
            }
            3 => self.word(depth),
            _ => format!("{} {sign} {}", self.word(depth), self.word(depth)),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.of(&["1", "x", "x++", "", "$x", "x[1]", "-1", "16#ff", "x = 2"]).to_owned();
        }
        match self.below(8) {
            0 => format!("({})", self.expression(depth - 1)),
            1 => format!("{} + {}", self.expression(depth - 1), self.expression(depth - 1)),
            2 => format!("x ? {} : {}", self.expression(depth - 1), self.expression(depth - 1)),
            3 => format!("$(({}))", self.expression(depth - 1)),
            4 => format!("$({})", self.simple(depth - 1)),
            5 => format!("x << {}", self.expression(depth - 1)),
            _ => self.expression(0),
        }
    }
}
