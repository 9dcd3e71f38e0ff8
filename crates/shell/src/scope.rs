//! [`Scope`]: where in the text the walk is, and what stands around it: wrappers, groups, machines. It must not know values.

use std::rc::Rc;

use crate::found::{FoundRedirect, Origin, Wrapped};
use crate::tree::Span;

/// One text that was parsed, and where it came from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) text: Rc<str>,
    /// Where it stands in the outermost text; `None` for that text itself.
    pub(crate) place: Option<Span>,
    /// The file that it was read from.
    pub(crate) file: Option<Rc<str>>,
}

impl Source {
    /// A place of this text in the outermost one.
    pub(crate) fn span(&self, span: Span) -> Span {
        self.place.unwrap_or(span)
    }

    /// What stands at a place of this text.
    pub(crate) fn written(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// What stands around the command that is walked.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) source: Rc<Source>,
    pub(crate) origin: Origin,
    pub(crate) wrappers: Rc<Vec<Rc<Wrapped>>>,
    pub(crate) remote: Rc<Vec<String>>,
    pub(crate) redirects: Rc<Vec<Rc<FoundRedirect>>>,
    pub(crate) pipe_from: Option<usize>,
    pub(crate) background: bool,
    /// Texts, functions and commands inside each other.
    pub(crate) texts: usize,
    /// Aliases whose text this is: they are not expanded again in it.
    pub(crate) aliases: Rc<Vec<Rc<str>>>,
}

impl Scope {
    /// The text itself.
    pub(crate) fn of(text: &str) -> Scope {
        Scope {
            source: Rc::new(Source { text: text.into(), place: None, file: None }),
            origin: Origin::Text,
            wrappers: Rc::default(),
            remote: Rc::default(),
            redirects: Rc::default(),
            pipe_from: None,
            background: false,
            texts: 0,
            aliases: Rc::default(),
        }
    }

    pub(crate) fn span(&self, span: Span) -> Span {
        self.source.span(span)
    }

    /// The same place, another origin.
    pub(crate) fn with_origin(&self, origin: Origin) -> Scope {
        Scope { origin, ..self.clone() }
    }

    /// Inside one more wrapper.
    pub(crate) fn wrapped(&self, wrapper: Wrapped) -> Scope {
        let mut wrappers = (*self.wrappers).clone();
        wrappers.push(Rc::new(wrapper));
        Scope { wrappers: Rc::new(wrappers), ..self.clone() }
    }

    /// Inside groups with these redirects.
    pub(crate) fn redirected(&self, redirects: Vec<Rc<FoundRedirect>>) -> Scope {
        if redirects.is_empty() {
            return self.clone();
        }
        let mut all = (*self.redirects).clone();
        all.extend(redirects);
        Scope { redirects: Rc::new(all), ..self.clone() }
    }
}
