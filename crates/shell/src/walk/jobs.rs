//! Loops that start background jobs in every round and never end. This module must not know values.

use castellan_programs::base_name;

use crate::tree::{Arithmetic, Node, Part, Script, Statement, Word};

/// The text of the gap for such a loop, which rules compare.
pub(super) const JOBS_WITHOUT_END: &str = "jobs without end";

/// Returns true if a `while` or `until` never ends and leaves a job running in each round.
pub(super) fn loop_without_end(until: bool, condition: &Script, body: &Script) -> bool {
    let [last] = condition.statements.as_slice() else { return false };
    outcome(last) == Some(!until) && leaves_jobs(body)
}

/// Commands that succeed each time.
const SUCCEEDS: &[&str] = &["true", ":", "sleep", "usleep", "echo", "printf", "date"];

/// Returns whether a statement always succeeds or always fails; `None` if that may change.
fn outcome(statement: &Statement) -> Option<bool> {
    let is_constant = if let Node::Simple { words, .. } = &statement.node {
        return command(words).map(|succeeds| succeeds != statement.negated);
    } else if let Node::Test(words) = &statement.node {
        words.len() == 1 && words.iter().all(|word| literal(word).is_some())
    } else if let Node::Arithmetic(expression) = &statement.node {
        expression.text.trim() == "1"
    } else {
        false
    };
    is_constant.then_some(!statement.negated)
}

fn command(words: &[Word]) -> Option<bool> {
    let name = base_name(words.first().and_then(literal)?);
    let literals: Option<Vec<&str>> = words.iter().map(literal).collect();
    match (name, literals.as_deref()) {
        ("test", Some([_, text])) | ("[", Some([_, text, "]"])) => Some(!text.is_empty()),
        ("false", _) => Some(false),
        (name, _) => SUCCEEDS.contains(&name).then_some(true),
    }
}

/// The same for `for ((...))`.
pub(super) fn counted_without_end(condition: &Arithmetic, body: &Script) -> bool {
    condition.text.trim().is_empty() && leaves_jobs(body)
}

fn leaves_jobs(body: &Script) -> bool {
    any(body, &|statement| statement.background || matches!(statement.node, Node::Coproc(_)))
        && !any(body, &ends_or_waits)
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
