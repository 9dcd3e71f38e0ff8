//! Commands of ex and vim (`:` commands), by the manual of Vim 9.0: the files that they read and write, and the code
//! that they run. A command outside the table is not known.

use castellan_event::Why;

use super::{Found, is_stream};
use crate::limits::COMMANDS_MAX;

/// The effect of a command on its argument.
#[derive(Clone, Copy)]
enum Acts {
    /// No effect outside of the edited text; the commands after a bar are scanned.
    Nothing,
    /// No effect; a bar belongs to the argument.
    Rest,
    Read,
    Write,
    Source,
    Shell,
    /// The argument is another command, after a pattern between delimiters.
    Global,
    /// The argument is an expression or keys that may do anything.
    Anything,
}

/// Names, with optional letters in brackets.
const COMMANDS: &[(&str, Acts)] = &[
    ("abc[lear]", Acts::Nothing),
    ("ar[gs]", Acts::Read),
    ("arga[dd]", Acts::Read),
    ("argd[o]", Acts::Anything),
    ("bd[elete]", Acts::Nothing),
    ("b[uffer]", Acts::Nothing),
    ("bn[ext]", Acts::Nothing),
    ("bufd[o]", Acts::Anything),
    ("bw[ipeout]", Acts::Nothing),
    ("cal[l]", Acts::Anything),
    ("cd", Acts::Anything),
    ("cl[ist]", Acts::Nothing),
    ("clo[se]", Acts::Nothing),
    ("cn[ext]", Acts::Nothing),
    ("colo[rscheme]", Acts::Nothing),
    ("cop[y]", Acts::Nothing),
    ("co", Acts::Nothing),
    ("cq[uit]", Acts::Nothing),
    ("d[elete]", Acts::Nothing),
    ("diffs[plit]", Acts::Read),
    ("dif[fupdate]", Acts::Nothing),
    ("difft[his]", Acts::Nothing),
    ("ec[ho]", Acts::Anything),
    ("e[dit]", Acts::Read),
    ("ene[w]", Acts::Nothing),
    ("exe[cute]", Acts::Anything),
    ("exi[t]", Acts::Write),
    ("f[ile]", Acts::Nothing),
    ("filet[ype]", Acts::Nothing),
    ("fin[d]", Acts::Read),
    ("fir[st]", Acts::Nothing),
    ("fo[ld]", Acts::Nothing),
    ("g[lobal]", Acts::Global),
    ("gr[ep]", Acts::Anything),
    ("h[elp]", Acts::Nothing),
    ("ha[rdcopy]", Acts::Anything),
    ("hi[ghlight]", Acts::Nothing),
    ("j[oin]", Acts::Nothing),
    ("k", Acts::Nothing),
    ("la[st]", Acts::Nothing),
    ("lc[d]", Acts::Anything),
    ("le[ft]", Acts::Nothing),
    ("let", Acts::Anything),
    ("ls", Acts::Nothing),
    ("lua", Acts::Anything),
    ("mak[e]", Acts::Anything),
    ("ma[rk]", Acts::Nothing),
    ("marks", Acts::Nothing),
    ("m[ove]", Acts::Nothing),
    ("new", Acts::Read),
    ("n[ext]", Acts::Nothing),
    ("noh[lsearch]", Acts::Nothing),
    ("norm[al]", Acts::Anything),
    ("nu[mber]", Acts::Nothing),
    ("on[ly]", Acts::Nothing),
    ("o[pen]", Acts::Read),
    ("perl", Acts::Anything),
    ("p[rint]", Acts::Nothing),
    ("pu[t]", Acts::Anything),
    ("pw[d]", Acts::Nothing),
    ("py[thon]", Acts::Anything),
    ("py3", Acts::Anything),
    ("qa[ll]", Acts::Nothing),
    ("q[uit]", Acts::Nothing),
    ("quita[ll]", Acts::Nothing),
    ("r[ead]", Acts::Read),
    ("rec[over]", Acts::Read),
    ("red[o]", Acts::Nothing),
    ("redi[r]", Acts::Anything),
    ("reg[isters]", Acts::Nothing),
    ("ret[ab]", Acts::Nothing),
    ("ri[ght]", Acts::Nothing),
    ("ruby", Acts::Anything),
    ("ru[ntime]", Acts::Anything),
    ("sav[eas]", Acts::Write),
    ("se[t]", Acts::Anything),
    ("setf[iletype]", Acts::Nothing),
    ("setl[ocal]", Acts::Anything),
    ("sh[ell]", Acts::Anything),
    ("sor[t]", Acts::Rest),
    ("so[urce]", Acts::Source),
    ("sp[lit]", Acts::Read),
    ("s[ubstitute]", Acts::Anything),
    ("sy[ntax]", Acts::Nothing),
    ("tabe[dit]", Acts::Read),
    ("tabnew", Acts::Read),
    ("ter[minal]", Acts::Shell),
    ("u[ndo]", Acts::Nothing),
    ("undoj[oin]", Acts::Nothing),
    ("up[date]", Acts::Write),
    ("ve[rsion]", Acts::Nothing),
    ("v[global]", Acts::Global),
    ("vie[w]", Acts::Read),
    ("vi[sual]", Acts::Read),
    ("vs[plit]", Acts::Read),
    ("wa[ll]", Acts::Nothing),
    ("w[rite]", Acts::Write),
    ("wn[ext]", Acts::Write),
    ("wqa[ll]", Acts::Nothing),
    ("wq", Acts::Write),
    ("xa[ll]", Acts::Nothing),
    ("x[it]", Acts::Write),
    ("y[ank]", Acts::Nothing),
    ("z", Acts::Nothing),
    ("t", Acts::Nothing),
    (">", Acts::Nothing),
    ("<", Acts::Nothing),
    ("=", Acts::Nothing),
    ("&", Acts::Nothing),
    ("&&", Acts::Nothing),
    ("ce[nter]", Acts::Nothing),
];

/// Settings that name a program or code.
const SETTINGS: &[&str] = &[
    "sh=",
    "shell=",
    "shcf=",
    "shellcmdflag=",
    "prg=",
    "expr=",
    "func=",
    "exrc",
    "verbosefile=",
    "vfile=",
    "rtp",
    "runtimepath",
];

/// Words before a command that change only its manner.
const MODIFIERS: &[&str] = &[
    "silent",
    "sil",
    "keepjumps",
    "keeppatterns",
    "keepp",
    "noautocmd",
    "noa",
    "verbose",
    "vert",
    "vertical",
    "tab",
    "lockmarks",
    "confirm",
];

pub(super) fn scan(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut rest = Some(text);
    for _ in 0..COMMANDS_MAX {
        let Some(text) = rest else { return found };
        rest = command(text, &mut found);
    }
    if rest.is_some() {
        found.push(Found::Unknown(Why::Budget, String::new()));
    }
    found
}

/// Reads one command; returns the text after it.
fn command<'a>(text: &'a str, found: &mut Vec<Found>) -> Option<&'a str> {
    let text = modified(text);
    if text.is_empty() {
        return None;
    }
    if let Some(shell) = text.strip_prefix('!') {
        return shell_text(shell, found);
    }
    if text.starts_with('"') {
        return text.split_once('\n').map(|(_, rest)| rest);
    }
    if let Some(after) = text.strip_prefix('|').or_else(|| text.strip_prefix('\n')) {
        return Some(after);
    }
    let (name, after) = text.split_at_checked(name_end(text))?;
    let Some((acts, after)) = acts_of(name, after) else {
        found.push(Found::Unknown(Why::Unsupported, text.to_owned()));
        return None;
    };
    let is_asked_again = after.strip_prefix('!');
    let after = is_asked_again.unwrap_or(after);
    let bar = after.find(['|', '\n']);
    let argument = bar.and_then(|bar| after.get(..bar)).unwrap_or(after).trim();
    let rest = bar.and_then(|bar| after.get(bar + 1..));
    let file = |found: fn(String) -> Found| {
        let path = argument.trim_start_matches(">>").trim_start();
        let is_named = !path.is_empty() && !path.starts_with(['%', '#']) && !is_stream(path);
        is_named.then(|| found(path.to_owned()))
    };
    match acts {
        Acts::Nothing => {}
        Acts::Rest => return after_line(after),
        // After a blank, `!` begins shell text: `:r !ls`.
        Acts::Read | Acts::Write if after.trim_start().starts_with('!') => {
            return shell_text(after.trim_start().trim_start_matches('!'), found);
        }
        Acts::Read => found.extend(file(Found::Read)),
        Acts::Write => found.extend(file(Found::Write)),
        Acts::Source => found.extend(file(Found::Execute)),
        Acts::Shell => return shell_text(after, found),
        Acts::Global => {
            let mut letters = after.chars();
            let delimiter = letters.next()?;
            return letters.as_str().split_once(delimiter).map(|(_, command)| command);
        }
        Acts::Anything => {
            if may_run(name, after) {
                found.push(Found::Unknown(Why::Unsupported, text.to_owned()));
                return None;
            }
            return match name {
                "norm" | "normal" => after_line(after),
                name if "substitute".starts_with(name) => after_substitution(after),
                _ => rest,
            };
        }
    }
    rest
}

/// Reads shell text, which takes the rest of its line.
fn shell_text<'a>(text: &'a str, found: &mut Vec<Found>) -> Option<&'a str> {
    found.push(Found::Shell(text.split('\n').next().unwrap_or_default().trim().to_owned()));
    after_line(text)
}

/// Returns the lines after this one.
fn after_line(text: &str) -> Option<&str> {
    text.split_once('\n').map(|(_, rest)| rest)
}

/// Returns the end of a command's name, which is letters or signs.
fn name_end(text: &str) -> usize {
    let signs = text.len() - text.trim_start_matches(['>', '<', '=', '&']).len();
    if signs > 0 {
        return signs;
    }
    text.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(text.len())
}

/// Returns the text after a substitution. A bar in its pattern or replacement does not end it.
fn after_substitution(text: &str) -> Option<&str> {
    let delimiter = text.chars().next()?;
    let (mut parts, mut escaped) = (0, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '|' | '\n' if parts != 1 && parts != 2 => return text.get(at + 1..),
            letter if letter == delimiter && !escaped => parts += 1,
            _ => {}
        }
        escaped = letter == '\\' && !escaped;
    }
    None
}

/// Reports whether the argument may hold an expression or a command. Without them, substitutions, echoes, puts and keys
/// of normal mode change only the text.
fn may_run(name: &str, argument: &str) -> bool {
    let words = ["\\=", "system", "execute", "call", "writefile", "delete(", "rename("];
    match name {
        "norm" | "normal" => argument.contains([':', '!', '=']),
        "pu" | "put" => argument.contains('='),
        "se" | "set" | "setl" | "setlocal" => SETTINGS.iter().any(|word| argument.contains(word)),
        "ec" | "echo" | "let" => argument.contains('('),
        name if "substitute".starts_with(name) => words.iter().any(|word| argument.contains(word)),
        _ => true,
    }
}

/// Returns the text after colons, a range and modifiers.
fn modified(text: &str) -> &str {
    let is_range = |letter: char| {
        letter.is_ascii_digit()
            || letter == ' '
            || letter == '\t'
            || letter == '\r'
            || ":%,$.+-;'".contains(letter)
    };
    let mut text = text.trim_start_matches(is_range);
    while let Some(after) = MODIFIERS.iter().find_map(|word| {
        let after = text.strip_prefix(word)?;
        after.strip_prefix('!').or(Some(after)).filter(|after| after.starts_with([' ', ':']))
    }) {
        text = after.trim_start_matches(is_range);
    }
    text
}

/// Returns the effect of the command of this name. The argument may follow the name directly: `s/a/b/`, `d2`.
fn acts_of<'a>(name: &str, after: &'a str) -> Option<(Acts, &'a str)> {
    let fits = |(pattern, _): &&(&str, Acts)| {
        let (least, more) = pattern.split_once('[').unwrap_or((pattern, "]"));
        let more = more.trim_end_matches(']');
        name.strip_prefix(least).is_some_and(|rest| more.starts_with(rest))
    };
    COMMANDS.iter().find(fits).map(|(_, acts)| (*acts, after))
}
