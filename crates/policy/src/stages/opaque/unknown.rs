//! The message about an Opaque part: what is unknown, why, and what to do instead. Does not depend on verdicts.

use castellan_event::{Code, Effect, Finding, Role, Verdict, Why};

/// Returns the noun of a part for a person.
const fn noun(role: Option<Role>) -> &'static str {
    match role {
        Some(Role::Program) => "The program",
        Some(Role::Target) => "The target",
        Some(Role::Code) => "The code",
        Some(Role::Operand | Role::Tool) | None => "The part",
    }
}

/// Returns the reason why a part is Opaque as a clause, and the remedy for the agent.
pub const fn opaque_reason(why: Why) -> (&'static str, &'static str) {
    match why {
        Why::Unsupported => ("castellan does not read this construct", "write it with plain commands"),
        Why::Syntax => ("its text does not parse", "correct its syntax"),
        Why::Nesting => ("it is nested too deeply", "split it into several calls"),
        Why::Size => ("it is too long", "split it into several calls"),
        Why::Budget => ("reading it takes too much work", "split it into several calls"),
        Why::Encoding => ("it is not text", "describe to the user where it comes from"),
        Why::Variable => ("the value of a variable is not known", "write the value out"),
        Why::Parameter => ("the value of an argument is not known", "write the value out"),
        Why::Substitution => ("a command prints it", "run that command first, and write its output out"),
        Why::Arithmetic => ("it is the result of a calculation", "write the result out"),
        Why::Expansion => ("castellan does not compute this expansion", "write the value out"),
        Why::Glob => ("it is a pattern for file names", "name the files"),
        Why::Input => ("it comes from standard input", "write it into the command"),
        Why::Network => ("it comes from the network", "save it to a file, and show the file to the user"),
        Why::File => ("it comes from a file", "read the file, and write its contents out"),
        Why::Missing => ("its file does not exist", "create the file first"),
        Why::Secret => ("it comes from a secret", LEAVE_IT),
        Why::Unresolved => ("it was not found", "name it by the path of its file"),
        Why::Shadowed => ("this session may have made it", "use one from before the session"),
        Why::Changing => ("another command may be changing it", "wait for the other command"),
        Why::Contained => {
            ("a contained command wrote it", "ask the user to check it and to `castellan keep` it")
        }
        Why::Unreadable => ("its file cannot be read", "check its path and permissions"),
        Why::Language => ("castellan does not read its language", "describe to the user what it does"),
        Why::Flag => ("castellan does not know this option", "leave the option out"),
        Why::Dynamic => ("it is known only when it runs", "write the value out"),
    }
}

/// The remedy for a known file that an unknown program gets, and for a secret.
const LEAVE_IT: &str = "let the user do this step";

/// Returns the finding for the first of several unknown parts. `others`: the number of the other parts.
pub(super) fn finding(verdict: Verdict, part: &Effect, others: usize) -> Finding {
    let (clause, remedy) = opaque_reason(part.why().unwrap_or_default());
    let remedy = if part.path().is_some() { LEAVE_IT } else { remedy };
    let finding = Finding::new(verdict, Code::Opaque, noun(part.role()));
    let finding = match part.target() {
        Some("") | None => finding,
        Some(written) => finding.with_text(" ").with_value(written),
    };
    let more = match others {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    finding.with_text(&format!(" is unknown{more}: {clause}")).with_remedy(remedy)
}
