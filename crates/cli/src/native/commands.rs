//! The commands in an agent's settings: those of a plan, those that profile `quiet` allows, and those that castellan's
//! rules stop whatever their arguments.

use castellan_agents::{NativeCommand, StoppedCommand, is_plain_word};
use castellan_plans::{CommandPattern, Plan};
use castellan_programs::{Program, Slot, SlotRole, base_name, find};

/// Beginnings of commands that the shipped rules deny or ask about under profile `standard`. Each is a program or subcommand
/// that destroys something or changes castellan, by its model. A test compares the file with the rules.
const STOPPED: &str = include_str!("stopped.txt");

/// Beginnings of commands that profile `quiet` allows with any ordinary arguments and that run no code of the workspace. A
/// test compares the file with the rules. Claude Code's judging model is asked about each of them without a rule (measured).
const QUIET: &str = include_str!("quiet.txt");

/// Returns the commands that castellan's rules stop.
pub(super) fn stopped() -> Vec<StoppedCommand> {
    let row = |line: &str| {
        let (verdict, command) = line.split_once(' ')?;
        let words = command.split(' ').map(str::to_owned).collect();
        Some(StoppedCommand { words, is_denied: verdict == "deny" })
    };
    STOPPED.lines().filter_map(row).collect()
}

/// Returns the commands that profile `quiet` allows.
pub(super) fn quiet() -> impl Iterator<Item = NativeCommand> {
    let command =
        |line: &str| NativeCommand { words: line.split(' ').map(str::to_owned).collect(), goes_on: true };
    QUIET.lines().map(command)
}

/// Returns the commands of a plan that rules of agents can say. Adds the others to `left_out`.
pub(super) fn of_plan(plan: &Plan, left_out: &mut Vec<String>) -> Vec<NativeCommand> {
    let mut commands = Vec::new();
    for pattern in plan.scope().commands.iter().flatten() {
        match native(pattern) {
            Ok(command) => commands.push(command),
            Err(why) => left_out.push(format!("command `{}`: {why}", pattern.text())),
        }
    }
    commands
}

/// Returns the hosts of a plan; `None` if the plan sets no limit. Adds those that agents could not read to `left_out`.
pub(super) fn hosts(plan: &Plan, left_out: &mut Vec<String>) -> Option<Vec<String>> {
    let hosts = plan.scope().hosts.as_ref()?;
    let is_plain = |host: &String| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-.:*".contains(letter);
        host.chars().all(is_letter) && !host.trim_start_matches("*.").contains('*')
    };
    let (plain, other): (Vec<String>, Vec<String>) = hosts.iter().map(|host| host.text()).partition(is_plain);
    left_out.extend(other.iter().map(|host| format!("host `{host}`: agents cannot read it")));
    let mut hosts: Vec<String> = plain
        .into_iter()
        .flat_map(|host| {
            let below = host.strip_prefix("*.").map(str::to_owned);
            below.into_iter().chain([host])
        })
        .collect();
    hosts.sort();
    hosts.dedup();
    Some(hosts)
}

fn native(pattern: &CommandPattern) -> Result<NativeCommand, &'static str> {
    let text = pattern.text();
    let (text, goes_on) = text.strip_suffix(" *").map_or((text.as_str(), false), |text| (text, true));
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    if !words.iter().all(|word| is_plain_word(word)) {
        return Err("agents' rules cannot say it word for word");
    }
    if words.first().is_some_and(|head| head.contains('=') || SYNTAX.contains(&head.as_str())) {
        return Err("its first word names no program");
    }
    if goes_on && may_run_another(&words) {
        return Err("with other arguments it runs any command or code");
    }
    Ok(NativeCommand { words, goes_on })
}

/// Words of the shell that come before a command.
const SYNTAX: &[&str] = &["coproc", "do", "elif", "else", "if", "then", "until", "while"];

/// Returns true if further arguments of a command can be another command or code. A program without a model is the plan's
/// own: castellan's hook judges it.
fn may_run_another(words: &[String]) -> bool {
    let mut words = words.iter().peekable();
    let Some(mut program) = words.next().and_then(|head| find(base_name(head))) else { return false };
    while let Some(sub) = words.peek().and_then(|word| sub(program, word)) {
        program = sub;
        words.next();
    }
    runs_another(program)
}

fn sub(program: &Program, word: &str) -> Option<&'static Program> {
    program.subs.iter().find(|sub| sub.names.contains(&word))
}

fn runs_another(program: &Program) -> bool {
    let options = program.options.iter().map(|option| option.slot);
    let operands =
        program.forms.iter().flat_map(|form| form.operands.iter().chain(form.after)).map(|place| place.slot);
    program.wrapper.is_some()
        || program.handler.is_some_and(|handler| INTERPRETERS.contains(&handler))
        || options.chain(operands).any(|Slot { role, .. }| RUNS_ANOTHER.contains(&role))
        || program.subs.iter().any(runs_another)
}

/// Handlers of programs whose arguments are code, or name files of code.
const INTERPRETERS: &[&str] =
    &["awk", "lua", "make", "mongo", "node", "osascript", "perl", "php", "python", "ruby", "task_file"];

/// The roles of arguments that are commands or code, or that name code. Clients of databases run programs for a statement.
const RUNS_ANOTHER: &[SlotRole] = &[
    SlotRole::Command,
    SlotRole::Clause,
    SlotRole::Shell,
    SlotRole::Joined,
    SlotRole::Line,
    SlotRole::Code,
    SlotRole::JoinedCode,
    SlotRole::Execute,
    SlotRole::Sql,
];

#[cfg(test)]
mod tests {
    use castellan_daemon::{Config, compile, parse_plan, shipped_rules};
    use castellan_event::{EffectKind, Verdict};
    use castellan_policy::{Policy, Profile};
    use castellan_programs::EffectRow;
    use castellan_trial::{Case, Laid, Trial};

    use super::*;

    fn policy(profile: Profile) -> Policy {
        let compiled = compile(&shipped_rules(), &Config::default().with_profile(profile));
        assert!(compiled.error().is_none());
        compiled.policy
    }

    fn judge(policy: &Policy, command: &str) -> Verdict {
        let input = [("command".to_owned(), command.into())].into_iter().collect();
        let mut case = Case::new("Bash", input);
        case.files.insert(".git/".to_owned(), Laid::Unknown(()));
        case.files.insert("a.txt".to_owned(), Laid::Text("a\n".to_owned()));
        Trial::new(policy).without_prompts().judge(&case).unwrap().decision.verdict
    }

    /// Programs and subcommands that destroy something, or change castellan.
    fn dangers(program: &Program, before: &[Vec<&'static str>], found: &mut Vec<Vec<&'static str>>) {
        let own = before
            .iter()
            .flat_map(|words| program.names.iter().map(move |name| [words, &[*name][..]].concat()));
        let own: Vec<_> = own.collect();
        let is_one = |row: &EffectRow| {
            row.kind == EffectKind::Destroy || row.system == "castellan" && row.kind == EffectKind::Mutate
        };
        if program.effects.iter().any(is_one) {
            found.extend(own.iter().cloned());
        }
        program.subs.iter().for_each(|sub| dangers(sub, &own, found));
    }

    #[test]
    fn the_stopped_commands_are_those_that_the_rules_stop() {
        let policy = policy(Profile::Standard);
        let mut found = Vec::new();
        castellan_programs::all().for_each(|program| dangers(program, &[Vec::new()], &mut found));
        let mut rows: Vec<String> = found
            .iter()
            .filter(|words| words.iter().all(|word| is_plain_word(word)))
            .filter_map(|words| {
                let line = words.join(" ");
                let verdicts = ["", " x", " x y"].map(|rest| judge(&policy, &format!("{line}{rest}")));
                if verdicts.contains(&Verdict::Deny) {
                    return Some(format!("deny {line}"));
                }
                verdicts.iter().all(|verdict| *verdict == Verdict::Ask).then(|| format!("ask {line}"))
            })
            .collect();
        rows.sort();
        rows.dedup();
        let expected = rows.join("\n") + "\n";
        assert!(STOPPED == expected, "crates/cli/src/native/stopped.txt must be:\n{expected}");
    }

    #[test]
    fn the_quiet_commands_are_allowed_by_the_profile_and_run_no_code_of_arguments() {
        let policy = policy(Profile::Quiet);
        for command in quiet() {
            let line = command.words.join(" ");
            let verdict = judge(&policy, &format!("{line} a.txt"));
            assert_eq!(verdict, Verdict::Allow, "{line}");
            assert!(!may_run_another(&command.words), "{line}");
        }
    }

    fn plan(lines: &[&str]) -> Plan {
        let commands: String = lines.iter().map(|line| format!("  - \"{line}\"\n")).collect();
        parse_plan(&format!("castellan_plan: 1\ncommands:\n{commands}")).unwrap()
    }

    #[test]
    fn a_plans_commands_are_said_word_for_word_or_left_out() {
        let check = |line: &str, expected: Option<(&str, bool)>| {
            let mut left_out = Vec::new();
            let commands = of_plan(&plan(&[line]), &mut left_out);
            let got = commands.first().map(|command| (command.words.join(" "), command.goes_on));
            assert_eq!(
                got,
                expected.map(|(words, goes_on)| (words.to_owned(), goes_on)),
                "{line}: {left_out:?}"
            );
            assert_eq!(left_out.len(), usize::from(expected.is_none()), "{line}");
        };
        check("cargo test *", Some(("cargo test", true)));
        check("cargo test", Some(("cargo test", false)));
        check("./gen.sh --out x", Some(("./gen.sh --out x", false)));
        check("my-own-tool *", Some(("my-own-tool", true)));
        check("git commit *", Some(("git commit", true)));
        check("npm run test:unit", Some(("npm run test:unit", false)));
        check("python3 run.py", Some(("python3 run.py", false)));
        check("cargo * --lib", None);
        check("echo 'a *'", None);
        check("echo 'a;b'", None);
        check("echo (x)", None);
        for head in [
            "bash",
            "sh -c",
            "python3",
            "sudo",
            "env",
            "xargs",
            "find",
            "/bin/sh",
            "ssh",
            "nice",
            "npx",
            "awk",
            "git",
            "perl",
            "ruby",
            "source",
            ".",
            "make",
            "java",
            "sqlite3",
            "psql",
            "osascript",
            "X=1 bash",
            "then bash",
            "coproc",
        ] {
            check(&format!("{head} *"), None);
        }
    }

    #[test]
    fn hosts_include_the_one_that_a_star_stands_before() {
        let plan = parse_plan("castellan_plan: 1\nhosts: ['*.example.org', static.crates.io]\n").unwrap();
        let mut left_out = Vec::new();
        let hosts = hosts(&plan, &mut left_out).unwrap();
        assert_eq!(
            (hosts, left_out),
            (["*.example.org", "example.org", "static.crates.io"].map(str::to_owned).to_vec(), vec![])
        );
        let none = parse_plan("castellan_plan: 1\ncommands: []\n").unwrap();
        assert_eq!(super::hosts(&none, &mut Vec::new()), None);
    }
}
