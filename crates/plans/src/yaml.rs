//! Strict YAML with places: one document to a tree, without anchors, tags and duplicate keys. It must not know plans.

use std::collections::HashSet;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use crate::error::{Fault, PlanError};
use crate::limits::{PLAN_BYTES_MAX, YAML_DEPTH_MAX, YAML_VALUES_MAX};
use crate::text::shortened;

/// A place: line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    line: usize,
    column: usize,
}

/// A value with its place.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) at: At,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    /// Nothing, `~` or `null`.
    Null,
    /// A word without quotes.
    Plain(String),
    /// A text in quotes or a block.
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key of a map with its value.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: At,
    pub(crate) value: Node,
}

impl At {
    const START: At = At { line: 1, column: 1 };

    fn of(marker: &Marker) -> At {
        At { line: marker.line().max(1), column: marker.col() + 1 }
    }

    /// Builds the error of a fault at this place.
    pub(crate) fn error(self, fault: Fault) -> PlanError {
        PlanError { line: self.line, column: self.column, fault }
    }
}

/// Parses a file of one document.
pub(crate) fn parse(bytes: &[u8]) -> Result<Node, PlanError> {
    if bytes.len() > PLAN_BYTES_MAX {
        return Err(At::START.error(Fault::Size(bytes.len())));
    }
    let text = str::from_utf8(bytes).map_err(|error| undecoded(bytes, error.valid_up_to()))?;
    let mut builder = Builder::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        match event {
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, span)) => builder.event(event, At::of(&span.start))?,
            Err(error) => {
                // The parser has a limit of its own for lists and maps in brackets.
                let is_deep = error.info().contains("recursion limit");
                let fault = if is_deep { Fault::Depth } else { Fault::Syntax(shortened(error.info())) };
                return Err(At::of(error.marker()).error(fault));
            }
        }
    }
    match builder.root {
        Some(Node { kind: NodeKind::Null, at }) => Err(at.error(Fault::Empty)),
        Some(root) => Ok(root),
        None => Err(At::START.error(Fault::Empty)),
    }
}

/// The error of bytes that are no UTF-8 from `valid` on.
fn undecoded(bytes: &[u8], valid: usize) -> PlanError {
    let before = bytes.get(..valid).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    At { line, column }.error(Fault::Encoding)
}

/// Builds the tree from events. The open containers are an explicit stack: nesting cannot overflow the call stack.
#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
    documents: usize,
    values: usize,
}

/// A container before its end.
enum Open {
    List(At, Vec<Node>),
    Map { at: At, entries: Vec<Entry>, names: HashSet<String>, key: Option<(String, At)> },
}

impl Builder {
    fn event(&mut self, event: Event<'_>, at: At) -> Result<(), PlanError> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 { Err(at.error(Fault::Documents)) } else { Ok(()) }
            }
            Event::Alias(_) => Err(at.error(Fault::Anchor)),
            Event::Scalar(value, style, anchor, tag) => {
                without_extras(at, anchor, tag.is_some())?;
                let is_plain = style == ScalarStyle::Plain;
                let kind = match &*value {
                    "" | "~" | "null" | "Null" | "NULL" if is_plain => NodeKind::Null,
                    text if is_plain => NodeKind::Plain(text.to_owned()),
                    text => NodeKind::Text(text.to_owned()),
                };
                self.attach(Node { kind, at })
            }
            Event::SequenceStart(anchor, tag) => {
                without_extras(at, anchor, tag.is_some())?;
                self.open(Open::List(at, Vec::new()), at)
            }
            Event::MappingStart(anchor, tag) => {
                without_extras(at, anchor, tag.is_some())?;
                self.open(Open::Map { at, entries: Vec::new(), names: HashSet::new(), key: None }, at)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(at, nodes)) => self.attach(Node { kind: NodeKind::List(nodes), at }),
                Some(Open::Map { at, entries, .. }) => self.attach(Node { kind: NodeKind::Map(entries), at }),
                None => Ok(()),
            },
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, open: Open, at: At) -> Result<(), PlanError> {
        if self.open.len() >= YAML_DEPTH_MAX {
            return Err(at.error(Fault::Depth));
        }
        self.open.push(open);
        Ok(())
    }

    /// Adds a finished node to the open container, or makes it the root.
    fn attach(&mut self, node: Node) -> Result<(), PlanError> {
        self.values += 1;
        if self.values > YAML_VALUES_MAX {
            return Err(node.at.error(Fault::Values));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, nodes)) => nodes.push(node),
            Some(Open::Map { entries, names, key, .. }) => match key.take() {
                Some((key, at)) => entries.push(Entry { key, at, value: node }),
                None => {
                    let (NodeKind::Plain(name) | NodeKind::Text(name)) = node.kind else {
                        return Err(node.at.error(Fault::Key));
                    };
                    if !names.insert(name.clone()) {
                        return Err(node.at.error(Fault::Twice(shortened(&name))));
                    }
                    *key = Some((name, node.at));
                }
            },
        }
        Ok(())
    }
}

fn without_extras(at: At, anchor: usize, has_tag: bool) -> Result<(), PlanError> {
    match (anchor, has_tag) {
        (0, false) => Ok(()),
        (0, true) => Err(at.error(Fault::Tag)),
        _ => Err(at.error(Fault::Anchor)),
    }
}
