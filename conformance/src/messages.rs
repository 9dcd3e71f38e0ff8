//! `conformance messages`: the messages of every shipped rule and of each other finding, in Markdown, each with a call
//! that causes it.
//! `cargo xtask gen` writes it to `docs/messages.md`. A message over its length is an error.

use std::fmt::Write as _;

use anyhow::{Context, anyhow, ensure};
use castellan_daemon::{Config, compile, shipped_rules};
use castellan_event::{EffectKind, Verdict, Why};
use castellan_policy::{Policy, Profile, RequestId, agent_text, opaque_reason, user_text};
use castellan_programs::{Program, find};
use castellan_trial::{Case, CaseFile, Judged, RuleCase, Shows, Trial, shipped_cases};
use serde_json::{Map, Value as Json};

/// Characters that a person reads at a prompt or beside it.
const CHARS_MAX: usize = 150;

/// Words that a model reads: 30, and those by which the values of fields are longer than one word. The tests of packs
/// count the former.
const WORDS_MAX: usize = 36;

/// Findings that no rule makes: a name, the profile, and a command that causes it.
const FINDINGS: &[(&str, Profile, &str)] = &[
    ("an Opaque program", Profile::Standard, "$(curl -s https://example.com/name) --all"),
    ("an Opaque target", Profile::Standard, "rm -rf \"$OUT\""),
    ("Opaque code", Profile::Standard, "bash -c \"$SETUP\""),
    ("an Opaque program", Profile::Strict, "$(cat tool.txt) --all"),
    ("access level", Profile::Strict, "git push origin main"),
    ("access level", Profile::Autonomous, "echo x > ~/notes.txt"),
];

const HEAD: &str = "\
# Messages

Every message about a call, with a call that causes it. `cargo xtask gen` makes this page from the shipped rules and their cases, and fails
if a message is too long.

| message | reader | length | form |
|---|---|---|---|
| question | the person at the agent's prompt | 150 characters | castellan asks: WHAT AND WHY. Allow? (A7) |
| refusal | the agent's model | 30 words, the value of a field counted as one | castellan blocked this: REMEDY. WHAT AND WHY. Do not rephrase it. (A7) |
| refusal of a call that a person can allow | the agent's model | the same | castellan blocked this; tell the user: request A7. WHAT AND WHY. Instead: REMEDY |
| note at a prompt | the user | 150 characters | Details: castellan why A7 |
| note beside a refusal | the user | 150 characters | castellan blocked this: WHAT AND WHY. See: castellan why A7 |
| note beside a refusal that a person can allow | the user | 150 characters | castellan blocked this until you allow it: WHAT AND WHY. See: castellan why A7 |

";

pub(crate) fn run() -> anyhow::Result<()> {
    let mut page = HEAD.to_owned();
    let standard = policy(Profile::Standard)?;
    for (rules, cases) in shipped_cases() {
        let cases = CaseFile::read(&cases).map_err(|errors| anyhow!("{}: {errors:?}", cases.name))?;
        let mut rows = String::new();
        for case in first_of_each_rule(&cases) {
            rows.push_str(&row(&case.rule, Trial::new(&standard), &case.case)?);
        }
        writeln!(page, "## {}\n\n{TABLE}{rows}", rules.name.trim_end_matches(".yaml"))?;
    }
    let mut rows = String::new();
    for (name, profile, command) in FINDINGS {
        let input = Map::from_iter([("command".to_owned(), Json::from(*command))]);
        let policy = policy(*profile)?;
        let cause = format!("{name} (profile {profile})");
        rows.push_str(&row(&cause, Trial::new(&policy), &Case::new("Bash", input))?);
    }
    write!(page, "## Findings without a rule\n\n{TABLE}{rows}")?;
    page.push_str(REASONS);
    for why in Why::ALL {
        let (clause, remedy) = opaque_reason(*why);
        writeln!(page, "| `{why}` | {}; \"{clause}\" | {remedy} |", why.meaning())?;
    }
    print!("{page}");
    Ok(())
}

const REASONS: &str = "
## Reasons of Opaque parts

A question about an Opaque part names the part, and says why castellan does not know it: \"The target $DIR is unknown: the value of a
variable is not known\".

| `fx.why` | meaning and message | remedy |
|---|---|---|
";

const TABLE: &str = "| cause | message |\n|---|---|\n";

pub(crate) fn policy(profile: Profile) -> anyhow::Result<Policy> {
    let compiled = compile(&shipped_rules(), &Config::default().with_profile(profile));
    ensure!(compiled.error().is_none(), "the shipped rules do not load: {:?}", compiled.error());
    Ok(compiled.policy)
}

/// The first plain case of each rule that the rule stops.
fn first_of_each_rule(cases: &CaseFile) -> Vec<&RuleCase> {
    let mut first: Vec<&RuleCase> = Vec::new();
    for case in &cases.cases {
        let is_stopped = case.verdict >= Verdict::Ask && case.shows == Shows::Plain;
        if is_stopped && first.iter().all(|other| other.rule != case.rule) {
            first.push(case);
        }
    }
    first
}

fn row(cause: &str, trial: Trial<'_>, case: &Case) -> anyhow::Result<String> {
    let judged = trial.judge(case).map_err(|error| anyhow!("{error}"))?;
    let message = message(&judged).with_context(|| format!("`{cause}`"))?;
    let about = judged.call.command.unwrap_or(judged.call.tool.name);
    let shown = |text: &str| text.replace('|', "\\|").replace('\n', "⏎");
    Ok(format!("| {cause}<br>`{}` | {} |\n", shown(&about).replace('`', "'"), shown(&message)))
}

/// The message of a stopped call; an error if it or the user's note is too long.
fn message(judged: &Judged) -> anyhow::Result<String> {
    let request = RequestId::from_seed(6);
    let (text, note) = (
        agent_text(&judged.decision, request),
        user_text(&judged.decision, request, judged.change.is_offered),
    );
    ensure!(judged.decision.answer >= Verdict::Ask, "the call is not stopped");
    let (chars, words) = (text.chars().count(), text.split_whitespace().count());
    let is_question = judged.decision.answer == Verdict::Ask;
    ensure!(!is_question || chars <= CHARS_MAX, "a question of {chars} characters: {text}");
    ensure!(is_question || words <= WORDS_MAX, "a refusal of {words} words: {text}");
    ensure!(note.chars().count() <= CHARS_MAX, "a note of too many characters: {note}");
    let way = way_around(&text, &loosening());
    ensure!(way.is_none(), "the agent reads `castellan {}`: {text}", way.unwrap_or_default());
    Ok(text)
}

/// Returns the subcommands of castellan that change how it judges. `start` is none: a blocked agent's user needs it.
fn loosening() -> Vec<&'static str> {
    let is_change = |kind| matches!(kind, EffectKind::Mutate | EffectKind::Destroy);
    let changes = |program: &Program| program.effects.iter().any(|effect| is_change(effect.kind));
    let own = find("castellan").map_or(&[][..], |castellan| castellan.subs);
    let loosening = own.iter().filter(|sub| changes(sub) || sub.subs.iter().any(changes));
    loosening.map(Program::name).filter(|name| *name != "start").collect()
}

/// Returns the subcommand that a text names after `castellan`.
fn way_around<'s>(text: &str, subcommands: &[&'s str]) -> Option<&'s str> {
    let word =
        |rest: &str| rest.split(|c: char| !(c.is_alphanumeric() || c == '-')).next().map(str::to_owned);
    let named: Vec<String> = text.split("castellan ").skip(1).filter_map(word).collect();
    subcommands.iter().find(|sub| named.iter().any(|word| word == *sub)).copied()
}

#[cfg(test)]
mod tests {
    use castellan_policy::unattended_text;

    use super::*;

    #[test]
    fn the_agent_reads_a_request_id_and_never_a_command_that_lets_it_through() {
        let loosening = loosening();
        let mut seen = 0;
        for profile in [Profile::Standard, Profile::Strict] {
            let policy = policy(profile).unwrap();
            for (rules, cases) in shipped_cases() {
                for case in CaseFile::read(&cases).unwrap().cases {
                    let decision = Trial::new(&policy).judge(&case.case).unwrap().decision;
                    if decision.answer < Verdict::Ask {
                        continue;
                    }
                    let input = Json::from(case.case.call.input.clone()).to_string();
                    let (request, asked) = (RequestId::from_seed(6), way_around(&input, &loosening));
                    for text in [agent_text(&decision, request), unattended_text(&decision, request)] {
                        let way = way_around(&text, &loosening);
                        // A message may quote the call.
                        assert!(way.is_none() || way == asked, "{}: {text}", rules.name);
                        assert!(text.contains(&request.to_string()), "{text}");
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 4_000, "{seen}");
    }

    #[test]
    fn a_command_that_loosens_is_found() {
        let loosening = loosening();
        for sub in
            "approve allow pending mode config stop uninstall trust apply profile packs presence".split(' ')
        {
            let text = format!("castellan blocked this; tell the user to run `castellan {sub} K7`");
            assert_eq!(way_around(&text, &loosening), Some(sub));
        }
        for text in
            ["castellan asks: x. Allow? (A7)", "see: castellan why A7", "castellan start", "castellan status"]
        {
            assert_eq!(way_around(text, &loosening), None);
        }
    }
}
