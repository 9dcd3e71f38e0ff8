//! Adds a text to a list of texts and removes it, in the layout of the list.

use super::*;

/// Adds a text at the end of a list. A list that has it stays as it is.
pub(super) fn add(text: &str, key: &str, element: &str) -> Result<String, EditError> {
    let table = parsed(text)?;
    let Some((_, list)) = find(table.get_ref(), key) else {
        return set(text, key, Value::Array(Array::from_iter([element])));
    };
    let elements = elements(key, list)?;
    if elements.iter().any(|one| one.get_ref().as_str() == Some(element)) {
        return Ok(text.to_owned());
    }
    let new = Value::from(element).to_string();
    let Some(last) = elements.last().map(Spanned::span) else {
        let begin = list.span().start + 1;
        return Ok(with(text, &(begin..begin), &new));
    };
    let rest = text.get(last.end..list.span().end).unwrap_or_default();
    let Some(line_end) = rest.find('\n') else {
        return Ok(with(text, &(last.end..last.end), &format!(", {new}")));
    };
    let code = rest.get(..line_end).and_then(|line| line.split('#').next()).unwrap_or_default();
    let comma = if code.contains(',') { "" } else { "," };
    let line = format!("\n{}{new},", indent(text, list, &last));
    let at = last.end + line_end;
    let with_line = with(text, &(at..at), &line);
    Ok(with(&with_line, &(last.end..last.end), comma))
}

/// Removes a text from a list, each time that the list has it.
pub(super) fn remove(text: &str, key: &str, element: &str) -> Result<String, EditError> {
    let table = parsed(text)?;
    let Some((_, list)) = find(table.get_ref(), key) else { return Ok(text.to_owned()) };
    let found = elements(key, list)?.iter().filter(|one| one.get_ref().as_str() == Some(element));
    // The last one first, so that the places of the others stay.
    let places = found.rev().map(Spanned::span);
    Ok(places.fold(text.to_owned(), |text, place| without_element(&text, &place)))
}

fn without_element(text: &str, place: &Range<usize>) -> String {
    let lines = lines_around(text, place);
    let before = text.get(lines.start..place.start).unwrap_or_default();
    let after = text.get(place.end..lines.end).unwrap_or_default();
    let rest = after.trim_start();
    if before.trim().is_empty() && is_blank(rest.strip_prefix(',').unwrap_or(rest)) {
        return without(text, &lines);
    }
    if let Some(rest) = rest.strip_prefix(',') {
        let end = lines.end - rest.trim_start_matches([' ', '\t']).len();
        return without(text, &(place.start..end));
    }
    // The last one of a line: the comma before it goes, too.
    let kept = before.trim_end();
    let start = lines.start + kept.strip_suffix(',').unwrap_or(before).len();
    without(text, &(start..place.end))
}

fn elements<'t>(key: &str, list: &'t Spanned<DeValue<'t>>) -> Result<&'t [Spanned<DeValue<'t>>], EditError> {
    if let DeValue::Array(elements) = list.get_ref() {
        return Ok(elements);
    }
    Err(EditError::NotList(key.to_owned(), list.get_ref().type_str()))
}

/// Returns the indentation of a line after the last element.
fn indent<'t>(text: &'t str, list: &Spanned<DeValue<'_>>, last: &Range<usize>) -> &'t str {
    let line = lines_around(text, last);
    if line.start <= list.span().start {
        return "  ";
    }
    let line = text.get(line).unwrap_or_default();
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}
