//! [`draw`]: the state of the screen → its lines. The lines hold castellan's own styles, and nothing else that a
//! terminal executes. This module must not know the terminal.

use castellan_daemon::PendingCall;

use super::consent::question;
use super::state::{Opened, ROWS_AROUND, State};
use crate::output::{BAD, FAINT, PLAIN, Style, WARN, age, counted, cut, one_line, printable, width};

const LIST_KEYS: &str = "arrows or j k move  a approve once  r refuse  w why  q end";
const OPENED_KEYS: &str = "arrows or j k scroll  a approve once  r refuse  q back";
const ASKED_KEYS: &str = "arrows or j k scroll  y yes  n no";

/// Marks the selected call, also without colours.
const SELECTED: &str = "> ";

/// Returns the lines of the screen from the top. No line is wider than the terminal.
pub(super) fn draw(state: &State) -> Vec<String> {
    let mut lines = match &state.opened {
        Some(opened) => draw_opened(state, opened),
        None => draw_list(state),
    };
    lines.truncate(state.rows);
    lines
}

fn draw_list(state: &State) -> Vec<String> {
    let calls = &state.calls;
    let title = match calls.len() {
        0 => "no call waits for you".to_owned(),
        1 => "1 call waits for you".to_owned(),
        many => format!("{many} calls wait for you"),
    };
    let mut lines = vec![styled(WARN, &title, state.columns)];
    let inside = state.rows_inside();
    // The selected call is always visible.
    let top = (state.selected + 1).saturating_sub(inside);
    let widths = widths(calls);
    for (at, call) in calls.iter().enumerate().skip(top).take(inside) {
        lines.push(row(call, at == state.selected, widths, state.columns));
    }
    end(lines, state, LIST_KEYS)
}

fn draw_opened(state: &State, opened: &Opened) -> Vec<String> {
    let inside = state.rows_inside();
    let count = opened.lines.len();
    let last = (opened.top + inside).min(count);
    let title = format!("{}: lines {}-{last} of {count}", opened.shown.call.id, opened.top + 1);
    let mut lines = vec![styled(WARN, &printable(&title), state.columns)];
    lines.extend(opened.lines.iter().skip(opened.top).take(inside).cloned());
    if !opened.is_asked {
        return end(lines, state, OPENED_KEYS);
    }
    let asked = match opened.is_read {
        true => format!("{} [y/N]", question("once")),
        false => format!("{} first: Space", counted(count - last, "more line")),
    };
    finish(lines, state, styled(BAD, &asked, state.columns), ASKED_KEYS)
}

/// Adds the message and the keys at the bottom.
fn end(lines: Vec<String>, state: &State, keys: &str) -> Vec<String> {
    let message = styled(BAD, &printable(&state.message), state.columns);
    finish(lines, state, message, keys)
}

fn finish(mut lines: Vec<String>, state: &State, message: String, keys: &str) -> Vec<String> {
    lines.resize(state.rows_inside() + ROWS_AROUND - 2, String::new());
    lines.push(message);
    lines.push(styled(FAINT, keys, state.columns));
    lines
}

fn styled(style: Style, text: &str, columns: usize) -> String {
    let text = if columns == 0 { String::new() } else { cut(text, columns) };
    format!("{style}{text}{style:#}")
}

/// Returns the widths of the columns before the call: id, agent, age, and where the call waits.
fn widths(calls: &[PendingCall]) -> [usize; 4] {
    let mut widths = [0; 4];
    for call in calls {
        for (widest, cell) in widths.iter_mut().zip(cells(call)) {
            *widest = (*widest).max(width(&cell));
        }
    }
    widths
}

fn cells(call: &PendingCall) -> [String; 4] {
    let waits = match (call.waiting, call.at_prompt) {
        (true, _) => "waits now",
        (false, true) => "at its prompt",
        (false, false) => "was denied",
    };
    [printable(&call.id), printable(&call.agent), age(call.age_s), waits.to_owned()]
}

fn row(call: &PendingCall, is_selected: bool, widths: [usize; 4], columns: usize) -> String {
    let mut text = String::from(if is_selected { SELECTED } else { "  " });
    for (cell, widest) in cells(call).iter().zip(widths) {
        let padding = widest.saturating_sub(width(cell));
        text.push_str(&format!("{cell}{:padding$}  ", ""));
    }
    text.push_str(&printable(&one_line(&format!("{}: {}", call.tool, call.input))));
    let style = if is_selected { PLAIN.invert() } else { PLAIN };
    styled(style, &text, columns)
}

#[cfg(test)]
mod tests;
