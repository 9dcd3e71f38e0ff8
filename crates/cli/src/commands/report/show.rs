//! A report, for people and as JSON.

use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, SystemTime};

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::{Value as Json, json};

use super::change;
use super::chart::bar;
use crate::commands::suggest::Suggestions;
use crate::history::{Missing, RuleCount, Tally, Verdicts};
use crate::output::{self, BAD, Cell, FAINT, GOOD, PLAIN, WARN, counted, cut, printable};
use crate::times::{local_day, utc};

/// Maximum columns of a bar: longer ones add no information.
const BAR_MAX: usize = 60;

/// Columns beside a bar.
const BESIDE_BAR: usize = 60;

/// Columns of a terminal that has room for a bar beside names.
const BAR_FROM: usize = 100;

/// Columns of a row about asks beside its name, its bar and its answers.
const ASKED_COLUMNS: usize = 10;

/// Columns of the name of a rule.
const NAME_MIN: usize = 20;
const NAME_MAX: usize = 60;

/// Maximum period that includes days without calls: two months.
const DAYS_MAX: usize = 62;

const ROWS_MAX: usize = 8;

#[derive(Debug)]
pub(super) struct Report<'r> {
    pub(super) tally: &'r Tally,
    pub(super) suggestions: &'r Suggestions,
    /// Rules that an upgrade added, with the start of their enforcement.
    pub(super) on_trial: &'r [(&'r str, SystemTime)],
    /// True if an agent may read the report.
    pub(super) is_agent: bool,
    pub(super) missing: &'r Missing,
    pub(super) since: SystemTime,
    pub(super) until: SystemTime,
}

impl Report<'_> {
    pub(super) fn write(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Report { tally, missing, .. } = self;
        let (since, until) = (local_day(self.since), local_day(self.until));
        let Verdicts { deny, ask, allow, defer } = tally.verdicts;
        writeln!(out, "{since} to {until}, {}", counted(tally.calls, "call"))?;
        if tally.calls > 0 {
            writeln!(out, "{deny} denied, {ask} asked, {allow} allowed, {defer} left to the agent")?;
            self.write_days(out)?;
            self.write_asking(out)?;
            self.write_agents(out)?;
        }
        self.write_waits(out)?;
        self.write_ungoverned(out)?;
        self.write_observed(out)?;
        self.write_on_trial(out)?;
        self.write_unknown_tools(out)?;
        missing.write(out)?;
        change::write(out, self.suggestions, !tally.ungoverned.is_empty(), self.is_agent)
    }

    /// Writes a bar for each day; over a long period only for days with calls.
    fn write_days(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let days = &self.tally.days;
        let longest = days.values().map(|counts| counts.all()).max().unwrap_or_default();
        writeln!(
            out,
            "\n{FAINT}by day{FAINT:#}  {BAD}█{BAD:#} denied  {WARN}▓{WARN:#} asked  {GOOD}▒{GOOD:#} allowed  {FAINT}░{FAINT:#} agent decides"
        )?;
        let (Some((first, _)), Some((last, _))) = (days.first_key_value(), days.last_key_value()) else {
            return Ok(());
        };
        let every = first.series(1.day()).take_while(|day| day <= last);
        let shown: Vec<Date> = match every.clone().take(DAYS_MAX + 1).count() {
            0..=DAYS_MAX => every.collect(),
            _ => days.keys().copied().collect(),
        };
        for day in shown {
            let counts = days.get(&day).copied().unwrap_or_default();
            let parts = [
                (counts.deny, '█', BAD),
                (counts.ask, '▓', WARN),
                (counts.allow, '▒', GOOD),
                (counts.defer, '░', FAINT),
            ];
            let bar = bar(&parts, longest, width());
            writeln!(out, "{day}  {:>6}  {bar}", counts.all())?;
        }
        Ok(())
    }

    fn write_asking(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let asking = self.tally.asking();
        let Some((_, first)) = asking.first() else { return Ok(()) };
        let most = first.asked;
        writeln!(out, "\n{FAINT}asked most{FAINT:#}")?;
        for (name, count) in asking.iter().take(ROWS_MAX) {
            let RuleCount { asked, approved, refused, .. } = count;
            let mut reported = format!("{approved} approved, {refused} refused");
            let open = asked.saturating_sub(approved + refused);
            if open > 0 {
                write!(reported, ", {open} not known")?;
            }
            let bar = bar_of_asks(*asked, most);
            let taken = ASKED_COLUMNS + output::width(&reported) + bar.columns;
            let name =
                cut(&printable(name), output::columns().saturating_sub(taken).clamp(NAME_MIN, NAME_MAX));
            writeln!(out, "{asked:>6}  {}{name}  {FAINT}{reported}{FAINT:#}", bar.text)?;
        }
        if asking.len() > ROWS_MAX {
            writeln!(out, "        {FAINT}and {} more{FAINT:#}", counted(asking.len() - ROWS_MAX, "rule"))?;
        }
        Ok(())
    }

    fn write_agents(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let head = ["agent", "calls", "denied", "asked", "allowed", "agent decides"]
            .map(|word| Cell::new(word, FAINT));
        let mut rows = vec![head.to_vec()];
        for (agent, counts) in &self.tally.agents {
            let numbers = [counts.all(), counts.deny, counts.ask, counts.allow, counts.defer];
            let numbers = numbers.map(|number| Cell::from(number.to_string()));
            rows.push(std::iter::once(Cell::from(agent)).chain(numbers).collect());
        }
        writeln!(out)?;
        Ok(output::write_table(out, &rows)?)
    }

    /// Writes how long castellan's pending calls waited for a person. Waits at the agent's own prompt are not measured.
    fn write_waits(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(Waits { count, median, longest, all }) = self.waits() {
            let answers = counted(count, "answer");
            let [median, longest, all] = [median, longest, all].map(rounded);
            let times = match count {
                1 => longest,
                _ => format!("half of them within {median}, the longest {longest}, {all} in all"),
            };
            let text = format!("waited for {answers} by `castellan approve` or `refuse`: {times}");
            writeln!(out)?;
            output::write_wrapped(out, &text, PLAIN, "", output::columns())?;
        }
        Ok(())
    }

    fn waits(&self) -> Option<Waits> {
        let mut waits = self.tally.waits.clone();
        waits.sort_unstable();
        let median = *waits.get(waits.len() / 2)?;
        Some(Waits { count: waits.len(), median, longest: *waits.last()?, all: waits.iter().sum() })
    }

    fn write_ungoverned(&self, out: &mut impl Write) -> anyhow::Result<()> {
        for (why, count) in &self.tally.ungoverned {
            let meaning =
                UNGOVERNED.iter().find(|(known, _)| known == why).map_or(why.as_str(), |(_, text)| text);
            writeln!(out, "\n{BAD}ungoverned{BAD:#}")?;
            let text = format!("{count} × {meaning}; see `castellan log`");
            output::write_wrapped(out, &text, PLAIN, "        ", output::columns())?;
        }
        Ok(())
    }

    /// Writes the verdicts of observed rules. An agent does not get the rule names.
    fn write_observed(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let mut observed = self.observed();
        if observed.is_empty() {
            return Ok(());
        }
        observed.sort_by_key(|(_, count)| std::cmp::Reverse(count.observed.values().sum::<usize>()));
        writeln!(out, "\n{FAINT}only observed: what these rules would have said{FAINT:#}")?;
        if self.is_agent {
            return Ok(writeln!(out, "        {}", counted(observed.len(), "rule"))?);
        }
        for (name, count) in observed.iter().take(ROWS_MAX) {
            let said: Vec<String> =
                count.observed.iter().map(|(word, count)| format!("{word} {count}")).collect();
            writeln!(out, "        {}  {FAINT}{}{FAINT:#}", printable(name), printable(&said.join(", ")))?;
        }
        Ok(())
    }

    /// Writes the rules on trial. An agent does not get the rule names.
    fn write_on_trial(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if self.on_trial.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{FAINT}new since an upgrade, and only observed yet{FAINT:#}")?;
        if self.is_agent {
            return Ok(writeln!(out, "        {}", counted(self.on_trial.len(), "rule"))?);
        }
        for (rule, end) in self.on_trial.iter().take(ROWS_MAX) {
            writeln!(
                out,
                "        {}  {FAINT}enforced from {} on{FAINT:#}",
                printable(rule),
                local_day(*end)
            )?;
        }
        if self.on_trial.len() > ROWS_MAX {
            let more = counted(self.on_trial.len() - ROWS_MAX, "rule");
            writeln!(out, "        {FAINT}and {more} more: `castellan packs` names them{FAINT:#}")?;
        }
        Ok(())
    }

    fn write_unknown_tools(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let tools = &self.suggestions.unknown_tools;
        if tools.is_empty() {
            return Ok(());
        }
        let calls = counted(tools.iter().map(|tool| tool.calls).sum::<usize>(), "call");
        writeln!(out, "\n{FAINT}tools that castellan does not know, {calls}{FAINT:#}")?;
        for tool in tools.iter().take(ROWS_MAX) {
            let (agent, name) = (printable(&tool.agent), cut(&printable(&tool.tool), 60));
            writeln!(out, "{:>6}  {name}  {FAINT}{agent}{FAINT:#}", tool.calls)?;
        }
        if tools.len() > ROWS_MAX {
            writeln!(out, "        {FAINT}and {} more{FAINT:#}", counted(tools.len() - ROWS_MAX, "tool"))?;
        }
        Ok(())
    }

    fn observed(&self) -> Vec<(&String, &RuleCount)> {
        self.tally.rules.iter().filter(|(_, count)| !count.observed.is_empty()).collect()
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let Report { tally, suggestions, on_trial, is_agent, missing, since, until } = self;
        let on_trial = on_trial
            .iter()
            .map(|(rule, end)| json!({ "rule": rule, "enforced_from": local_day(*end).to_string() }));
        let on_trial: Json = if *is_agent { on_trial.len().into() } else { on_trial.collect() };
        let days = tally.days.iter().map(|(day, counts)| (day.to_string(), json!(counts)));
        let asking = tally.asking().into_iter().map(|(name, count)| {
            json!({
                "rule": name, "asked": count.asked, "approved": count.approved, "refused": count.refused,
                "not_known": count.asked.saturating_sub(count.approved + count.refused),
            })
        });
        let agents = tally.agents.iter().map(|(agent, counts)| (agent.clone(), json!(counts)));
        let observed = self
            .observed()
            .into_iter()
            .map(|(name, count)| json!({ "rule": name, "verdicts": count.observed }));
        let observed: Json = if *is_agent { observed.len().into() } else { observed.collect() };
        let waits = self.waits().map(|waits| {
            let seconds = |time: Duration| time.as_secs();
            json!({
                "answers": waits.count, "median_s": seconds(waits.median), "longest_s": seconds(waits.longest),
                "all_s": seconds(waits.all),
            })
        });
        let answer = json!({
            "version": 1,
            "since": utc(*since),
            "until": utc(*until),
            "calls": tally.calls,
            "verdicts": tally.verdicts,
            "days": days.collect::<serde_json::Map<_, _>>(),
            "asked_most": asking.collect::<Vec<_>>(),
            "agents": agents.collect::<serde_json::Map<_, _>>(),
            "waited": waits,
            "ungoverned": tally.ungoverned,
            "observed": observed,
            "asks_not_followed": tally.asks_dropped,
            "on_trial": on_trial,
            "suggestions": if *is_agent { suggestions.counts_json() } else { suggestions.json() },
            "log": missing.json(),
        });
        Ok(writeln!(out, "{answer:#}")?)
    }
}

struct Waits {
    count: usize,
    median: Duration,
    longest: Duration,
    all: Duration,
}

/// Meanings of the words in ungoverned records.
const UNGOVERNED: &[(&str, &str)] = &[
    ("no_decision", "a call ran without a decision"),
    ("against_decision", "a call ran against a decision"),
    ("other_input", "a call ran with another input than the one judged"),
    ("rewrite_ignored", "a call ran outside of the sandbox that castellan had it run in"),
    ("hooks_off", "an agent's hooks were found switched off"),
    ("foreign_hook", "a hook of somebody else's was found that could change calls"),
];

/// A bar before the name of a rule, with its gap.
struct AskBar {
    text: String,
    columns: usize,
}

/// Returns the bar of a rule's asks; none on a narrow terminal, where the names need the columns.
fn bar_of_asks(asked: usize, most: usize) -> AskBar {
    if output::columns() < BAR_FROM {
        return AskBar { text: String::new(), columns: 0 };
    }
    let longest = width() / 3;
    let bar = bar(&[(asked, '▓', WARN)], most, longest);
    let padding = longest.saturating_sub(asked.saturating_mul(longest) / most.max(1));
    AskBar { text: format!("{bar}{:padding$}  ", ""), columns: longest + 2 }
}

/// Returns the columns of the longest bar.
fn width() -> usize {
    output::columns().saturating_sub(BESIDE_BAR).clamp(10, BAR_MAX)
}

/// Formats a duration to the second.
fn rounded(time: Duration) -> String {
    humantime::format_duration(Duration::from_secs(time.as_secs())).to_string()
}
