//! Loops that start background jobs in every round and never end. This module must not know values.

use castellan_programs::base_name;

use crate::limits::JOBS_MAX;
use crate::scope::Source;
use crate::shells::is_shell;
use crate::tree::{Node, Part, Script, Statement, Word};

/// The text of the gap for such a loop, which rules compare.
pub(super) const JOBS_WITHOUT_END: &str = "jobs without end";

/// Returns true if a loop never ends, or counts far, and leaves a job running in each round.
pub(super) fn are_without_end(statement: &Statement, source: &Source) -> bool {
    if let Node::For { words, body, .. } = &statement.node {
        let texts: Vec<&str> = words.iter().flatten().map(|word| source.written(word.span)).collect();
        range_without_end(&texts.join(" "), body)
    } else if let Node::ArithmeticFor { first, condition, step, body } = &statement.node {
        counted_without_end([&first.text, &condition.text, &step.text], body)
    } else if let Node::While { until, condition, body } = &statement.node {
        loop_without_end(*until, (condition, source.written(condition.span)), body)
    } else {
        false
    }
}

/// Returns true if a `while` or `until` never ends, or counts far, and leaves a job running in each round. `text`: the
/// text of the condition.
fn loop_without_end(until: bool, (condition, text): (&Script, &str), body: &Script) -> bool {
    let is_endless = match condition.statements.as_slice() {
        [one] if outcome(one).is_some() => outcome(one) == Some(!until),
        all => all.iter().all(is_constant),
    };
    leaves_jobs(body) && (is_endless || counts_far(text))
}

/// The same for `for ((...))`. `texts`: its three expressions. The condition of `repeat COUNT` alone is a count.
fn counted_without_end(texts: [&str; 3], body: &Script) -> bool {
    let [first, condition, step] = texts.map(str::trim);
    let is_count = !condition.is_empty() && first.is_empty() && step.is_empty();
    let is_constant = !is_count && !names_a_variable(condition);
    leaves_jobs(body) && (is_constant || counts_far(&format!("{first} {condition}")))
}

/// The same for `for NAME in WORDS`: a range of numbers. `text`: the text of the words.
fn range_without_end(text: &str, body: &Script) -> bool {
    (text.contains("..") || text.contains("seq")) && counts_far(text) && leaves_jobs(body)
}

/// Returns true if the numbers of a text lie further apart than a machine can run jobs.
fn counts_far(text: &str) -> bool {
    let digits = text.split(|letter: char| !letter.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let numbers: Vec<u64> = digits.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect();
    let least = if numbers.len() < 2 { 0 } else { numbers.iter().min().copied().unwrap_or(0) };
    numbers.iter().max().is_some_and(|most| most - least >= JOBS_MAX)
}

/// Commands that succeed each time.
const SUCCEEDS: &[&str] = &[
    ":", "cd", "date", "echo", "hostname", "id", "let", "ls", "printf", "pwd", "sleep", "true", "uname",
    "usleep", "whoami",
];

/// Commands that only run the command of their arguments.
const RUNS: &[&str] = &["builtin", "command", "env"];

/// Inputs that never end.
const ENDLESS: &[&str] = &["/dev/full", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Returns whether a statement always succeeds or always fails; `None` if that may change, or is not found here.
fn outcome(statement: &Statement) -> Option<bool> {
    let is_constant = if let Node::Simple { words, .. } = &statement.node {
        let is_fed = statement
            .redirects
            .iter()
            .filter_map(|one| literal(&one.target))
            .any(|file| ENDLESS.contains(&file));
        let succeeds = if is_fed { Some(true) } else { command(words) };
        return succeeds.map(|succeeds| succeeds != statement.negated);
    } else if let Node::Test(words) = &statement.node {
        words.len() == 1 && words.iter().all(|word| literal(word).is_some())
    } else if let Node::Arithmetic(expression) = &statement.node {
        expression.text.trim() == "1"
    } else {
        false
    };
    is_constant.then_some(!statement.negated)
}

/// Returns true if the result of a statement never changes, although it may not be known.
fn is_constant(statement: &Statement) -> bool {
    match &statement.node {
        Node::Simple { words, .. } => {
            let is_test = matches!(words.first().and_then(literal), Some("[" | "test"));
            outcome(statement).is_some() || is_test && is_constant_test(words)
        }
        Node::Test(words) => is_constant_test(words),
        Node::Arithmetic(expression) => !names_a_variable(&expression.text),
        Node::Chain { all, .. } | Node::Pipe(all) => all.iter().all(is_constant),
        Node::Subshell(inner) | Node::Group(inner) => inner.statements.iter().all(is_constant),
        Node::Declare { .. }
        | Node::If { .. }
        | Node::For { .. }
        | Node::ArithmeticFor { .. }
        | Node::While { .. }
        | Node::Case { .. }
        | Node::Function { .. }
        | Node::Coproc(_)
        | Node::Time(_)
        | Node::Hole(_) => false,
    }
}

/// Directories that stay.
const STAYS: &[&str] = &["/", ".", "..", "/tmp"];

/// Returns true if a test has no expansion, and asks for no file that may come or go.
fn is_constant_test(words: &[Word]) -> bool {
    let literals: Option<Vec<&str>> = words.iter().map(literal).collect();
    let Some(words) = literals else { return false };
    let is_of_file = words.iter().any(|word| {
        matches!(word.as_bytes(), [b'-', letter] if letter.is_ascii_alphabetic() && !matches!(letter, b'n' | b'z'))
    });
    !is_of_file || words.iter().any(|word| STAYS.contains(word))
}

fn names_a_variable(expression: &str) -> bool {
    expression.contains(|letter: char| letter.is_alphabetic() || matches!(letter, '_' | '$'))
}

fn command(words: &[Word]) -> Option<bool> {
    let skipped =
        words.iter().take_while(|word| literal(word).is_some_and(|name| RUNS.contains(&name))).count();
    let words = words.get(skipped..)?;
    let name = base_name(words.first().and_then(literal)?);
    let literals: Option<Vec<&str>> = words.iter().map(literal).collect();
    match (name, literals.as_deref()) {
        ("test", Some([_, text])) | ("[", Some([_, text, "]"])) => Some(!text.is_empty()),
        ("test", Some([_])) | ("[", Some([_, "]"])) | ("false", _) => Some(false),
        (name, _) => SUCCEEDS.contains(&name).then_some(true),
    }
}

fn leaves_jobs(body: &Script) -> bool {
    any(body, &|statement| {
        statement.background
            || matches!(statement.node, Node::Coproc(_))
            || starts_a_shell_with_jobs(statement)
    }) && !any(body, &ends_or_waits)
}

/// `bash -c 'work &'`
fn starts_a_shell_with_jobs(statement: &Statement) -> bool {
    let Node::Simple { words, .. } = &statement.node else { return false };
    let mut words = words.iter().map(literal);
    let is_shell = words.next().flatten().is_some_and(|name| is_shell(base_name(name)));
    let leaves_one =
        |text: &str| text.trim_end().strip_suffix('&').is_some_and(|before| !before.ends_with('&'));
    is_shell && words.flatten().any(leaves_one)
}

/// Commands that end the loop, or the jobs before the next round.
const ENDS: &[&str] = &["break", "exit", "return", "wait", "kill", "pkill", "killall", "exec"];

fn ends_or_waits(statement: &Statement) -> bool {
    let Node::Simple { words, .. } = &statement.node else { return false };
    words.first().and_then(literal).is_some_and(|name| ENDS.contains(&name))
}

fn literal(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Text { text, .. }] => Some(text),
        _ => None,
    }
}

/// Returns true if any statement of a script has a property. The depth of the tree is limited.
fn any(script: &Script, has: &dyn Fn(&Statement) -> bool) -> bool {
    script.statements.iter().any(|statement| any_in(statement, has))
}

fn any_in(statement: &Statement, has: &dyn Fn(&Statement) -> bool) -> bool {
    has(statement)
        || match &statement.node {
            Node::Simple { .. }
            | Node::Declare { .. }
            | Node::Test(_)
            | Node::Arithmetic(_)
            | Node::Hole(_)
            | Node::Function { .. }
            | Node::Time(None) => false,
            Node::Pipe(all) | Node::Chain { all, .. } => all.iter().any(|one| any_in(one, has)),
            Node::Subshell(inner) | Node::Group(inner) => any(inner, has),
            Node::If { branches, otherwise } => {
                branches.iter().any(|(condition, body)| any(condition, has) || any(body, has))
                    || otherwise.as_ref().is_some_and(|body| any(body, has))
            }
            Node::For { body, .. } | Node::ArithmeticFor { body, .. } => any(body, has),
            Node::While { condition, body, .. } => any(condition, has) || any(body, has),
            Node::Case { arms, .. } => arms.iter().any(|(_, body)| any(body, has)),
            Node::Coproc(inner) | Node::Time(Some(inner)) => any_in(inner, has),
        }
}
