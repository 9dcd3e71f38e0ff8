//! The screen of `castellan pending` at a terminal: reads keys, asks the daemon once a second, and draws. A guard gives
//! the terminal back at the end, at a panic and at a signal.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use anyhow::Context;
use castellan_daemon::{ControlClient, GrantScope, PendingCall, Secret};
use castellan_wire::Home;
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{Event, KeyEventKind, poll, read};
use crossterm::style::Print;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::consent::granted;
use super::state::{State, Wish};
use super::{view, whole};
use crate::exit::Exit;
use crate::limits::SCREEN_POLL;
use crate::output::message;
use crate::{ask, presence};

/// Reports whether there is a terminal for a screen: one for keys and output that can move its cursor.
pub(super) fn is_possible() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|name| name == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_dumb
}

/// Shows the pending calls until the person ends the screen.
pub(super) fn run(home: &Home) -> anyhow::Result<Exit> {
    let client = ControlClient::with_person(home.clone(), known);
    // Without a daemon there is no screen.
    let calls = client.pending()?;
    give_back_at_signals()?;
    let _screen = Screen::enter()?;
    let mut screen = Shown { client, state: State::default(), frame: Vec::new() };
    screen.resize()?;
    screen.state.update(calls);
    screen.serve()
}

/// The terminal while the screen is shown.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Screen> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let _ = leave();
            before(panic);
        }));
        // Made first, so that a failure half-way gives the terminal back, too.
        let screen = Screen;
        enter()?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = leave();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)
}

fn leave() -> io::Result<()> {
    let modes = disable_raw_mode();
    execute!(io::stdout(), Show, LeaveAlternateScreen).and(modes)
}

/// Gives the terminal back when a signal ends this process, also while the terminal hides a secret.
fn give_back_at_signals() -> anyhow::Result<()> {
    let before = tcgetattr(io::stdin())?;
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT])?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            // The screen draws nothing more.
            let _out = io::stdout().lock();
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
            let _ = leave();
            let _ = emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(wait)?;
    Ok(())
}

/// Asks for a secret as `castellan approve` does, without the screen.
fn known(secret: Secret) -> io::Result<String> {
    leave()?;
    let answer = ask::known(secret);
    enter()?;
    answer
}

/// The screen with its daemon.
struct Shown {
    client: ControlClient,
    state: State,
    /// The lines on the terminal.
    frame: Vec<String>,
}

impl Shown {
    fn serve(&mut self) -> anyhow::Result<Exit> {
        let mut due = Instant::now() + SCREEN_POLL;
        loop {
            self.draw()?;
            let is_due = Instant::now() >= due;
            if !is_due && poll(due.saturating_duration_since(Instant::now()))? {
                if let Event::Key(key) = read()?
                    && key.kind != KeyEventKind::Release
                {
                    let wish = self.state.press(key);
                    if wish == Wish::End {
                        return Ok(Exit::Done);
                    }
                    self.fulfil(wish);
                }
            } else {
                self.update();
                due = Instant::now() + SCREEN_POLL;
            }
            self.resize()?;
        }
    }

    fn update(&mut self) {
        match self.client.pending() {
            Ok(calls) => self.state.update(calls),
            Err(error) => {
                self.state.update(Vec::new());
                self.state.message = error.to_string();
            }
        }
    }

    /// Carries out a key's wish. A failure is only a message.
    fn fulfil(&mut self, wish: Wish) {
        // A key that only moves asks the daemon nothing.
        if wish == Wish::Nothing {
            return;
        }
        let done = self.carry_out(wish);
        self.update();
        match done {
            Ok(report) if report.is_empty() => {}
            Ok(report) => self.state.message = report,
            Err(error) => self.state.message = message(&error),
        }
    }

    /// Returns a report for the person, which may be empty.
    fn carry_out(&mut self, wish: Wish) -> anyhow::Result<String> {
        match wish {
            Wish::Nothing | Wish::End => {}
            Wish::Open(id, is_asked) => self.open(&id, is_asked)?,
            Wish::Ask(id) => {
                self.check_presence(&id)?;
                self.state.ask();
            }
            Wish::Approve => return self.approve(),
            Wish::Refuse(id) => {
                self.client.refuse(&id)?;
                return Ok(format!("{id} is refused: it waits no more, and is not granted"));
            }
        }
        Ok(String::new())
    }

    /// Checks that a person is present, before the screen asks.
    fn check_presence(&self, id: &str) -> anyhow::Result<()> {
        // No call has an empty hash.
        presence::require_before(|| self.client.approve(id, "", GrantScope::Once))
    }

    /// Shows a call whole.
    fn open(&mut self, id: &str, is_asked: bool) -> anyhow::Result<()> {
        if is_asked {
            self.check_presence(id)?;
        }
        let shown = self.client.show(id)?;
        let lines = whole::wrapped(&shown, self.state.columns)?;
        self.state.open(shown, lines, is_asked);
        Ok(())
    }

    /// Grants the opened call once. The daemon checks that a person is present.
    fn approve(&mut self) -> anyhow::Result<String> {
        let Some(opened) = self.state.opened.take() else { return Ok(String::new()) };
        let PendingCall { id, .. } = &opened.shown.call;
        let done = self.client.approve(id, &opened.shown.shown, GrantScope::Once);
        // A secret may have been asked for on another screen.
        self.frame.clear();
        done?;
        Ok(format!("{id}: {}", granted(&opened.shown.call, "once")))
    }

    /// Reads the size of the terminal; an error if the terminal is gone.
    fn resize(&mut self) -> anyhow::Result<()> {
        let size = tcgetwinsize(io::stdout()).context("the terminal")?;
        let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
        if (columns, rows) != (self.state.columns, self.state.rows) {
            self.frame.clear();
        }
        if self.state.resize(columns, rows)
            && let Some(opened) = &self.state.opened
        {
            let lines = whole::wrapped(&opened.shown, columns)?;
            self.state.reflow(lines);
        }
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let lines = view::draw(&self.state);
        if lines == self.frame {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let is_plain = anstream::AutoStream::choice(&out) == anstream::ColorChoice::Never;
        queue!(out, MoveTo(0, 0), Clear(ClearType::All))?;
        for (row, line) in (0..).zip(&lines) {
            queue!(out, MoveTo(0, row))?;
            match is_plain {
                true => queue!(out, Print(anstream::adapter::strip_str(line)))?,
                false => queue!(out, Print(line))?,
            }
        }
        out.flush()?;
        self.frame = lines;
        Ok(())
    }
}
