//! Unusual shell text: every token of the grammar nested in and repeated beside every other. A case is a number, so
//! that a failing text can be made again. Must not depend on the use of the text.

/// Openers with their closers, and single words with a meaning in the shell.
const TOKENS: &[(&str, &str)] = &[
    ("$(", ")"),
    ("( ", " )"),
    ("{ ", "; }"),
    ("{ a; ", "}\n"),
    ("${a:-", "}"),
    ("\"${a:-", "}\""),
    ("${a:=x", "}"),
    ("${a/", "/b}"),
    ("${a//x/", "}"),
    ("${a#", "}"),
    ("${a%%", "}"),
    ("${a^^", "}"),
    ("${a~", "}"),
    ("${a[", "]}"),
    ("${!a", "}"),
    ("${!a[@]", "}"),
    ("${#a", "}"),
    ("${a:1:", "}"),
    ("${a@Q", "}"),
    ("${ ", "; }"),
    ("${| ", "; }"),
    ("$((", "))"),
    ("$(( 1 + ", " ))"),
    ("$(( $(", " ) ))"),
    ("(( ", " ))"),
    ("(( (", ") ))"),
    ("$[", "]"),
    ("`", "`"),
    ("\\`", "\\`"),
    ("\"$(", ")\""),
    ("\"", "\""),
    ("'", "'"),
    ("$'", "'"),
    ("$\"", "\""),
    ("\\", ""),
    ("\\\n", ""),
    ("<( ", ")"),
    (">( ", ")"),
    ("[[ ( ", " ) ]]"),
    ("[[ a =~ ", " ]]"),
    ("[[ ! ", " ]]"),
    ("[[ a == ", " && b ]]"),
    ("if a; then ", "; fi"),
    ("if ", "; then a; fi"),
    ("if a; then b; elif ", "; then c; else d; fi"),
    ("while a; do ", "; done"),
    ("until ", "; do a; done"),
    ("for i in a; do ", "; done"),
    ("for i in ", "; do a; done"),
    ("for ((a; b; ", ")); do c; done"),
    ("select i in a; do ", "; done"),
    ("case a in b) ", ";; esac"),
    ("case ", " in b) a;; esac"),
    ("case a in ", ") b;& esac"),
    ("case x in ?(", ") b;; esac"),
    ("f() { ", "; }"),
    ("f() ( ", " )"),
    ("function f { ", "; }"),
    ("{a,", "}"),
    ("{1..", "}"),
    ("@(", ")"),
    ("!(a|", ")"),
    ("*(", ")"),
    ("[", "]"),
    ("a[", "]=b "),
    ("a=(", ")"),
    ("a+=([x]=", ")"),
    ("a=", " "),
    ("declare a=(", ")"),
    ("local a=", ""),
    ("export ", ""),
    ("time ", ""),
    ("time -p ! ", ""),
    ("coproc ", ""),
    ("coproc a { ", "; }"),
    ("! ", ""),
    ("a && ", ""),
    ("a || { ", "; }"),
    ("a | ", ""),
    ("a |& ", ""),
    ("a & ", ""),
    ("a; ", ""),
    ("a\n", ""),
    (">a ", ""),
    ("2>&1 ", ""),
    ("{a}<&- ", ""),
    ("&>>a ", ""),
    ("<<<", " "),
    ("<<E ", ""),
    ("<<E\n", "\nE\n"),
    ("<<-'E'\n", "\n\tE\n"),
    ("cat <<E\n$(", "\n)\nE\n"),
    ("bash -c '", "'"),
    ("eval \"", "\""),
    ("alias a='", "'; a"),
    ("trap '", "' EXIT;"),
    ("set -- ", ";"),
    ("read a <<< ", ";"),
    ("printf %s ", " | sh"),
    ("xargs ", ""),
    ("env a=b ", ""),
    ("find . -exec ", " \\;"),
    ("$a", ""),
    ("\"$a\" ", ""),
    ("\"$@\" ", ""),
    ("${a}", ""),
    ("$1", ""),
    ("~/", ""),
    ("# ", "\n"),
    ("a ", ""),
    ("ä€", ""),
    (";", ""),
    (";;", ""),
    ("&", ""),
    ("|", ""),
    (")", ""),
    ("}", ""),
    ("]]", ""),
    ("do ", ""),
    ("fi ", ""),
    ("=", ""),
    ("-", ""),
    ("?", ""),
    ("*", ""),
    (",", ""),
    ("\t", ""),
    ("\r\n", ""),
    ("1", ""),
    ("$", ""),
    ("\0", ""),
];

/// The ways to combine two tokens.
const FAMILIES: &[(&str, Family)] = &[
    ("both nested", Family::Nested),
    ("the first, then the other nested", Family::InOne),
    ("both repeated", Family::Flat),
    ("closed and repeated", Family::Closed),
    ("the other repeated in the first", Family::FlatInOne),
    ("any tokens", Family::Random),
];

#[derive(Debug, Clone, Copy)]
enum Family {
    Nested,
    InOne,
    Flat,
    Closed,
    FlatInOne,
    Random,
}

/// A text made from the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nesting {
    /// The way in which it is made.
    pub family: &'static str,
    /// Its tokens, for people.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Returns the text of a case, at most `bytes` long. Each number below [`NESTINGS`] gives another text.
pub fn nesting(case: usize, bytes: usize) -> Nesting {
    // Neighbours in the table are similar, so the order is mixed. A partial run then covers all parts of the table.
    let mixed = case.wrapping_mul(STRIDE) % NESTINGS;
    let (family, made) = FAMILIES.get(mixed % FAMILIES.len()).copied().unwrap_or(("", Family::Random));
    let pair = mixed / FAMILIES.len();
    let one = TOKENS.get(pair / TOKENS.len()).copied().unwrap_or_default();
    let other = TOKENS.get(pair % TOKENS.len()).copied().unwrap_or_default();
    let both = one.0.len() + one.1.len() + other.0.len() + other.1.len();
    let times = bytes / both.max(1);
    let rest = bytes.saturating_sub(both + 1) / (other.0.len() + other.1.len()).max(1);
    let text = match made {
        Family::Nested => {
            format!(
                "{}a{}",
                format!("{}{}", one.0, other.0).repeat(times),
                format!("{}{}", other.1, one.1).repeat(times)
            )
        }
        Family::InOne => format!("{}{}a{}{}", one.0, other.0.repeat(rest), other.1.repeat(rest), one.1),
        Family::Flat => format!("{}{}", one.0, other.0).repeat(times),
        Family::Closed => format!("{}a{}{}a{}", one.0, one.1, other.0, other.1).repeat(bytes / (both + 2)),
        Family::FlatInOne => {
            format!("{}{}{}", one.0, format!("{}a{}", other.0, other.1).repeat(rest / 2), one.1)
        }
        Family::Random => random(case, bytes),
    };
    Nesting { family, name: format!("`{}` and `{}`", one.0.escape_debug(), other.0.escape_debug()), text }
}

/// The number of cases.
pub const NESTINGS: usize = TOKENS.len() * TOKENS.len() * FAMILIES.len();

/// A prime, larger than any of the factors of [`NESTINGS`].
const STRIDE: usize = 7919;

/// Returns a few different tokens in any order, because repetition causes the cost.
fn random(seed: usize, bytes: usize) -> String {
    let mut state = seed as u64 ^ 0x9E37_79B9_7F4A_7C15;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let few: Vec<(&str, &str)> =
        (0..2 + next(6)).filter_map(|_| TOKENS.get(next(TOKENS.len())).copied()).collect();
    let mut text = String::new();
    let mut closers = Vec::new();
    while text.len() + 16 < bytes {
        let Some(&(open, close)) = few.get(next(few.len())) else { break };
        text.push_str(open);
        closers.push(close);
        if next(3) == 0 {
            text.push_str(closers.pop().unwrap_or_default());
        }
    }
    text
}
