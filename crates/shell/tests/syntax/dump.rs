//! Prints a tree as one line, for case tables: `(name argument ...)` is a command, `'...'` quoted text, `"$x"` a quoted
//! expansion, `!why` a hole.

use castellan_shell::tree::*;

#[path = "../shared/sign.rs"]
mod sign;

use sign::sign;

pub(crate) fn script(script: &Script) -> String {
    joined(&script.statements, statement, "; ")
}

fn joined<T>(all: &[T], one: impl Fn(&T) -> String, between: &str) -> String {
    all.iter().map(one).collect::<Vec<_>>().join(between)
}

fn statement(one: &Statement) -> String {
    let mut text = node(&one.node);
    for redirect in &one.redirects {
        text.push(' ');
        text.push_str(&self::redirect(redirect));
    }
    if one.background {
        text.push_str(" &");
    }
    text
}

fn node(node: &Node) -> String {
    match node {
        Node::Simple { assignments, words } => {
            let mut all: Vec<String> = assignments.iter().map(assignment).collect();
            all.extend(words.iter().map(word));
            format!("({})", all.join(" "))
        }
        Node::Declare { assignments, builtin, operands } => {
            let mut all: Vec<String> = assignments.iter().map(assignment).collect();
            all.push(format!("declare:{builtin}"));
            all.extend(operands.iter().map(|operand| match operand {
                Operand::Word(one) => word(one),
                Operand::Assignment(one) => assignment(one),
            }));
            format!("({})", all.join(" "))
        }
        Node::Pipe(all) => format!("pipe{{{}}}", joined(all, statement, " | ")),
        Node::Chain { all, .. } => format!("chain{{{}}}", joined(all, statement, " , ")),
        Node::Subshell(body) => format!("sub{{{}}}", script(body)),
        Node::Group(body) => format!("group{{{}}}", script(body)),
        Node::If { branches, otherwise } => {
            let mut text =
                joined(branches, |(when, then)| format!("if{{{}}}{{{}}}", script(when), script(then)), "");
            if let Some(body) = otherwise {
                text.push_str(&format!("else{{{}}}", script(body)));
            }
            text
        }
        Node::For { names, words, body } => {
            let name = names.join(" ");
            let words = words.as_ref().map_or("@".to_owned(), |words| joined(words, word, " "));
            format!("for {name} [{words}]{{{}}}", script(body))
        }
        Node::ArithmeticFor { first, condition, step, body } => {
            let head = [first, condition, step].map(|one| joined(&one.words, word, " "));
            let head = head.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" ");
            format!("for(([{head}])){{{}}}", script(body))
        }
        Node::While { until, condition, body } => {
            let keyword = if *until { "until" } else { "while" };
            format!("{keyword}{{{}}}{{{}}}", script(condition), script(body))
        }
        Node::Case { word: subject, arms } => {
            let arms = joined(
                arms,
                |(patterns, body)| format!("{} -> {{{}}}", joined(patterns, word, " | "), script(body)),
                " ",
            );
            format!("case {} {{{arms}}}", word(subject))
        }
        Node::Function { names, body } => {
            let name = if names.is_empty() { "?".to_owned() } else { names.join(" ") };
            format!("function {name}{{{}}}", statement(body))
        }
        Node::Coproc(body) => format!("coproc{{{}}}", statement(body)),
        Node::Time(body) => {
            format!("time{{{}}}", body.as_ref().map_or(String::new(), |body| statement(body)))
        }
        Node::Test(words) => format!("[[{}]]", joined(words, word, " ")),
        Node::Arithmetic(expression) => format!("(({}))", arithmetic(expression)),
        Node::Hole(hole) => format!("!{}", hole.why),
    }
}

fn arithmetic(one: &Arithmetic) -> String {
    let mut text = joined(&one.words, word, " ");
    for name in &one.assigns {
        text.push_str(&format!(" {name}="));
    }
    text.trim_start().to_owned()
}

fn assignment(one: &Assignment) -> String {
    let index = one.index.as_ref().map_or(String::new(), |index| format!("[{}]", word(index)));
    let sign = if one.append { "+=" } else { "=" };
    let value = match &one.value {
        AssignedValue::Scalar(value) => word(value),
        AssignedValue::Array(elements) => {
            let element = |(index, value): &(Option<Word>, Word)| match index {
                Some(index) => format!("[{}]={}", word(index), word(value)),
                None => word(value),
            };
            format!("({})", joined(elements, element, " "))
        }
    };
    format!("{}{index}{sign}{value}", one.name)
}

fn redirect(one: &Redirect) -> String {
    let fd = match &one.fd {
        Some(FdWord::Number(number)) => number.to_string(),
        Some(FdWord::Variable(name)) => format!("{{{name}}}"),
        None => String::new(),
    };
    format!("{fd}{}{}", sign(one.kind), word(&one.target))
}

fn word(one: &Word) -> String {
    joined(&one.parts, part, "")
}

fn part(part: &Part) -> String {
    let quote = |text: String, quoted: bool| if quoted { format!("\"{text}\"") } else { text };
    match part {
        Part::Text { text, quoted } => {
            let text = text.replace('\n', "\\n").replace('\t', "\\t").replace('\r', "\\r");
            if *quoted { format!("'{text}'") } else { text }
        }
        Part::Parameter { parameter, quoted } => quote(self::parameter(parameter), *quoted),
        Part::Command { body, quoted } => quote(format!("$({})", script(body)), *quoted),
        Part::Process { body, written } => format!("{}({})", if *written { ">" } else { "<" }, script(body)),
        Part::Arithmetic { expression, quoted } => quote(format!("$(({}))", arithmetic(expression)), *quoted),
        Part::Hole(hole) => format!("!{}", hole.why),
    }
}

fn parameter(one: &Parameter) -> String {
    let index = match &one.index {
        Some(Index::Each) => "[@]".to_owned(),
        Some(Index::Joined) => "[*]".to_owned(),
        Some(Index::At(index)) => format!("[{}]", word(index)),
        None => String::new(),
    };
    let name = format!("{}{}{index}", if one.indirect { "!" } else { "" }, one.name);
    let optional = |one: &Option<Word>| one.as_ref().map_or(String::new(), |one| format!(" {}", word(one)));
    match &one.operation {
        Operation::Value => format!("${name}"),
        Operation::Length => format!("${{length {name}}}"),
        Operation::Keys => format!("${{keys {name}}}"),
        Operation::Names => format!("${{names {name}}}"),
        Operation::Substitute { kind, colon, word: value } => {
            let colon = if *colon { ":" } else { "" };
            format!("${{{kind:?}{colon} {name} {}}}", word(value))
        }
        Operation::Remove { suffix, longest, pattern } => {
            let side = if *suffix { "suffix" } else { "prefix" };
            let long = if *longest { "-longest" } else { "" };
            format!("${{{side}{long} {name} {}}}", word(pattern))
        }
        Operation::Replace { at, pattern, replacement } => {
            format!("${{Replace{at:?} {name} {}{}}}", word(pattern), optional(replacement))
        }
        Operation::Case { upper, all, pattern } => {
            let case = if *upper { "upper" } else { "lower" };
            format!("${{{case}{} {name}{}}}", if *all { "-all" } else { "" }, optional(pattern))
        }
        Operation::Slice { offset, length } => {
            format!("${{slice {name} {}{}}}", word(offset), optional(length))
        }
        Operation::Transform(operator) => format!("${{@{operator} {name}}}"),
    }
}
