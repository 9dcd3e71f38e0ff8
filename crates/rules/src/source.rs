//! YAML with positions: one rule file to a tree of nodes, each with its byte range. Only this file knows YAML and its
//! parser; it knows nothing of rules. Aliases share their anchor's node, so that an alias bomb takes no memory.

mod align;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use rustc_hash::FxBuildHasher;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use crate::limits::{SOURCE_BYTES_MAX, YAML_DEPTH_MAX, YAML_EXPANDED_MAX};
use crate::problem::Fault;
use crate::text::{Place, Text};

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) place: Place,
    /// A scalar without quotes and not in a block.
    pub(crate) is_plain: bool,
    /// Levels of nested containers, through aliases too.
    height: usize,
    /// Bytes of text plus number of nodes, with aliases counted each time.
    weight: usize,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    /// Nothing, `~` or `null`.
    Null,
    Scalar(Text),
    List(Vec<Rc<Node>>),
    Map(Vec<Entry>),
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: Rc<Node>,
    pub(crate) value: Rc<Node>,
}

impl Node {
    pub(crate) fn scalar(&self) -> Option<&Text> {
        match &self.kind {
            NodeKind::Scalar(text) => Some(text),
            NodeKind::Null | NodeKind::List(_) | NodeKind::Map(_) => None,
        }
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        let NodeKind::Map(entries) = &self.kind else { return None };
        entries.iter().find(|entry| entry.key.scalar().is_some_and(|text| text.as_str() == key))
    }
}

/// Parses a rule file into its documents. After an error, the documents before it are still returned.
pub(crate) fn parse(file: usize, text: &str) -> (Vec<Rc<Node>>, Vec<Fault>) {
    let mut builder = Builder::new(file, text);
    if text.len() > SOURCE_BYTES_MAX {
        let place = Place { file, start: 0, end: 0 };
        let message = format!("the rule file has {} bytes, more than {SOURCE_BYTES_MAX}", text.len());
        builder.faults.push(Fault::new("CASTELLAN_LIMIT", place, message).help("split the file"));
        return (Vec::new(), builder.faults);
    }
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        match event {
            Ok((Event::StreamEnd, _)) => break,
            Ok((event, span)) => {
                if let Err(fault) = builder.event(event, span) {
                    builder.faults.push(fault);
                    break;
                }
            }
            Err(error) => {
                let at = builder.bytes.of(error.marker());
                // Falco's YAML library accepts an open quote until the end of the file, and then misses keys.
                let open_quote =
                    error.info().contains("quoted scalar") && error.info().contains("end of stream");
                let code = if open_quote { "LOAD_ERR_YAML_VALIDATE" } else { "LOAD_ERR_YAML_PARSE" };
                let fault = Fault::new(code, Place { file, start: at, end: at }, error.info());
                let help = error.info().contains("tab").then(|| "indent with spaces".to_owned());
                builder.faults.push(fault.help_if(help));
                break;
            }
        }
    }
    (builder.documents, builder.faults)
}

/// Builds nodes from parser events. The open containers are an explicit stack: nesting cannot overflow the call stack.
struct Builder<'t> {
    file: usize,
    text: &'t str,
    bytes: Bytes,
    documents: Vec<Rc<Node>>,
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    faults: Vec<Fault>,
}

/// A container before its end.
struct Open {
    container: Container,
    anchor: usize,
    start: usize,
    height: usize,
    weight: usize,
}

enum Container {
    List(Vec<Rc<Node>>),
    Map { entries: Vec<Entry>, key: Option<Rc<Node>>, names: HashSet<String, FxBuildHasher> },
}

impl<'t> Builder<'t> {
    fn new(file: usize, text: &'t str) -> Self {
        Self {
            file,
            text,
            bytes: Bytes::new(text),
            documents: Vec::new(),
            open: Vec::new(),
            anchors: HashMap::new(),
            faults: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        let place = self.place(span);
        match event {
            Event::Scalar(value, style, anchor, _) => {
                let plain_null =
                    style == ScalarStyle::Plain && matches!(&*value, "" | "~" | "null" | "Null" | "NULL");
                let kind = if plain_null {
                    NodeKind::Null
                } else {
                    NodeKind::Scalar(self.align(&value, style, place))
                };
                let is_plain = style == ScalarStyle::Plain;
                self.add(Node { kind, place, is_plain, height: 0, weight: value.len() + 1 }, anchor)
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => self.attach(node, place),
                None => Err(Fault::new("LOAD_ERR_YAML_PARSE", place, "an alias inside of its own anchor")),
            },
            Event::SequenceStart(anchor, _) => self.open(Container::List(Vec::new()), anchor, place),
            Event::MappingStart(anchor, _) => {
                let map = Container::Map { entries: Vec::new(), key: None, names: HashSet::default() };
                self.open(map, anchor, place)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(place),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, container: Container, anchor: usize, place: Place) -> Result<(), Fault> {
        if self.open.len() >= YAML_DEPTH_MAX {
            return Err(too_deep(place));
        }
        // Only the blanks before the container are read: a file may be one long line.
        let before = self.text.get(..place.start).unwrap_or_default();
        let text = before.trim_end_matches([' ', '\t']);
        let starts_line = text.is_empty() || text.ends_with('\n');
        if starts_line && before.get(text.len()..).is_some_and(|indent| indent.contains('\t')) {
            let fault = Fault::new("LOAD_ERR_YAML_PARSE", place, "a tab cannot indent");
            return Err(fault.help("indent with spaces"));
        }
        self.open.push(Open { container, anchor, start: place.start, height: 0, weight: 1 });
        Ok(())
    }

    fn close(&mut self, place: Place) -> Result<(), Fault> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let kind = match open.container {
            Container::List(nodes) => NodeKind::List(nodes),
            Container::Map { entries, .. } => NodeKind::Map(entries),
        };
        let place = Place { start: open.start, end: place.end.max(open.start), ..place };
        let (height, weight) = (open.height + 1, open.weight);
        self.add(Node { kind, place, is_plain: false, height, weight }, open.anchor)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        let place = node.place;
        let node = Rc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.attach(node, place)
    }

    /// Adds a finished node to the open container, or to the documents.
    fn attach(&mut self, node: Rc<Node>, place: Place) -> Result<(), Fault> {
        let Some(open) = self.open.last_mut() else {
            self.documents.push(node);
            return Ok(());
        };
        open.height = open.height.max(node.height);
        if open.height >= YAML_DEPTH_MAX {
            return Err(too_deep(place));
        }
        open.weight = open.weight.saturating_add(node.weight);
        if open.weight > YAML_EXPANDED_MAX {
            let message = format!("more than {YAML_EXPANDED_MAX} bytes of values, with each use of an alias");
            return Err(
                Fault::new("CASTELLAN_LIMIT", place, message).help("use fewer aliases, or split the file")
            );
        }
        match &mut open.container {
            Container::List(nodes) => nodes.push(node),
            Container::Map { entries, key, names } => match key.take() {
                Some(key) => entries.push(Entry { key, value: node }),
                None => {
                    if node.scalar().is_some_and(|text| !names.insert(text.as_str().to_owned())) {
                        let message = "the map has this key twice: YAML would ignore one of them";
                        let fault = Fault::new("CASTELLAN_DUPLICATE_KEY", place, message);
                        self.faults.push(fault.help("keep one of them"));
                    }
                    *key = Some(node);
                }
            },
        }
        Ok(())
    }

    fn align(&self, value: &str, style: ScalarStyle, place: Place) -> Text {
        let raw = self.text.get(place.start..place.end).unwrap_or_default();
        align::align(value, raw, style, place)
    }

    fn place(&self, span: Span) -> Place {
        let start = self.bytes.of(&span.start);
        Place { file: self.file, start, end: self.bytes.of(&span.end).max(start) }
    }
}

fn too_deep(place: Place) -> Fault {
    let message = format!("more than {YAML_DEPTH_MAX} levels of nesting");
    Fault::new("CASTELLAN_LIMIT", place, message).help("a rule file needs no more than six levels")
}

/// Byte offsets of characters, because the parser counts characters.
enum Bytes {
    Ascii(usize),
    Table(Vec<usize>),
}

impl Bytes {
    fn new(text: &str) -> Self {
        if text.is_ascii() {
            Self::Ascii(text.len())
        } else {
            Self::Table(text.char_indices().map(|(at, _)| at).chain([text.len()]).collect())
        }
    }

    fn of(&self, marker: &Marker) -> usize {
        match self {
            Self::Ascii(len) => marker.index().min(*len),
            Self::Table(table) => table.get(marker.index()).or(table.last()).copied().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Node, NodeKind, parse};

    fn show(node: &Node) -> String {
        match &node.kind {
            NodeKind::Null => "null".to_owned(),
            NodeKind::Scalar(text) => format!("{:?}@{}..{}", text.as_str(), node.place.start, node.place.end),
            NodeKind::List(nodes) => {
                format!("[{}]", nodes.iter().map(|node| show(node)).collect::<Vec<_>>().join(" "))
            }
            NodeKind::Map(entries) => {
                let entry = |entry: &super::Entry| format!("{}: {}", show(&entry.key), show(&entry.value));
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
            }
        }
    }

    #[test]
    fn trees() {
        for (text, expected) in [
            ("- a\n- ~\n", r#"["a"@2..3 null]"#),
            ("- é: 'x'\n", r#"[{"é"@2..4: "x"@6..9}]"#),
            ("a: &x [1]\nb: *x\n", r#"{"a"@0..1: ["1"@7..8] "b"@10..11: ["1"@7..8]}"#),
        ] {
            let (documents, faults) = parse(0, text);
            assert!(faults.is_empty(), "{text}: {faults:?}");
            assert_eq!(documents.iter().map(|node| show(node)).collect::<Vec<_>>().join("\n"), expected);
        }
    }

    #[test]
    fn hostile_yaml_is_an_error() {
        let bomb: String = (1..40).map(|level| format!("- &a{level} [*a{}]\n", level - 1)).collect();
        for (text, code) in [
            ("[".repeat(40), "CASTELLAN_LIMIT"),
            // The YAML parser has its own limit.
            ("[".repeat(100_000), "LOAD_ERR_YAML_PARSE"),
            (format!("- &a0 [x]\n{bomb}"), "CASTELLAN_LIMIT"),
            (format!("- &a {}\n- [{}]\n", "x".repeat(10_000), "*a,".repeat(10_000)), "CASTELLAN_LIMIT"),
            ("a: 1\na: 2\n".to_owned(), "CASTELLAN_DUPLICATE_KEY"),
            ("a: [\n".to_owned(), "LOAD_ERR_YAML_PARSE"),
            ("\t- a\n".to_owned(), "LOAD_ERR_YAML_PARSE"),
        ] {
            let (_, faults) = parse(0, &text);
            assert_eq!(faults.first().map(|fault| fault.code), Some(code), "{:.40}", text);
        }
    }
}
