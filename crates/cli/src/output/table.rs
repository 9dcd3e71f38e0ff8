//! Tables. On a terminal that is too narrow, a row goes on in the next line, and its last cell is broken at words. Must
//! not know the meaning of a cell.

use std::io::{self, Write};

use super::{DESCRIPTION_MIN, PLAIN, Style, printable, table_columns, width, wrapped};

/// Blanks between two cells.
const GAP: usize = 2;

/// Blanks before the second line of a row.
const INDENT: usize = 4;

#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl AsRef<str>, style: Style) -> Cell {
        Cell { text: printable(text.as_ref()), style }
    }

    pub(crate) fn width(&self) -> usize {
        width(&self.text)
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::new(text, PLAIN)
    }
}

/// Writes rows in columns two blanks apart. The last column is not padded.
pub(crate) fn write_table(out: &mut impl Write, rows: &[Vec<Cell>]) -> io::Result<()> {
    match table_columns() {
        Some(columns) => write_within(out, rows, columns),
        None => write_rows(out, rows, &widths(rows)),
    }
}

/// Writes one row with given column widths, for rows that arrive singly.
pub(crate) fn write_row(out: &mut impl Write, row: &[Cell], widths: &[usize]) -> io::Result<()> {
    for (column, Cell { text, style }) in row.iter().enumerate() {
        let last = column + 1 == row.len();
        let wanted = if last { 0 } else { widths.get(column).copied().unwrap_or_default() };
        let padding = wanted.saturating_sub(width(text));
        let gap = if last { 0 } else { GAP };
        write!(out, "{style}{text}{style:#}{}", blanks(padding + gap))?;
    }
    writeln!(out)
}

fn write_rows(out: &mut impl Write, rows: &[Vec<Cell>], widths: &[usize]) -> io::Result<()> {
    rows.iter().try_for_each(|row| write_row(out, row, widths))
}

/// Returns the width of each column.
fn widths(rows: &[Vec<Cell>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max();
    (0..columns).map(|column| widest(column).unwrap_or_default()).collect()
}

/// Writes the same rows in at most `columns` columns, as far as the words allow it.
fn write_within(out: &mut impl Write, rows: &[Vec<Cell>], columns: usize) -> io::Result<()> {
    let widths = widths(rows);
    let total: usize = widths.iter().map(|width| width + GAP).sum();
    if total.saturating_sub(GAP) <= columns {
        return write_rows(out, rows, &widths);
    }
    rows.iter().try_for_each(|row| write_broken(out, row, &widths, columns))
}

/// Writes a row in several lines. Columns keep their places: where a row breaks depends on the widths alone.
fn write_broken(out: &mut impl Write, row: &[Cell], widths: &[usize], columns: usize) -> io::Result<()> {
    let mut at = 0;
    let mut due = 0;
    for (column, (cell, widest)) in row.iter().zip(widths).enumerate() {
        let is_last = column + 1 == row.len();
        let needed = if is_last { least(cell, *widest) } else { *widest };
        if at > INDENT && at + needed > columns {
            (at, due) = (INDENT, INDENT);
            writeln!(out)?;
        }
        if is_last {
            return write_last(out, cell, at, due, columns);
        }
        let Cell { text, style } = cell;
        if !text.is_empty() {
            write!(out, "{}{style}{text}{style:#}", blanks(due))?;
            due = 0;
        }
        at += widest + GAP;
        due += widest + GAP - cell.width();
    }
    writeln!(out)
}

/// Returns the columns that the last cell needs beside the others: those of its longest word, and enough for a text.
fn least(cell: &Cell, widest: usize) -> usize {
    let longest = cell.text.split_whitespace().map(width).max().unwrap_or_default();
    longest.max(DESCRIPTION_MIN.min(widest))
}

/// Writes a cell broken at words, each line at the same column.
fn write_last(out: &mut impl Write, cell: &Cell, at: usize, due: usize, columns: usize) -> io::Result<()> {
    let Cell { text, style } = cell;
    let lines = wrapped(text, columns.saturating_sub(at).max(1));
    if lines.is_empty() {
        return writeln!(out);
    }
    let mut before = due;
    for line in lines {
        writeln!(out, "{}{style}{line}{style:#}", blanks(before))?;
        before = at;
    }
    Ok(())
}

/// Returns so many blanks. A width in a format string must not be over 65,535, and a cell may be wider.
fn blanks(count: usize) -> String {
    " ".repeat(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[&[&str]], columns: usize, expected: &str) {
        let row = |row: &&[&str]| row.iter().map(Cell::from).collect();
        let rows: Vec<Vec<Cell>> = rows.iter().map(row).collect();
        let mut out = Vec::new();
        write_within(&mut out, &rows, columns).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{rows:?} in {columns}");
    }

    #[test]
    fn columns_are_below_each_other() {
        check(&[&["a", "b"], &["äöü", "x\ny"]], 80, "a    b\näöü  x\\ny\n");
        check(&[&["字", "b"], &["aaa", "b"]], 80, "字   b\naaa  b\n");
    }

    #[test]
    fn a_narrow_terminal_breaks_cells_at_words() {
        let text = "the words of a text that is longer than the terminal is wide";
        check(
            &[&["daemon", text], &["x", "y"], &["z", ""]],
            40,
            "daemon  the words of a text that is\n        longer than the terminal is wide\nx       y\nz\n",
        );
    }

    #[test]
    fn a_long_word_gets_a_line() {
        let path = "/a/long/path/of/forty/letters/in/a/folder";
        check(&[&["daemon", path], &["x", "y"]], 45, &format!("daemon\n    {path}\nx       y\n"));
        check(&[&["a", "字字字字"]], 5, "a  字\n   字\n   字\n   字\n");
    }

    #[test]
    fn a_row_goes_on_in_the_next_line() {
        check(
            &[&["WORD", "AGENT", "ASK", "ALLOW"], &["claude", "Claude Code", "yes", "no"]],
            23,
            "WORD    AGENT\n    ASK  ALLOW\nclaude  Claude Code\n    yes  no\n",
        );
        check(&[&["aa", "bb", "cc"]], 1, "aa  bb\n    c\n    c\n");
    }

    #[test]
    fn each_row_ends_its_line_at_any_width() {
        check(&[&["aa", "  "], &["bb", "c"]], 3, "aa\nbb  c\n");
        check(&[&["aa", "bb"]], usize::MAX, "aa  bb\n");
        let (wide, gap) = ("x".repeat(70_000), " ".repeat(70_001));
        check(&[&["a", "b"], &[&wide, "b"]], usize::MAX, &format!("a{gap}b\n{wide}  b\n"));
        check(&[&["a", "b"], &[&wide, "b"]], 20, &format!("a\n    b\n{wide}\n    b\n"));
    }
}
