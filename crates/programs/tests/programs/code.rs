//! Tests of effects of code in little languages: `language text => effects`, in `code.cases`. `$X` is an unknown part,
//! `⏎` is a newline.
use castellan_event::Why;
use castellan_programs::{Arg, Does, Piece, code};

fn argument(text: &str) -> Arg {
    let mut pieces = Vec::new();
    for (number, part) in text.split("$X").enumerate() {
        if number > 0 {
            pieces.push(Piece::Unknown { why: Why::Variable, written: "$X".into() });
        }
        pieces.push(Piece::Text(part.into()));
    }
    Arg::from_pieces(pieces, false)
}

fn dump(does: &Does) -> String {
    match does {
        Does::Shell(text) => format!("shell[{}]", text.written()),
        Does::Read(path) => format!("read[{}]", path.written()),
        Does::Write(path) => format!("write[{}]", path.written()),
        Does::Execute(path) => format!("execute[{}]", path.written()),
        Does::Unknown { why, text } => format!("unknown[{why} {text}]"),
    }
}

#[test]
fn code_does_what_its_text_tells() {
    let cases = include_str!("code.cases");
    let cases = cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wrong = String::new();
    for case in cases {
        let (input, expected) = case.rsplit_once(" =>").unwrap();
        let (language, text) = input.split_once(' ').unwrap();
        let does = code(language, &argument(&text.replace('⏎', "\n"))).unwrap();
        let got = does.iter().map(dump).collect::<Vec<_>>().join("; ").replace('\n', "⏎");
        if got != expected.trim() {
            wrong.push_str(&format!("{input} => {got}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(code("python", &argument("x")), None);
}

#[test]
fn long_code_is_not_read() {
    let text = "s/a/b/;".repeat(20_000);
    let does = code("sed", &argument(&text)).unwrap();
    assert!(matches!(does.as_slice(), [Does::Unknown { why: Why::Size, .. }]));
}

#[test]
fn many_commands_are_not_all_read() {
    let does = code("ex", &argument(&"g/x/".repeat(1_000))).unwrap();
    assert!(matches!(does.as_slice(), [Does::Unknown { why: Why::Budget, .. }]));
}

#[test]
fn anything_is_read_without_a_panic() {
    let words = [
        "s/", "/", "e", "w", " ", "\n", "\\", "{", "}", "\"", "|", "getline", "system(", ")", "print", ">",
        "é", "$", "!", ",", "1", "'", "\u{e000}", "a", "[", "]", ";", "#", "y", "g/", "norm", ":", "%", "x",
    ];
    let mut number = 7_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..12 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(words[usize::try_from(number >> 33).unwrap() % words.len()]);
        }
        for language in ["awk", "dc", "ex", "sed"] {
            code(language, &Arg::known(text.clone())).unwrap();
        }
    }
}

#[test]
fn only_an_expansion_of_arithmetic_is_a_number_of_sed() {
    let does = |written: &str| {
        let number = Piece::Unknown { why: Why::Arithmetic, written: written.into() };
        let pieces = [Piece::Text("1,".into()), number, Piece::Text("p".into())];
        code("sed", &Arg::from_pieces(pieces, false)).unwrap()
    };
    assert_eq!(does("$((x + 1))"), []);
    // The variable may hold `1e rm -rf ~;`.
    assert!(matches!(does("$x").as_slice(), [Does::Unknown { .. }]));
}
