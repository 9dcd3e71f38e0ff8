//! Slow programs: parts repeated up to the limit of the read bytes. Measures the time of each, per unit of counted
//! work. With `--hostile LANGUAGE SECONDS SEED` it generates texts of a language's tokens, and reports the worst.

use std::time::{Duration, Instant};

use anyhow::Context;
use castellan_languages::{Language, Start, Work, read_within};
use rustix::time::{ClockId, clock_gettime};

use crate::sample::splitmix;
use crate::table::percentile;

/// Limit for all programs of one call together, in µs.
const REACH_US: f64 = 20_000.0;

/// Limit of the read bytes of a program, without the text put before PHP code that lacks its opening tag.
const BYTES: usize = (64 << 10) - 16;

/// Rounds of each text. The fastest counts, by the CPU time of this thread, which excludes disturbances of the machine.
const ROUNDS: usize = 3;

/// Fewer units do not show the time per unit.
const UNITS_MIN: u64 = 1_000;

/// Rows of the slowest texts.
const SLOWEST: usize = 10;

/// Separators between tokens.
const SEPARATORS: [&str; 3] = ["", " ", "\n"];

/// Limits of tokens: in the repeated part, once before it, and repeated after it.
const MADE_OF: [u64; 3] = [4, 3, 3];

struct Row {
    us: f64,
    units: u64,
    language: Language,
    written: String,
}

impl Row {
    fn ns_per_unit(&self) -> f64 {
        self.us * 1e3 / self.units.max(1) as f64
    }

    fn print(&self) {
        let written = self.written.replace('\n', "⏎").replace('|', "\\|");
        println!(
            "| {} | `{written}` | {:.0} | {} | {:.0} |",
            self.language,
            self.us,
            self.units,
            self.ns_per_unit()
        );
    }
}

pub(crate) fn print() {
    let mut rows: Vec<Row> = Vec::new();
    println!(
        "\nHostile programs of {} bytes: a part again and again, which is one of `corpus/programs/hostile.txt` or a token of the language \
         with nothing, a blank or a line end behind it. To be reached: {REACH_US:.0} µs. ns for each unit of counted work: of texts \
         with {UNITS_MIN} units and more.\n\n\
         | language | texts | µs p50 | most | over the target | ns per unit, least | most |\n|---|---|---|---|---|---|---|",
        BYTES
    );
    for language in Language::ALL {
        let mut own: Vec<Row> =
            parts(*language).iter().map(|part| row(*language, part, &filled("", part, ""))).collect();
        let mut all: Vec<f64> = own.iter().map(|row| row.us).collect();
        let rates = own.iter().filter(|row| row.units >= UNITS_MIN).map(Row::ns_per_unit);
        let (least, most) =
            rates.fold((f64::INFINITY, 0.0_f64), |(least, most), rate| (least.min(rate), most.max(rate)));
        println!(
            "| {language} | {} | {:.0} | {:.0} | {} | {least:.0} | {most:.0} |",
            all.len(),
            percentile(&mut all, 50),
            all.iter().copied().fold(0.0, f64::max),
            all.iter().filter(|us| **us > REACH_US).count(),
        );
        rows.append(&mut own);
    }
    worst(rows);
}

/// Generates and measures texts for some seconds.
pub(crate) fn search(language: &str, seconds: &str, seed: &str) -> anyhow::Result<()> {
    let language = *Language::ALL.iter().find(|one| one.as_str() == language).context("no such language")?;
    let until = Instant::now() + Duration::from_secs(seconds.parse()?);
    let mut state: u64 = seed.parse()?;
    let mut next = |below: u64| {
        state = state.wrapping_add(1);
        splitmix(state) % below.max(1)
    };
    let tokens = castellan_corpus::program_tokens(language.as_str());
    let mut rows = Vec::new();
    while Instant::now() < until {
        let [unit, before, behind] = MADE_OF.map(|most| {
            let count = next(most) + u64::from(most == MADE_OF[0]);
            let separator = one_of(&SEPARATORS, next(3)).unwrap_or(&"");
            let chosen = (0..count).filter_map(|_| one_of(&tokens, next(tokens.len() as u64)));
            chosen.map(|token| format!("{token}{separator}")).collect::<String>()
        });
        let behind = if next(2) == 0 { String::new() } else { behind };
        let text = filled(&before, &unit, &behind);
        rows.push(row(language, &format!("{before}␣{unit}␣{behind}"), &text));
    }
    println!("{} texts\n", rows.len());
    worst(rows);
    Ok(())
}

fn one_of<T>(all: &[T], at: u64) -> Option<&T> {
    all.get(usize::try_from(at).ok()?)
}

/// Prints the slowest texts, and those with the lowest counted work for their time.
fn worst(mut rows: Vec<Row>) {
    const HEAD: &str = "| language | part | µs | units | ns per unit |\n|---|---|---|---|---|";
    println!("\nThe slowest:\n\n{HEAD}");
    rows.sort_by(|a, b| b.us.total_cmp(&a.us));
    rows.iter().take(SLOWEST).for_each(Row::print);
    println!("\nThose of more than 1 ms that are counted least:\n\n{HEAD}");
    rows.retain(|row| row.us > 1e3);
    rows.sort_by(|a, b| b.ns_per_unit().total_cmp(&a.ns_per_unit()));
    rows.iter().take(SLOWEST).for_each(Row::print);
}

fn parts(language: Language) -> Vec<String> {
    let tokens = castellan_corpus::program_tokens(language.as_str());
    let of_tokens = tokens.iter().flat_map(|token| SEPARATORS.map(|separator| format!("{token}{separator}")));
    castellan_corpus::hostile_parts().into_iter().chain(of_tokens).collect()
}

fn filled(before: &str, part: &str, behind: &str) -> String {
    let times = BYTES.saturating_sub(before.len()) / (part.len() + behind.len()).max(1);
    format!("{before}{}{}", part.repeat(times), behind.repeat(times))
}

/// Returns the CPU time of this thread.
pub(crate) fn cpu_us() -> f64 {
    let at = clock_gettime(ClockId::ThreadCPUTime);
    at.tv_sec as f64 * 1e6 + at.tv_nsec as f64 / 1e3
}

fn row(language: Language, written: &str, text: &str) -> Row {
    let mut row = Row { us: f64::INFINITY, units: 0, language, written: written.to_owned() };
    for _ in 0..ROUNDS {
        let mut work = Work::default();
        let started = cpu_us();
        std::hint::black_box(read_within(language, text, &Start::default(), &mut work));
        row.us = row.us.min(cpu_us() - started);
        row.units = work.spent();
    }
    row
}
