//! Measures processes from spawn to exit, one after the other.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::Server;
use super::stats::{children_cpu_us, percentile, process_cpu_us, resident_peak_kib};

const WARM_UP: usize = 50;

/// A program that is started repeatedly, and the server that answers it.
pub(crate) struct Case<'a> {
    name: &'static str,
    program: &'a Path,
    arguments: Vec<String>,
    input: &'static str,
    server: &'a Server,
    /// The user's home directory; `None`: no variable names one.
    home: Option<&'a Path>,
}

pub(crate) struct Measured {
    pub(crate) name: &'static str,
    pub(crate) wall_p50_us: f64,
    pub(crate) wall_p99_us: f64,
    pub(crate) cpu_p50_us: f64,
    pub(crate) cpu_p99_us: f64,
}

impl<'a> Case<'a> {
    pub(crate) fn new(
        name: &'static str,
        program: &'a Path,
        arguments: Vec<String>,
        input: &'static str,
        server: &'a Server,
    ) -> Case<'a> {
        Case { name, program, arguments, input, server, home: None }
    }

    pub(crate) fn in_home(self, home: &'a Path) -> Case<'a> {
        Case { home: Some(home), ..self }
    }

    pub(crate) fn output(&self) -> anyhow::Result<String> {
        let mut output = String::new();
        self.run(&mut output)?;
        Ok(output)
    }

    fn run(&self, output: &mut String) -> anyhow::Result<()> {
        let mut child = Command::new(self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(self.home.map(|home| ("HOME", home)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("{} cannot be started", self.name))?;
        if let Some(mut stdin) = child.stdin.take() {
            // The floor does not read its input, and may have ended before the write.
            let _ = stdin.write_all(self.input.as_bytes());
        }
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_string(output)?;
        }
        let status = child.wait()?;
        ensure!(status.success(), "{} ended with {status}", self.name);
        Ok(())
    }
}

/// Runs every case `calls` times after a warm-up, in turns, so that disturbances affect all cases equally.
pub(crate) fn measure(cases: &[Case<'_>], calls: usize) -> anyhow::Result<Vec<Measured>> {
    let mut walls = vec![Vec::with_capacity(calls); cases.len()];
    let mut cpus = vec![Vec::with_capacity(calls); cases.len()];
    for round in 0..WARM_UP + calls {
        for ((case, wall), cpu) in cases.iter().zip(&mut walls).zip(&mut cpus) {
            let before = children_cpu_us()? + process_cpu_us(case.server.pid())?;
            let mut output = String::new();
            let started = Instant::now();
            case.run(&mut output)?;
            let took = started.elapsed();
            if round >= WARM_UP {
                wall.push(took.as_secs_f64() * 1e6);
                cpu.push(children_cpu_us()? + process_cpu_us(case.server.pid())? - before);
            }
        }
    }
    let measured = cases.iter().zip(&mut walls).zip(&mut cpus).map(|((case, wall), cpu)| Measured {
        name: case.name,
        wall_p50_us: percentile(wall, 50.0),
        wall_p99_us: percentile(wall, 99.0),
        cpu_p50_us: percentile(cpu, 50.0),
        cpu_p99_us: percentile(cpu, 99.0),
    });
    Ok(measured.collect())
}

/// Returns the resident memory, in KiB, of a started hook that waits for its input.
pub(crate) fn resident_while_waiting(program: &Path, arguments: &[String]) -> anyhow::Result<u64> {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    std::thread::sleep(Duration::from_millis(100));
    let resident = resident_peak_kib(child.id());
    drop(child.stdin.take());
    child.wait()?;
    resident
}
