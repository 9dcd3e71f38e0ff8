//! The ways to allow a stopped call: commands, and lines for the configuration, each with its meaning. Only for people.

use castellan_audit::{CallRecord, FindingRecord};
use castellan_daemon::ControlError;
use castellan_event::{Code, Layer, Verdict};

use super::deciding;
use super::understood::Understood;
use crate::global::Global;

/// A command, or a line for a file, and its meaning.
pub(super) type Remedy = (String, String);

/// The options of `castellan approve` with their meanings.
const APPROVALS: &[(&[&str], &str)] = &[
    (&[], "once, within 15 minutes"),
    (&["--session"], "every such call of this session"),
    (&["--for", "1h"], "every such call of this session, for an hour"),
    (&["--always"], "every such call in this directory, in any session"),
];

/// Words of a remedy that mean the call's request and its workspace.
const ID: &str = "ID";
const DIR: &str = "DIR";

/// Findings that nothing exempts, with the words of the remedy.
const CHANGES: &[(Code, &[&str], &str)] = &[
    (Code::OperatorDeny, &["apply"], "after you removed the pattern from a `deny` list in config.toml"),
    (Code::Halted, &["resume"], "ends every halt; `castellan status` shows them"),
    (Code::NoTools, &["profile", "standard"], "the profile `observer` allows no tools"),
    (Code::NoSandbox, &["run", "--sandbox"], "starts the agent in a sandbox: `-- claude`"),
    (Code::DeniedWorkspace, &["trust", DIR], "agents may work in this workspace"),
    (Code::Ungoverned, &["log"], "shows the calls without a decision; a new session is not blocked"),
    (Code::ForeignHook, &["doctor"], "shows the hook that could change calls"),
    (Code::NoPolicy, &["apply"], "puts rules in force"),
    (Code::UnknownTool, &["rules", "new", "--from-log", ID], "makes a rule for this tool"),
];

/// Findings from the state of a session or a workspace, which a call that is judged again does not have.
const OF_STATE: &[Code] =
    &[Code::Halted, Code::NoSandbox, Code::DeniedWorkspace, Code::Ungoverned, Code::ForeignHook];

/// Returns the ways to allow the call; never none.
pub(super) fn remedies(
    global: &Global,
    call: &CallRecord,
    understood: Option<&Understood>,
) -> anyhow::Result<Vec<Remedy>> {
    if deciding(call).any(|finding| OF_STATE.iter().any(|code| code.as_str() == finding.code)) {
        return Ok(changes(global, call, understood));
    }
    // A call that cannot be judged again: an ask can be approved, except for few findings.
    let is_grantable = understood.map_or(call.verdict == Verdict::Ask.as_str(), Understood::is_grantable);
    let mut remedies = match waiting(global, call)? {
        Waiting::Here => approvals(global, &call.request),
        Waiting::Gone | Waiting::NoDaemon if understood.is_some_and(|now| !now.is_stopped()) => {
            vec![remedy("nothing", "the rules in force do not stop this call any longer")]
        }
        Waiting::Gone | Waiting::NoDaemon if !is_grantable => changes(global, call, understood),
        Waiting::Gone => vec![remedy(
            &global.command(&["approve", ID]),
            "with the id of its next request: this one does not wait any longer",
        )],
        Waiting::NoDaemon => vec![remedy(
            &global.command(&["start"]),
            "without the daemon no call waits; then let the agent make it again",
        )],
    };
    if let Some(allow) = understood.and_then(|understood| understood.allow.as_ref()) {
        remedies.push(remedy(&global.command(&["allow", allow]), "every call that this short rule matches"));
    }
    Ok(remedies)
}

fn remedy(command: &str, meaning: &str) -> Remedy {
    (command.to_owned(), meaning.to_owned())
}

fn approvals(global: &Global, request: &str) -> Vec<Remedy> {
    let approval = |(options, meaning): &(&[&str], &str)| {
        remedy(&global.command(&[&["approve", request], *options].concat()), meaning)
    };
    APPROVALS.iter().map(approval).collect()
}

/// The place where the call waits for a person.
enum Waiting {
    Here,
    /// It cannot be approved, or does not wait any longer.
    Gone,
    NoDaemon,
}

fn waiting(global: &Global, call: &CallRecord) -> anyhow::Result<Waiting> {
    if call.request.is_empty() {
        return Ok(Waiting::Gone);
    }
    Ok(match global.client()?.show(&call.request) {
        // Ids repeat, so another call may have this one by now.
        Ok(shown) if shown.record == call.correlation_id => Waiting::Here,
        Err(ControlError::NotRunning) => Waiting::NoDaemon,
        Ok(_) | Err(_) => Waiting::Gone,
    })
}

/// Returns the distinct changes after which the deciding findings have no effect.
fn changes(global: &Global, call: &CallRecord, understood: Option<&Understood>) -> Vec<Remedy> {
    let mut changes: Vec<Remedy> = Vec::new();
    for finding in deciding(call) {
        let change = change(global, call, finding, understood);
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    if changes.is_empty() {
        changes.push(remedy("nothing", "the record names no finding that could be exempt"));
    }
    changes
}

fn change(
    global: &Global,
    call: &CallRecord,
    finding: &FindingRecord,
    understood: Option<&Understood>,
) -> Remedy {
    if !finding.rule.is_empty() {
        return of_rule(global, finding, understood);
    }
    match CHANGES.iter().find(|(code, ..)| code.as_str() == finding.code) {
        Some((_, words, meaning)) => {
            // The agent may have named the workspace, and a person copies the command: `Global::command` quotes it.
            let words = words.iter().map(|word| match *word {
                ID => &*call.request,
                DIR => &*call.workspace,
                word => word,
            });
            remedy(&global.command(&words.collect::<Vec<_>>()), meaning)
        }
        None => remedy("nothing", "this finding has no exemption"),
    }
}

/// Returns the change of a rule without exemptions. Only its owner can make it.
fn of_rule(global: &Global, finding: &FindingRecord, understood: Option<&Understood>) -> Remedy {
    let layer = Layer::ALL.into_iter().find(|layer| layer.as_str() == finding.layer);
    match layer {
        Some(Layer::Organisation) => remedy("nothing", "the rule is castellan's own, or your organisation's"),
        Some(Layer::Project) => remedy(
            &global.command(&["trust"]),
            "after you changed the rule in `.castellan/` of the workspace",
        ),
        Some(Layer::User) | None => {
            let place = understood.and_then(|understood| understood.place(finding));
            let file = place.as_deref().and_then(|place| place.rsplit('/').next()).unwrap_or("its file");
            remedy(&global.command(&["apply"]), &format!("after you changed the rule in {file}"))
        }
    }
}
