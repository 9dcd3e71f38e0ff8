//! Runs a command in a sandbox by hand, for tests and measurements: `sandboxed LAUNCHER [OPTION ...] -- COMMAND ...`, or shows
//! what the machine enforces: `sandboxed LAUNCHER --probe`.
//!
//! Options: `--level full|namespaces|landlock|none`, `--directory D`, `--read P`, `--write P`, `--protect P`, `--secret P`, `--socket P`,
//! `--network none|loopback|hosts|full`, `--processes N`, `--memory BYTES`, `--space BYTES`, `--wall MS`, `--terminal`, `--shared-tmp`,
//! `--home`, `--require`, `--report` (on standard error), `--plan` (prints the plan and runs nothing),
//! `--times N` (prints the median microseconds and the first decile of N starts; `--bare` of the command without a sandbox).

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use castellan_sandbox::{
    Capabilities, LaunchError, Level, Network, Policy, Read, Streams, plan, run, survey,
};

struct Asked {
    policy: Policy,
    can: Capabilities,
    launcher: PathBuf,
    command: Vec<OsString>,
    require: bool,
    report: bool,
    plan: bool,
    times: usize,
    bare: bool,
}

fn main() -> ExitCode {
    match asked().and_then(go) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("sandboxed: {error}");
            ExitCode::from(error.downcast_ref::<LaunchError>().map_or(125, LaunchError::code))
        }
    }
}

fn go(asked: Asked) -> Result<u8, Box<dyn Error>> {
    if asked.plan {
        let survey = survey(&asked.policy, &asked.can)?;
        println!("{:#?}", plan(&asked.policy, &asked.can, &survey, &asked.command)?.0);
        return Ok(0);
    }
    if asked.times > 0 {
        let mut took = Vec::new();
        for _ in 0..asked.times {
            let start = std::time::Instant::now();
            once(&asked)?;
            took.push(start.elapsed().as_micros());
        }
        took.sort_unstable();
        let at = |part: usize| took.get(took.len() / part).copied().unwrap_or_default();
        println!("{} µs (a tenth is below {} µs)", at(2), at(10));
        return Ok(0);
    }
    let (outcome, report) =
        run(&asked.policy, &asked.can, &asked.command, &asked.launcher, Streams::inherit()?, asked.require)?;
    if asked.report {
        for item in report.items {
            eprintln!("{:?}\t{}\t{}\t{}", item.aspect, item.enforced, item.requested, item.how);
        }
    }
    Ok(outcome.code)
}

fn once(asked: &Asked) -> Result<(), Box<dyn Error>> {
    if asked.bare {
        let [program, arguments @ ..] = asked.command.as_slice() else { return Err("no command".into()) };
        std::process::Command::new(program).args(arguments).status()?;
        return Ok(());
    }
    let streams = Streams::inherit()?;
    run(&asked.policy, &asked.can, &asked.command, &asked.launcher, streams, asked.require)?;
    Ok(())
}

#[expect(clippy::too_many_lines, reason = "one arm for each option")]
fn asked() -> Result<Asked, Box<dyn Error>> {
    let mut words = std::env::args_os().skip(1);
    let mut next = || words.next().ok_or("a value is missing");
    let launcher = next()?.into();
    let mut policy = Policy::read_only(&std::env::current_dir()?);
    policy.environment = std::env::vars_os().collect();
    let mut asked = Asked {
        policy,
        can: Capabilities::all(),
        launcher,
        command: Vec::new(),
        require: false,
        report: false,
        plan: false,
        times: 0,
        bare: false,
    };
    let mut only = Vec::new();
    loop {
        let word = next()?;
        let files = &mut asked.policy.files;
        let limits = &mut asked.policy.limits;
        let number = |value: OsString| value.to_string_lossy().parse::<u64>();
        match word.to_str().unwrap_or_default() {
            "--" => break,
            "--level" => {
                let level = match next()?.to_str() {
                    Some("full") => Level::Full,
                    Some("namespaces") => Level::Namespaces,
                    Some("landlock") => Level::Landlock,
                    Some("none") => Level::None,
                    other => return Err(format!("level {other:?}").into()),
                };
                asked.can = asked.can.at(level);
            }
            "--directory" => asked.policy.directory = next()?.into(),
            "--read" => only.push(PathBuf::from(next()?)),
            "--write" => files.writable.push(next()?.into()),
            "--protect" => files.protected.push(next()?.into()),
            "--secret" => files.secret.push(next()?.into()),
            "--socket" => files.sockets.push(next()?.into()),
            "--network" => {
                asked.policy.network = match next()?.to_str() {
                    Some("none") => Network::None,
                    Some("loopback") => Network::Loopback,
                    Some("hosts") => Network::Hosts { outside: None },
                    Some("full") => Network::Full,
                    other => return Err(format!("network {other:?}").into()),
                }
            }
            "--processes" => limits.processes = Some(number(next()?)?),
            "--memory" => limits.memory_bytes = Some(number(next()?)?),
            "--space" => limits.private_bytes = Some(number(next()?)?),
            "--wall" => limits.wall_ms = Some(number(next()?)?),
            "--terminal" => asked.policy.terminal = true,
            "--shared-tmp" => files.private_tmp = false,
            "--home" => files.private_home = true,
            "--require" => asked.require = true,
            "--report" => asked.report = true,
            "--times" => asked.times = usize::try_from(number(next()?)?)?,
            "--bare" => asked.bare = true,
            "--plan" => asked.plan = true,
            "--probe" => {
                println!("{:#?}", castellan_sandbox::probe(&asked.launcher));
                std::process::exit(0);
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    if !only.is_empty() {
        asked.policy.files.read = Read::Only(only);
    }
    asked.command = words.collect();
    Ok(asked)
}
