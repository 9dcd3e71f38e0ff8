//! Laws for any text: nothing panics, acts are inside the text, added text removes no acts, hostile text ends within
//! its work.
use castellan_event::{Role, Why};
use castellan_languages::{Language, Reading, Start, What, Work, read, read_within};
use proptest::prelude::*;

fn reading(language: Language, text: &str) -> Reading {
    read(language, text, &Start::default())
}

/// Parts of programs of all languages, right and wrong.
const WORDS: &[&str] = &[
    "import os\n",
    "os",
    ".system",
    "(",
    ")",
    "'id'",
    "x",
    " = ",
    "[",
    "]",
    "{",
    "}",
    ":",
    "\n",
    "\n    ",
    "def f(a, *b, **c):",
    "return ",
    "for i in x:",
    "while x:",
    "if x:",
    "else:",
    "try:",
    "except E as e:",
    "with open('x') as f:",
    "class A:",
    "lambda y: y",
    "yield ",
    "await ",
    "async ",
    "exec",
    "eval",
    "getattr",
    "f'{x}'",
    "b'\\xff'",
    "'%s' % x",
    "+",
    "-1",
    "[::-1]",
    "**",
    "*x",
    "and ",
    " or ",
    "@x\n",
    "global x\n",
    "match x:",
    "case [a, b]:",
    "(x := 1)",
    "const ",
    "let ",
    "var ",
    "require('fs')",
    ".unlinkSync",
    "=>",
    "function g() {",
    "`${x}`",
    "...x",
    "new ",
    "this",
    ".constructor",
    "?.",
    "??",
    ";",
    ",",
    "1e9",
    "0x10",
    "/a/",
    "// c\n",
    "# c\n",
    "é",
    "\u{0}",
    "\"",
    "'",
    "switch (x) {",
    "case 1:",
    "break",
    "import x from 'fs'\n",
    "export default ",
    "delete ",
    "__builtins__",
    "globals()",
    "chr(97)",
    ".join(x)",
    ".append(x)",
    ".push(x)",
    "$x",
    "@x",
    "%x",
    "my ",
    "my ($x, @y) = @_;",
    "sub f {",
    "->",
    "->{x}",
    "->[0]",
    "@{$x}",
    "s/a/b/e;",
    "tr/a-z/b/;",
    "qw(a b)",
    "`id $x`",
    "<<A\nx\nA\n",
    "open(F, $x)",
    "for my $y (@x) {",
    "map { $_ } ",
    "local $_",
    "package P;",
    "use File::Path;",
    "eval {",
    "\\",
    "do |a, b|\n",
    "end\n",
    "{ |y| ",
    "def m(a, *b, c: 1, &d)\n",
    "yield x",
    "#{x}",
    ":sym",
    "&:to_s",
    "@y = ",
    "send(:x, y)",
    "class B < C\n",
    "<<~A\n  x\nA\n",
    "begin\n",
    "rescue => e\n",
    "case x\nwhen 1\n",
    "%w[a b]",
    "require 'fileutils'\n",
    "<?php ",
    "?>",
    "$$x",
    "${'x'}",
    "->f",
    "::g",
    "`ls $x`",
    "<<<E\n",
    "\nE;\n",
    "include 'x';\n",
    "function f(&$x, ...$y) {",
    "foreach ($x as $k => &$v) ",
    "fn($x) => ",
    "namespace A;\n",
    "use A\\{B, C as D};\n",
    "match($x) { ",
    "call_user_func",
    "Remove-Item ",
    "-Recurse ",
    "$x = ",
    "$env:X ",
    "@{ a = ",
    "@'\n",
    "\n'@\n",
    " | % { $_ }",
    "& { ",
    "[IO.File]::",
    "[char]65",
    "\"$(x)\"",
    "`",
    "param($p)",
    " -f ",
    " > y ",
    "<# ",
    "#>",
    "elseif (x) {",
    "foreach ($i in ",
    "iex ",
    "--% ",
    "%X%",
    "%%i",
    "%~dp0",
    "!X:a=b!",
    "set X=",
    "set /p \"X=",
    "for %%i in (",
    "for /f \"tokens=1\" %%i in ('",
    ") do ",
    "if exist x ",
    "del /s/q ",
    "^",
    "goto x\n",
    " & ",
    " || ",
    "> nul ",
    "call :x ",
    "rem ",
];

fn program() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_text_is_read(text in program()) {
        for language in Language::ALL {
            let read = reading(*language, &text);
            for act in &read.acts {
                prop_assert!(text.get(act.span.clone()).is_some(), "an act outside of the text");
            }
            prop_assert_eq!(&read, &reading(*language, &text), "read twice, and differently");
        }
    }

    #[test]
    fn any_characters_are_read(text in ".{0,200}") {
        for language in Language::ALL {
            reading(*language, &text);
        }
    }

    #[test]
    fn what_is_added_takes_nothing_away(first in 0..PYTHON.len(), second in 0..PYTHON.len(), language in 0..4_usize) {
        let (language, statements) = [
            (Language::Python, PYTHON),
            (Language::JavaScript, JAVASCRIPT),
            (Language::Perl, PERL),
            (Language::Ruby, RUBY),
        ][language];
        let (first, second) = (statements[first % statements.len()], statements[second % statements.len()]);
        let both = reading(language, &format!("{first}\n{second}\n"));
        for act in reading(language, first).acts {
            prop_assert!(both.acts.iter().any(|one| one.what == act.what), "{:?} is lost before {}", act.what, second);
        }
    }
}

/// Statements that do not depend on each other.
const PYTHON: &[&str] = &[
    "import os; os.remove('a')",
    "open('b', 'w')",
    "import subprocess; subprocess.run(['c', 'd'])",
    "def e(x):\n    open(x)",
    "class F:\n    def g(self):\n        eval(self.h)",
    "for i in range(3):\n    print(i)",
    "import unknown_module; unknown_module.x()",
    "exec(input())",
    "x = [1, 2]; x.append(3)",
    "try:\n    import json\nexcept ImportError:\n    pass",
];

const PERL: &[&str] = &[
    "unlink 'a';",
    "open(my $b, '>', 'b');",
    "system('c', 'd');",
    "sub e { open(my $f, '<', $_[0]) }",
    "package F; sub g { eval $_[0]{h} } package main;",
    "for my $i (1..3) { print $i }",
    "require Unknown::Module;",
    "eval <STDIN>;",
    "my @x = (1, 2); push @x, 3;",
    "my $y = `id`; $y =~ s/a/b/;",
];

const RUBY: &[&str] = &[
    "File.delete('a')",
    "File.open('b', 'w')",
    "system('c', 'd')",
    "def e(x); File.read(x); end",
    "class F; def g; eval(@h); end; end",
    "3.times { |i| puts i }",
    "require 'unknown-module'",
    "eval(gets)",
    "x = [1, 2]; x << 3",
    "y = `id`; y.sub!('a', 'b')",
];

const JAVASCRIPT: &[&str] = &[
    "require('fs').unlinkSync('a');",
    "fetch('http://b');",
    "require('child_process').spawn('c', ['d']);",
    "function e(x) { require('fs').readFileSync(x) }",
    "class F { g() { eval(this.h) } }",
    "for (let i = 0; i < 3; i++) console.log(i);",
    "require('unknown-module')();",
    "eval(process.argv[9]);",
    "var x = [1, 2]; x.push(3);",
    "try { JSON.parse('x') } catch (e) {}",
];

fn hostile_texts() -> Vec<String> {
    let deep = |open: &str, close: &str, count: usize| open.repeat(count) + "x" + &close.repeat(count);
    vec![
        deep("(", ")", 30_000),
        deep("[", "]", 30_000),
        deep("{", "}", 30_000),
        deep("f(", ")", 20_000),
        deep("(", "", 60_000),
        "[".repeat(60_000),
        "x.y".to_owned() + &".y".repeat(30_000),
        "x".to_owned() + &"()".repeat(30_000),
        "x = x + x\n".repeat(6_000),
        "x=1".to_owned() + &"+1".repeat(30_000),
        "not ".repeat(15_000) + "x",
        "x = 'a'\n".to_owned() + &"x = x + x\n".repeat(500),
        "x = []\n".to_owned() + &"x.append(x)\n".repeat(5_000) + "open(x)",
        "x = ['a']\n".to_owned() + &"x = x + x\n".repeat(500) + "open(x)",
        "def f(x):\n    f(x)\n    f(x)\n    f(x)\nf(1)\n".to_owned(),
        (0..60).map(|n| format!("def f{n}():\n    f{m}()\n    f{m}()\n", m = n + 1)).collect::<String>() + "f0()",
        (0..400).map(|n| format!("{}for i in x:\n", " ".repeat(n))).collect::<String>(),
        "for i in x:\n for j in x:\n  for k in x:\n   for l in x:\n    for m in x:\n     for n in x:\n      x = i + j + k + l + m + n\n".to_owned(),
        "\" ' ( [ { def class => function ` ".repeat(2_000),
        "{ ( [ \n".repeat(8_000),
        "a b ".repeat(15_000),
        "function f() {".repeat(4_000),
        "if (x) {} else ".repeat(4_000) + "{}",
        "if x:\n pass\n".to_owned() + &"elif x:\n pass\n".repeat(4_000),
        "`${".repeat(10_000),
        "x => ".repeat(12_000) + "1",
        "exec('exec(\\'x\\')')\n".repeat(2_000),
        "class A:\n".to_owned() + &" def f(self): self.f()\n".repeat(2_000),
        "os.system('a' 'b')\n".repeat(3_000),
        "import os\n".to_owned() + &"os.system('a' + x)\n".repeat(3_000),
        "<!--".repeat(16_000),
        "/".repeat(60_000),
        "# c\n".repeat(15_000),
        "\n".repeat(60_000),
        "  # c\n\n".repeat(8_000),
        "// c\n".repeat(12_000),
        "[x ".to_owned() + &"for x in y ".repeat(5_000) + "]",
        "\\\n".repeat(30_000),
        "\u{0}".repeat(60_000),
        "=".repeat(60_000),
        "f'{".repeat(20_000),
        "f'{x!r:{y}}' ".repeat(4_000),
        "@x\n".repeat(20_000) + "def f(): pass",
        "lambda: ".repeat(8_000) + "x",
        "x[".repeat(30_000),
        "x if x else ".repeat(5_000) + "x",
        "async ".repeat(10_000),
        "a[b += ".repeat(100) + "1" + &"] += 1".repeat(100),
        "++".repeat(100) + "a",
        "a = []\nb = []\nif q: c = a\nelse: c = b\na.append(c)\nb.append(c)\nprint(lambda: c, a, b)\n".to_owned(),
        "x = input\nfor i in range(500):\n  for j in range(500):\n    x = x.y\nprint(x)\n#".to_owned() + &"#".repeat(60_000),
        "var a = ".repeat(8_000),
        "<?php ".repeat(10_000),
        "-".repeat(60_000),
        "(".repeat(60) + "x" + &".a += 1)".repeat(60),
        "$a[".repeat(100) + &"] .= 1".repeat(100),
        "<<A+".repeat(1_000) + "1",
        "?><?= $x ?>".repeat(6_000),
        "<<<A\n".repeat(13_000),
        "\"{$x[".repeat(10_000),
        "$x = <<<A\n $y\nA;\n".repeat(3_000),
        "$".repeat(60_000) + "x;",
        "$a = ['x']; $b = [$a, $a];\n".to_owned() + &"$a = [$b, $b]; $b = [$a, $a];\n".repeat(1_000),
        "$x->y()".to_owned() + &"->y()".repeat(10_000),
        "namespace A { ".repeat(4_000),
        "class A extends B {}\n".repeat(3_000),
        (0..1_500).map(|n| format!("class A{n} extends A{m} {{}}\n", m = n + 1)).collect::<String>(),
    ]
}

/// Bytes of a hostile text. For a longer text of Lua or Perl only the end of the helper process bounds the time: tree-sitter
/// takes seconds for 64 KiB (`docs/parsers.md`).
fn hostile_bytes(language: Language) -> usize {
    let is_slow = matches!(language, Language::Lua | Language::Perl);
    // `<?php ` is added before it.
    if is_slow { 2 << 10 } else { (64 << 10) - 16 }
}

/// Long, deep or wrong texts: reading each reaches the end, or reports that it did not.
#[test]
fn hostile_texts_end() {
    for text in &hostile_texts() {
        for language in Language::ALL {
            let start = std::time::Instant::now();
            let part = text.get(..hostile_bytes(*language).min(text.len())).expect("ASCII");
            let read = reading(*language, part);
            if std::env::var_os("TIMES").is_some() {
                let begin: String = text.chars().take(20).collect();
                println!("{language} {begin:?} {} acts {:?}", read.acts.len(), start.elapsed());
            }
            assert!(read.acts.len() <= 2_000, "{} acts", read.acts.len());
        }
    }
}

#[test]
fn a_long_text_is_a_hole() {
    for language in Language::ALL {
        let read = reading(*language, &"x = 1\n".repeat(20_000));
        let holes: Vec<&What> = read.acts.iter().map(|act| &act.what).collect();
        assert!(
            matches!(holes.as_slice(), [What::Hole { role: Role::Code, why: Why::Size, .. }]),
            "{holes:?}"
        );
    }
}

fn is_over_budget(read: &Reading) -> bool {
    read.acts.iter().any(|act| matches!(act.what, What::Hole { role: Role::Code, why: Why::Budget, .. }))
}

/// In a here-document, Perl's scanner waits for the end of a line and does not notice the end of the text. So each text gets
/// a last newline.
#[test]
fn a_here_document_that_does_not_end_is_read() {
    let text = r##"await await sub f {Remove-Item @{$x}function f(&$x, ...$y) {@y = ]@x ||  = é[IO.File]::require('fs')\<<<E
for /f "tokens=1" %%i in (']](yield x->s/a/b/e;require 'fileutils'
.systemf'{x}'case x
when 1
match($x) { "##;
    for text in [text, "<<E;\n$x", "print <<~E;\n  @{[ 1", "<<E\n@{[ x\nE"] {
        assert!(!reading(Language::Perl, text).acts.is_empty(), "{text:?}");
    }
}

/// The maximum cost of all programs of a call (`WORK_MAX`). The run pays for a step before the step.
const WORK_MAX: u64 = 100_000;

/// The amount by which parsing alone may exceed it. A hand-written reader checks its budget after each look. A look
/// covers at most the whole text, at 16 bytes a unit (`READER_BYTES_PER_WORK`). Then the reader ends the open levels
/// (`TREE_DEPTH_MAX`), with at most eight nodes of one unit each. A call of a grammar's parser costs less: 150 units.
const BEYOND_MAX: u64 = (64 << 10) / 16 + 8 * 120;

/// Repeats every token of a language and every hostile part up to the size limit: work must end at its limit.
/// `castellan-bench-facts --programs` measures that a unit takes about the same time everywhere.
#[test]
fn hostile_texts_end_within_their_work() {
    let mut beyond = Vec::new();
    for language in Language::ALL {
        let tokens = castellan_corpus::program_tokens(language.as_str());
        assert!(tokens.len() > 80, "{language} has {} tokens", tokens.len());
        let lines = tokens.iter().map(|token| format!("{token}\n"));
        for part in castellan_corpus::hostile_parts().into_iter().chain(lines) {
            let text = part.repeat(hostile_bytes(*language) / part.len());
            let mut work = Work::default();
            read_within(*language, &text, &Start::default(), &mut work);
            if work.spent() > WORK_MAX + BEYOND_MAX {
                beyond.push((language, part, work.spent()));
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:?}");
}

/// Programs with a step that costs more than the work that is left: the step does not run, so the limit holds. Lists
/// that double, names that change in nested loops, copies of a long list.
#[test]
fn no_step_goes_beyond_what_is_left() {
    let nested: String = (0..12).map(|depth| format!("{}for i in y:\n", " ".repeat(depth))).collect();
    let body: String = (0..2_000).map(|n| format!("{}a{n} = i\n", " ".repeat(12))).collect();
    let texts = [
        (Language::Python, "x = ['a']\n".to_owned() + &"x = x + x\n".repeat(40)),
        (Language::JavaScript, "let x = ['a'];\n".to_owned() + &"x = [...x, ...x];\n".repeat(40)),
        (Language::Ruby, "x = ['a']\n".to_owned() + &"x = x + x\n".repeat(40)),
        (Language::Python, nested + &body),
        (Language::Batch, "for /r\n".repeat(9_000)),
    ];
    for (language, text) in texts {
        let begin: String = text.chars().take(20).collect();
        let mut work = Work::default();
        for _ in 0..8 {
            let read = read_within(language, &text, &Start::default(), &mut work);
            assert!(is_over_budget(&read), "{language} {begin:?} took only {}", work.spent());
        }
        // The last programs only have one parser call left.
        let most = WORK_MAX + 8 * 2 * 125;
        assert!(work.spent() <= most, "{language} {begin:?} took {}", work.spent());
    }
}

/// Programs that share their work cost no more together than one program alone.
#[test]
fn work_is_shared() {
    let text = "...delete ,==+++".repeat(400);
    let mut work = Work::default();
    let mut over = 0;
    for _ in 0..32 {
        let before = work.left();
        let read = read_within(Language::Lua, &text, &Start::default(), &mut work);
        over += usize::from(is_over_budget(&read));
        assert!(work.left() < before || before == 0);
    }
    assert!(over > 0 && work.left() == 0, "{over} of 32 were over, {} units are left", work.left());
    let after = read_within(Language::Python, "print(1)", &Start::default(), &mut work);
    assert!(is_over_budget(&after), "{:?}", after.acts);
}
