//! The plays that are the same for every agent. `shared_plays!` makes the tests of one agent from this list. Must not
//! depend on the differences between the agents.

use anyhow::Result;

use crate::agents::Agent;
use crate::run::Options;
use crate::scenario::{
    Absent, Case, Registered, SwitchedOff, check, check_absent_daemon, check_denied_escalation,
    check_escalation, check_killed_daemon, check_loosening, check_parallel_calls, check_switched_off,
    check_trust,
};

/// Declares a test for each play, with `$agent`.
#[macro_export]
macro_rules! shared_plays {
    ($agent:expr) => {
        $crate::shared_plays!($agent, common);
        $crate::shared_plays! {
            $agent;
            a_repository_does_not_switch_off_a_launched_agent,
            a_repository_does_not_switch_off_the_managed_registration,
        }
    };
    // For an agent that has only the user's registration.
    ($agent:expr, common) => {
        $crate::shared_plays! {
            $agent;
            a_call_that_no_rule_is_about_runs_when_the_agent_lets_it,
            a_denied_call_does_not_run,
            a_denied_call_runs_in_monitor_mode_and_is_recorded,
            an_agent_cannot_loosen,
            nothing_runs_after_a_deliberate_stop,
            nothing_runs_without_the_daemons_binary,
            a_call_does_not_run_when_the_daemon_is_killed_while_it_waits,
            parallel_calls_are_judged_one_by_one,
            a_call_that_needs_more_than_its_session_has_waits_for_a_person,
            a_workspace_is_only_looked_at_until_a_person_trusts_it,
        }
    };
    ($agent:expr; $($play:ident),+ $(,)?) => {
        $(
            #[test]
            fn $play() -> anyhow::Result<()> {
                $crate::plays::$play($agent)
            }
        )+
    };
}

/// A deferred call is left to the agent, which here asks nobody.
pub fn a_call_that_no_rule_is_about_runs_when_the_agent_lets_it(agent: Agent) -> Result<()> {
    check(agent, Case::touch(agent, "other-file", true, "", ("defer", "defer", true)))
}

/// The model receives the rule and its message.
pub fn a_denied_call_does_not_run(agent: Agent) -> Result<()> {
    let told = "the test denies this file";
    check(agent, Case::touch(agent, "denied-file", false, told, ("deny", "deny", true)))
}

/// Monitor mode changes the answer, but not the recorded verdict.
pub fn a_denied_call_runs_in_monitor_mode_and_is_recorded(agent: Agent) -> Result<()> {
    let case = Case::touch(agent, "denied-file", true, "", ("deny", "defer", false));
    check(agent, Case { mode: "monitor", ..case })
}

/// A tool call does not prove the presence of a person, with or without a terminal.
pub fn an_agent_cannot_loosen(agent: Agent) -> Result<()> {
    check_loosening(agent, &Options::default())
}

/// A stopped castellan denies calls, and hooks do not restart it.
pub fn nothing_runs_after_a_deliberate_stop(agent: Agent) -> Result<()> {
    check_absent_daemon(agent, Absent::Stopped)
}

/// A daemon that cannot be started denies.
pub fn nothing_runs_without_the_daemons_binary(agent: Agent) -> Result<()> {
    check_absent_daemon(agent, Absent::NoBinary)
}

/// A missing answer is a deny.
pub fn a_call_does_not_run_when_the_daemon_is_killed_while_it_waits(agent: Agent) -> Result<()> {
    check_killed_daemon(agent)
}

/// A denied call does not affect the other call of its turn.
pub fn parallel_calls_are_judged_one_by_one(agent: Agent) -> Result<()> {
    check_parallel_calls(agent)
}

/// Trust given at another terminal has effect at once.
pub fn a_workspace_is_only_looked_at_until_a_person_trusts_it(agent: Agent) -> Result<()> {
    check_trust(agent)
}

/// A call approved at another terminal runs when it is made again. If nobody can be asked, castellan denies it.
pub fn a_call_that_needs_more_than_its_session_has_waits_for_a_person(agent: Agent) -> Result<()> {
    check_escalation(agent)?;
    check_denied_escalation(agent)
}

/// The launcher's flags override a repository's files.
pub fn a_repository_does_not_switch_off_a_launched_agent(agent: Agent) -> Result<()> {
    check_switched_off(agent, Registered::Launcher, SwitchedOff::BeforeStart, true)?;
    check_switched_off(agent, Registered::Launcher, SwitchedOff::MidSession, true)
}

/// The machine's settings override a repository's files.
pub fn a_repository_does_not_switch_off_the_managed_registration(agent: Agent) -> Result<()> {
    check_switched_off(agent, Registered::Managed, SwitchedOff::BeforeStart, true)?;
    check_switched_off(agent, Registered::Managed, SwitchedOff::MidSession, true)
}
