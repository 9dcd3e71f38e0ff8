//! Judges the rows of all cases of the shipped rules in both engines and compares the matches row by row:
//! `both_engines FALCO LIBRARY`. FALCO is started with the configuration that castellan writes for its own Falco, and
//! loads the plugin LIBRARY. Prints the number of differing rows and the times, and fails if a row differs.

use std::error::Error;
use std::fs::File;
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use castellan_daemon::{Config, compile};
use castellan_engine::{RemoteEngine, Secret, Setup};
use castellan_event::{CallRow, FIELDS, rows};
use castellan_falco::description::Described;
use castellan_falco::engine_config::{EngineConfig, alone};
use castellan_falco::export::{EngineRules, for_engine};
use castellan_rows::{Generation, Identity, SenderEvent};
use castellan_rules::{Engine, Loaded, Options, Part, Source, load};
use castellan_trial::{CaseFile, Judged, Trial, shipped_cases};

type Failure = Box<dyn Error + Send + Sync>;

/// The time in which Falco must have started, loaded the rules and answered the roll call.
const START: Duration = Duration::from_secs(60);
/// The time for one call.
const CALL: Duration = Duration::from_secs(10);
const CLIENTS: usize = 16;
/// Differing rows, and lines of Falco, that are shown.
const SHOWN: usize = 10;
/// The file with Falco's output.
const LOG: &str = "falco.log";

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [falco, library] = words.as_slice() else { return Err("usage: both_engines FALCO LIBRARY".into()) };
    let native = native()?;
    let description = native.description.as_ref().ok_or("no description of the rules")?;
    let described = Described { layer: None, rules: &native.rules, description };
    let exported = for_engine(&[described], Engine::V0_43);
    let calls = judged()?;
    let calls: Vec<Call<'_>> = calls.iter().map(|judged| Call::of(judged)).collect::<Result<_, _>>()?;
    let place = tempfile::tempdir()?;
    let compared = with_falco((falco, library), place.path(), &exported, |engine| {
        compare(&native, engine, &calls)?;
        measure(&native, engine, &calls)
    });
    if compared.is_err() {
        let log = std::fs::read_to_string(place.path().join(LOG)).unwrap_or_default();
        let lines: Vec<&str> = log.lines().filter(|line| !line.contains("[TRACE]")).collect();
        let last = lines.get(lines.len().saturating_sub(SHOWN)..).unwrap_or_default();
        eprintln!("the last lines of Falco:\n{}", last.join("\n"));
    }
    compared
}

/// Starts Falco and does the work when it is ready. Falco ends with it.
fn with_falco(
    (falco, library): (&str, &str),
    place: &Path,
    rules: &EngineRules,
    work: impl FnOnce(&RemoteEngine) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let start = Instant::now();
    let started = Started::new((falco, library), place, rules)?;
    if !started.engine.wait_for_engine(start + START) {
        started.engine.ready(Instant::now() + CALL)?;
    }
    println!("{} rules are ready {} ms after the start of Falco", rules.count, start.elapsed().as_millis());
    work(&started.engine)
}

/// The shipped rules in castellan's own engine.
fn native() -> Result<Loaded, Failure> {
    let packs: Vec<Source> = shipped_cases().into_iter().map(|(rules, _)| rules).collect();
    let native = load(&packs, FIELDS, &Options { describe: true, lints: false, ..Options::default() });
    if native.problems.is_empty() { Ok(native) } else { Err(format!("{:?}", native.problems).into()) }
}

fn judged() -> Result<Vec<Judged>, Failure> {
    let policy = compile(&[], &Config::default()).policy;
    let mut all = Vec::new();
    for (_, cases) in shipped_cases() {
        for case in CaseFile::read(&cases).map_err(|_| "the cases have problems")?.cases {
            all.push(Trial::new(&policy).judge(&case.case)?);
        }
    }
    Ok(all)
}

struct Call<'j> {
    rows: Vec<CallRow<'j>>,
    keys: Vec<&'j str>,
}

impl<'j> Call<'j> {
    fn of(judged: &'j Judged) -> Result<Call<'j>, Failure> {
        let rows = rows(&judged.call, &judged.facts, &judged.session, &judged.answers);
        let keys = judged.session.marks.keys().map(String::as_str).collect();
        Ok(Call { rows: rows.map_err(|_| "an answer is missing")?, keys })
    }

    fn native(&self, rules: &Loaded) -> Vec<Vec<u64>> {
        let mut found = vec![Vec::new(); self.rows.len()];
        for hit in rules.rules.evaluate_rows(&self.rows, |_| Part::In) {
            for row in hit.rows {
                found.get_mut(row).into_iter().for_each(|found| found.push(hit.hit.rule as u64));
            }
        }
        found
    }

    fn remote(&self, engine: &RemoteEngine) -> Result<Vec<Vec<u64>>, Failure> {
        Ok(engine.matches(&self.rows, &self.keys, Instant::now() + CALL)?)
    }
}

/// A Falco that ends with the program.
struct Started {
    engine: RemoteEngine,
    falco: Child,
}

impl Started {
    fn new((falco, library): (&str, &str), place: &Path, rules: &EngineRules) -> Result<Started, Failure> {
        let path = |name: &str| place.join(name).display().to_string();
        let (socket, rule_file, config_file) = (path("rows.sock"), path("rules.yaml"), path("falco.yaml"));
        let generation = Generation::parse(&rules.generation).ok_or("no generation")?;
        let user = rustix::process::geteuid().as_raw();
        let secret = Secret::random()?;
        let setup = Setup {
            rows: UnixListener::bind(&socket)?,
            alerts: TcpListener::bind("127.0.0.1:0")?,
            identity: Identity { key: [7; 32], generation },
            secret: secret.clone(),
            rules: rules.count,
            roll: rules.roll.clone(),
            // Nobody else can enter the directory.
            admit: Box::new(|_: &UnixStream| Ok(())),
        };
        let engine = RemoteEngine::start(setup, |event| {
            if let SenderEvent::Refused(why) = event {
                eprintln!("refused: {why}");
            }
        })?;
        let url = format!("http://{}{}", engine.address(), secret.path());
        let config = alone(&EngineConfig {
            rules: &rule_file,
            library,
            socket: &socket,
            user,
            key: &"07".repeat(32),
            generation: &rules.generation,
            url: &url,
            user_agent: secret.agent(),
        });
        std::fs::write(&rule_file, &rules.yaml)?;
        std::fs::write(&config_file, config)?;
        let log = File::create(place.join(LOG))?;
        let mut falco = Command::new(falco);
        falco.args([Path::new("-c"), Path::new(&config_file)]).stdout(log.try_clone()?).stderr(log);
        Ok(Started { engine, falco: falco.spawn()? })
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.falco.kill().unwrap_or_default();
        drop(self.falco.wait());
    }
}

fn compare(native: &Loaded, engine: &RemoteEngine, calls: &[Call<'_>]) -> Result<(), Failure> {
    let (mut count, mut matched, mut differing) = (0, 0, 0);
    for call in calls {
        let (own, theirs) = (call.native(native), call.remote(engine)?);
        count += own.len();
        matched += own.iter().flatten().count();
        for (row, (own, theirs)) in
            own.iter().zip(&theirs).enumerate().filter(|(_, (own, theirs))| own != theirs)
        {
            differing += 1;
            if differing <= SHOWN {
                println!("row {row}: {own:?}, Falco {theirs:?}: {:?}", call.rows.get(row));
            }
        }
    }
    println!("{} calls, {count} rows, {matched} matches: {differing} rows differ", calls.len());
    if differing == 0 { Ok(()) } else { Err("the engines differ".into()) }
}

fn measure(native: &Loaded, engine: &RemoteEngine, calls: &[Call<'_>]) -> Result<(), Failure> {
    println!("\n| engine | clients | calls/s | p50 µs | p99 µs |\n|---|---|---|---|---|");
    for clients in [1, CLIENTS] {
        row("native", clients, calls, &|call| {
            std::hint::black_box(call.native(native));
            Ok(())
        })?;
        row("falco", clients, calls, &|call| call.remote(engine).map(drop))?;
    }
    Ok(())
}

/// Judges each call once, by several clients, and prints a row of the table.
fn row(
    name: &str,
    clients: usize,
    calls: &[Call<'_>],
    judge: &(dyn Fn(&Call<'_>) -> Result<(), Failure> + Sync),
) -> Result<(), Failure> {
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    let client = || -> Result<Vec<u128>, Failure> {
        let mut times = Vec::new();
        while let Some(call) = calls.get(next.fetch_add(1, Ordering::SeqCst)) {
            let start = Instant::now();
            judge(call)?;
            times.push(start.elapsed().as_micros());
        }
        Ok(times)
    };
    let times = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        let joined = threads.into_iter().map(|thread| thread.join().map_err(|_| "a client panicked")?);
        joined.collect::<Result<Vec<_>, Failure>>()
    })?;
    let mut times = times.concat();
    times.sort_unstable();
    let rate = times.len() as f64 / start.elapsed().as_secs_f64();
    let at = |percent: usize| {
        times.get((times.len() * percent / 100).min(times.len() - 1)).copied().unwrap_or_default()
    };
    println!("| {name} | {clients} | {rate:.0} | {} | {} |", at(50), at(99));
    Ok(())
}
