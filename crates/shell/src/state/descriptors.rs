//! Descriptors and collected output of a shell. This module must not know the walk.

use std::rc::Rc;

use castellan_event::Why;
use castellan_programs::Arg;

use super::State;
use crate::limits::{COPIED_PER_WORK, ENTRIES_PER_WORK};
use crate::scope::Source;
use crate::text::Text;
use crate::tree::Script;

/// The target of a descriptor.
#[derive(Debug, Clone)]
pub(crate) enum Descriptor {
    /// The target that the shell inherited.
    Inherited,
    /// Text to read: a heredoc, a pipe, `<( )`. Reading consumes the text.
    Input(Rc<Text>),
    /// Output collected at this position of [`State::collected`].
    Collected(usize),
    /// Commands that read the output: `>( )`.
    Process(Rc<Process>),
    /// A file that is read, or a file with an unknown path.
    File(Rc<Arg>),
    /// A file that is written, by absolute path.
    Written(Rc<str>),
    /// The text that the shell itself reads.
    Script,
    /// Closed or unknown.
    Unknown,
}

/// The commands of `>( )` and the collector of their input.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) body: Script,
    pub(crate) source: Rc<Source>,
    pub(crate) collected: usize,
    /// Index among the processes of the walk.
    pub(crate) number: usize,
}

impl State {
    /// Returns the target of the path of an open descriptor: `/dev/fd/3`, `/dev/stdin`.
    pub(crate) fn opened(&self, path: &str) -> Option<Descriptor> {
        let number = match path {
            "/dev/stdin" => 0,
            "/dev/stdout" => 1,
            "/dev/stderr" => 2,
            path => {
                let rest = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"))?;
                rest.parse().ok()?
            }
        };
        Some(self.descriptor(number))
    }

    /// Returns the target of a descriptor.
    pub(crate) fn descriptor(&self, number: u32) -> Descriptor {
        match self.descriptors.get(&number) {
            Some(found) => found.clone(),
            None if number <= 2 => Descriptor::Inherited,
            None => Descriptor::Unknown,
        }
    }

    /// Takes over the inputs that a subshell has read. The rest of standard input is known; another descriptor may have
    /// been opened anew there.
    pub(crate) fn share_inputs(&mut self, inner: &State) {
        if Rc::ptr_eq(&self.descriptors, &inner.descriptors) {
            return;
        }
        for (number, descriptor) in Rc::make_mut(&mut self.descriptors) {
            let Descriptor::Input(text) = descriptor else { continue };
            let Some(Descriptor::Input(rest)) = inner.descriptors.get(number) else { continue };
            if *number == 0 {
                *text = Rc::clone(rest);
            } else if !Rc::ptr_eq(text, rest) {
                *text = Rc::new(Text::unknown(Why::Input, ""));
            }
        }
    }

    /// Leaves the rest of an input that a command has read. Copies of a descriptor share one position.
    pub(crate) fn consume(&mut self, number: u32, rest: Rc<Text>) {
        let before = self.descriptor(number);
        let Descriptor::Input(before) = before else { return };
        let is_copy = |one: &Descriptor| matches!(one, Descriptor::Input(text) if Rc::ptr_eq(text, &before));
        for descriptor in Rc::make_mut(&mut self.descriptors).values_mut().filter(|one| is_copy(one)) {
            *descriptor = Descriptor::Input(Rc::clone(&rest));
        }
    }

    pub(crate) fn set_descriptor(&mut self, number: u32, descriptor: Descriptor) {
        self.spent += self.descriptors.len() as u64 / ENTRIES_PER_WORK;
        Rc::make_mut(&mut self.descriptors).insert(number, descriptor);
    }

    /// Appends output to a collector.
    pub(crate) fn collect(&mut self, at: usize, text: &Text) {
        self.spent += self.collected.len() as u64 / ENTRIES_PER_WORK;
        if let Some(texts) = Rc::make_mut(&mut self.collected).get_mut(at) {
            for collected in texts {
                self.spent += collected.len() as u64 / COPIED_PER_WORK;
                collected.push(text);
            }
        }
    }

    /// Marks the input of all descriptors as unknown.
    pub(crate) fn forget_inputs(&mut self) {
        for descriptor in Rc::make_mut(&mut self.descriptors).values_mut() {
            if matches!(descriptor, Descriptor::Input(_)) {
                *descriptor = Descriptor::Unknown;
            }
        }
    }

    /// Marks all collected output as unknown.
    pub(crate) fn collect_unknown(&mut self) {
        for texts in Rc::make_mut(&mut self.collected) {
            if texts.iter().any(|text| !text.pieces().is_empty()) {
                *texts = vec![Text::unknown(Why::Substitution, "")];
            }
        }
    }

    /// Adds a collector and returns its position.
    pub(crate) fn begin_collecting(&mut self) -> usize {
        let collected = Rc::make_mut(&mut self.collected);
        collected.push(vec![Text::default()]);
        collected.len() - 1
    }

    /// Returns the output collected at a position.
    pub(crate) fn collected_at(&self, at: usize) -> Vec<Text> {
        self.collected.get(at).cloned().unwrap_or_default()
    }
}
