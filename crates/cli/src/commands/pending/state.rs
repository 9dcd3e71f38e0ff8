//! The state of the screen: the pending calls, the selected call, and the call that is shown whole. Keys and news of
//! the daemon change the state; this module must not know the terminal or the daemon.

use castellan_daemon::{PendingCall, ShownCall};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Rows of a view that hold no call: its title, its message and its keys.
pub(super) const ROWS_AROUND: usize = 3;

/// The state of the screen.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) calls: Vec<PendingCall>,
    /// Place of the selected call in `calls`.
    pub(super) selected: usize,
    pub(super) opened: Option<Opened>,
    /// Report about the last key or the daemon.
    pub(super) message: String,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

/// A call that is shown whole.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) shown: ShownCall,
    /// Its lines at the present width.
    pub(super) lines: Vec<String>,
    /// Number of lines above the view.
    pub(super) top: usize,
    /// The person has seen its last line.
    pub(super) is_read: bool,
    /// The screen asks whether to approve it.
    pub(super) is_asked: bool,
}

/// A key's request to the daemon or to the screen.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Nothing,
    /// Show the call with this id whole, and ask whether to approve it if true.
    Open(String, bool),
    /// Ask whether to approve the opened call, which has this id.
    Ask(String),
    /// Grant the opened call once.
    Approve,
    /// Refuse the call with this id.
    Refuse(String),
    End,
}

impl State {
    /// Takes the pending calls of the daemon. The selected call stays selected while it is pending.
    pub(super) fn update(&mut self, calls: Vec<PendingCall>) {
        let id = self.calls.get(self.selected).map(|call| call.id.clone());
        let place = calls.iter().position(|call| Some(&call.id) == id.as_ref());
        self.selected = place.unwrap_or(self.selected).min(calls.len().saturating_sub(1));
        self.calls = calls;
        let is_pending = |opened: &Opened| self.calls.iter().any(|call| call.id == opened.shown.call.id);
        if let Some(opened) = self.opened.take_if(|opened| !is_pending(opened)) {
            self.message = format!("{} waits no more", opened.shown.call.id);
        }
    }

    /// Shows a call whole.
    pub(super) fn open(&mut self, shown: ShownCall, lines: Vec<String>, is_asked: bool) {
        self.opened = Some(Opened { shown, lines, top: 0, is_read: false, is_asked });
        self.scroll(0);
    }

    /// Asks whether to approve the opened call.
    pub(super) fn ask(&mut self) {
        if let Some(opened) = &mut self.opened {
            opened.is_asked = true;
        }
    }

    /// Rows for calls, or for the lines of a call.
    pub(super) fn rows_inside(&self) -> usize {
        self.rows.saturating_sub(ROWS_AROUND).max(1)
    }

    pub(super) fn press(&mut self, key: KeyEvent) -> Wish {
        self.message.clear();
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Wish::End;
        }
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return Wish::Nothing;
        }
        match self.opened.is_some() {
            true => self.press_opened(key.code),
            false => self.press_list(key.code),
        }
    }

    fn press_list(&mut self, key: KeyCode) -> Wish {
        if matches!(key, KeyCode::Char('q') | KeyCode::Esc) {
            return Wish::End;
        }
        if let Some(rows) = moved(key, self.rows_inside()) {
            let last = self.calls.len().saturating_sub(1);
            self.selected = self.selected.saturating_add_signed(rows).min(last);
            return Wish::Nothing;
        }
        let Some(call) = self.calls.get(self.selected) else { return Wish::Nothing };
        if key == KeyCode::Char('a') {
            Wish::Open(call.id.clone(), true)
        } else if matches!(key, KeyCode::Char('w') | KeyCode::Enter) {
            Wish::Open(call.id.clone(), false)
        } else if key == KeyCode::Char('r') {
            Wish::Refuse(call.id.clone())
        } else {
            Wish::Nothing
        }
    }

    fn press_opened(&mut self, key: KeyCode) -> Wish {
        if let Some(rows) = moved(key, self.rows_inside()) {
            self.scroll(rows);
            return Wish::Nothing;
        }
        let Some(opened) = &mut self.opened else { return Wish::Nothing };
        if opened.is_asked && key == KeyCode::Char('y') {
            // A person approves only a call that the person has read.
            return if opened.is_read { Wish::Approve } else { Wish::Nothing };
        }
        if key == KeyCode::Char('a') {
            return Wish::Ask(opened.shown.call.id.clone());
        } else if key == KeyCode::Char('r') {
            return Wish::Refuse(opened.shown.call.id.clone());
        } else if opened.is_asked {
            opened.is_asked = false;
        } else if matches!(key, KeyCode::Char('q') | KeyCode::Esc) {
            self.opened = None;
        }
        Wish::Nothing
    }

    fn scroll(&mut self, rows: isize) {
        let inside = self.rows_inside();
        let Some(opened) = &mut self.opened else { return };
        let last = opened.lines.len().saturating_sub(inside);
        opened.top = opened.top.saturating_add_signed(rows).min(last);
        opened.is_read |= opened.top == last;
    }

    /// Takes the size of the terminal. Returns true if the opened call needs lines of another width.
    pub(super) fn resize(&mut self, columns: usize, rows: usize) -> bool {
        let needs_lines = self.columns != columns && self.opened.is_some();
        (self.columns, self.rows) = (columns, rows);
        // Lines of the old width do not show what is read at the new one.
        if !needs_lines {
            self.scroll(0);
        }
        needs_lines
    }

    /// Takes the lines of the opened call at the present width.
    pub(super) fn reflow(&mut self, lines: Vec<String>) {
        if let Some(opened) = &mut self.opened {
            opened.lines = lines;
        }
        self.scroll(0);
    }
}

/// Returns the number of rows that a key moves down; negative for up.
fn moved(key: KeyCode, page: usize) -> Option<isize> {
    let page = isize::try_from(page).unwrap_or(isize::MAX);
    const END: isize = isize::MAX;
    let moves = [
        (KeyCode::Up, -1),
        (KeyCode::Char('k'), -1),
        (KeyCode::Down, 1),
        (KeyCode::Char('j'), 1),
        (KeyCode::PageUp, -page),
        (KeyCode::PageDown, page),
        (KeyCode::Char(' '), page),
        (KeyCode::Home, -END),
        (KeyCode::Char('g'), -END),
        (KeyCode::End, END),
        (KeyCode::Char('G'), END),
    ];
    moves.into_iter().find(|(known, _)| *known == key).map(|(_, rows)| rows)
}
