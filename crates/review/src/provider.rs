//! [`Provider`]: a reviewer as data. Two kinds of HTTP endpoint and a local program.

mod chat;
mod command;
mod http;
mod url;

use std::ffi::OsString;
use std::time::Duration;

use crate::answer::visible;
use crate::error::{Fault, ReviewError};
use crate::limits::{OUTPUT_TOKENS, TIME, URL_BYTES_MAX};
use crate::prompt::Request;
use crate::secret::Secret;

pub(crate) use http::Running;

/// A reviewer.
#[derive(Debug, Clone)]
pub enum Provider {
    /// Chat completions as OpenAI defined them: Ollama, llama.cpp, vLLM and many others.
    OpenAi(Endpoint),
    /// Anthropic's Messages API of version 2023-06-01.
    Anthropic(Endpoint),
    /// A local program: the prompt on standard input, the answer on standard output.
    Command(Program),
}

/// An HTTP endpoint.
#[derive(Debug, Clone)]
pub struct Endpoint {
    url: String,
    model: String,
    key: Option<Secret>,
    roots: Roots,
}

/// The certificate authorities that vouch for an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Roots {
    /// Mozilla's list, as compiled in.
    #[default]
    Mozilla,
    /// The certificates in a text in PEM format, and no others.
    Pem(Vec<u8>),
}

/// A local program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    argv: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

/// Limits of one review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time of the whole exchange; at most [`crate::TIME_MAX`].
    pub time: Duration,
    /// Tokens that the model may write.
    pub output_tokens: u32,
}

/// The tokens of a review, as the provider reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}

/// The text of a model, and its cost if the provider reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) cost: Option<Cost>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: TIME, output_tokens: OUTPUT_TOKENS }
    }
}

impl Endpoint {
    /// Makes an endpoint. `url` is the base URL as the provider documents it, for example `http://127.0.0.1:11434/v1`.
    ///
    /// # Errors
    /// [`Fault::Url`] unless the URL is `https`, or `http` to this machine, and has no user, query or fragment.
    pub fn new(url: &str, model: &str, key: Option<Secret>, roots: Roots) -> Result<Endpoint, ReviewError> {
        let checked = url::checked(url).map_err(|reason| {
            // A user part or a query may hold a key.
            let is_shown = !url.contains(['@', '?', '#']);
            let place = if is_shown { visible(url, URL_BYTES_MAX) } else { "URL".to_owned() };
            ReviewError { place, fault: Fault::Url(reason) }
        })?;
        Ok(Endpoint { url: checked, model: model.to_owned(), key, roots })
    }
}

impl Program {
    /// Makes a program. `argv` begins with its absolute path; `environment` is its whole environment.
    ///
    /// # Errors
    /// [`Fault::Start`] if the path is not absolute.
    pub fn new(argv: Vec<OsString>, environment: Vec<(OsString, OsString)>) -> Result<Program, ReviewError> {
        let program = argv.first().map(std::path::Path::new);
        if program.is_none_or(|path| !path.is_absolute()) {
            let place = program.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
            return Err(ReviewError { place, fault: Fault::Start("the path is not absolute".to_owned()) });
        }
        Ok(Program { argv, environment })
    }

    fn name(&self) -> String {
        self.argv.first().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl Provider {
    /// Returns the URL or the program.
    pub fn place(&self) -> String {
        match self {
            Provider::OpenAi(endpoint) | Provider::Anthropic(endpoint) => endpoint.url.clone(),
            Provider::Command(program) => program.name(),
        }
    }

    /// Returns place and model, or the whole command line: the model in a [`crate::CacheKey`].
    pub fn model(&self) -> String {
        match self {
            Provider::OpenAi(endpoint) | Provider::Anthropic(endpoint) => {
                format!("{} {}", endpoint.url, endpoint.model)
            }
            Provider::Command(program) => format!("{:?}", program.argv),
        }
    }

    /// Asks the model, and returns after the time limit at the latest.
    pub(crate) fn ask(&self, request: &Request, limits: &Limits, running: &Running) -> Result<Said, Fault> {
        match self {
            Provider::OpenAi(endpoint) => {
                let exchange = chat::open_ai(endpoint, request, limits);
                chat::open_ai_said(&http::post(endpoint, exchange, limits, running)?)
            }
            Provider::Anthropic(endpoint) => {
                let exchange = chat::anthropic(endpoint, request, limits);
                chat::anthropic_said(&http::post(endpoint, exchange, limits, running)?)
            }
            Provider::Command(program) => {
                let output = command::run(program, &command::input(request), limits)?;
                let text = String::from_utf8(output).map_err(|_| Fault::Format)?;
                Ok(Said { text, cost: None })
            }
        }
    }
}
