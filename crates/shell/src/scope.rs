//! [`Scope`]: the position in the text, and the wrappers, groups and machines around it. The module must not know
//! values.

use std::rc::Rc;

use crate::found::{FoundRedirect, Origin, Wrapped};
use crate::tree::Span;

/// A parsed text and its source.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) text: Rc<str>,
    /// The span of the text in the outermost text; `None` for the outermost text itself.
    pub(crate) place: Option<Span>,
    /// The file that contains the text.
    pub(crate) file: Option<Rc<str>>,
}

impl Source {
    /// Returns the span in the outermost text for a span of this text.
    pub(crate) fn span(&self, span: Span) -> Span {
        self.place.unwrap_or(span)
    }

    /// Returns the source at a span of this text.
    pub(crate) fn written(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

/// The surroundings of the current command.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) source: Rc<Source>,
    pub(crate) origin: Origin,
    pub(crate) wrappers: Rc<Vec<Rc<Wrapped>>>,
    pub(crate) remote: Rc<Vec<String>>,
    pub(crate) redirects: Rc<Vec<Rc<FoundRedirect>>>,
    pub(crate) pipe_from: Option<usize>,
    pub(crate) background: bool,
    /// The nesting depth of texts, functions and commands.
    pub(crate) texts: usize,
    /// Aliases whose expansion this text is part of: the walk does not expand them again in the text.
    pub(crate) aliases: Rc<Vec<Rc<str>>>,
}

impl Scope {
    /// Returns the scope of the outermost text.
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

    /// Returns the same scope with another origin.
    pub(crate) fn with_origin(&self, origin: Origin) -> Scope {
        Scope { origin, ..self.clone() }
    }

    /// Returns the scope inside another wrapper.
    pub(crate) fn wrapped(&self, wrapper: Wrapped) -> Scope {
        let mut wrappers = (*self.wrappers).clone();
        wrappers.push(Rc::new(wrapper));
        Scope { wrappers: Rc::new(wrappers), ..self.clone() }
    }

    /// Returns the scope inside groups with these redirects.
    pub(crate) fn redirected(&self, redirects: Vec<Rc<FoundRedirect>>) -> Scope {
        if redirects.is_empty() {
            return self.clone();
        }
        let mut all = (*self.redirects).clone();
        all.extend(redirects);
        Scope { redirects: Rc::new(all), ..self.clone() }
    }
}
