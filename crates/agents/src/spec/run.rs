//! The data of an agent's start by `castellan run`.

/// The data of an agent's start.
#[derive(Debug)]
pub(crate) struct Run {
    /// The option that gives a new session its id.
    pub(crate) new_session: Option<&'static str>,
    /// Options that select a session in another way.
    pub(crate) selects_session: &'static [&'static str],
    /// Each entry makes the agent write JSON lines: an option, with its value if it has one.
    pub(crate) streams: &'static [&'static [&'static str]],
    /// Every line of the stream about a call, usage or a session contains one of these words.
    pub(crate) stream_words: &'static [&'static str],
    /// Options without which the agent writes its transcript.
    pub(crate) unsaved: &'static [&'static str],
    pub(crate) transcripts: &'static [TranscriptPlace],
    pub(crate) sandbox: Needs,
    /// The lockdown; `None` if nobody has measured one.
    pub(crate) observer: Option<Observer>,
}

/// The needs of an agent in a sandbox.
#[derive(Debug)]
pub(crate) struct Needs {
    /// Hosts that the agent itself connects to.
    pub(crate) hosts: &'static [&'static str],
    /// Variables with the URL of such a host.
    pub(crate) address_variables: &'static [&'static str],
    /// Files in the home, outside of the agent's directory, that the agent writes.
    pub(crate) home_files: &'static [&'static str],
}

/// A place of transcripts, below the agent's own directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TranscriptPlace {
    /// The folder.
    pub folder: &'static str,
    /// Levels of directories between `folder` and the files.
    pub levels: usize,
    /// True if the directory above the last level has the session's name. Otherwise the name of the file ends with it.
    pub names_parent: bool,
}

/// The start of an agent without tools.
#[derive(Debug)]
pub(crate) struct Observer {
    /// Arguments before the user's.
    pub(crate) arguments: &'static [&'static str],
    /// The option that takes settings with castellan's hooks as a text.
    pub(crate) settings_option: Option<&'static str>,
    /// The first word must be one of these, if there are any. Otherwise the agent must run without a person.
    pub(crate) commands: &'static [&'static str],
    /// Arguments after that word.
    pub(crate) after_command: &'static [&'static str],
    /// Accepted options without a value.
    pub(crate) flags: &'static [&'static str],
    /// Accepted options with a value.
    pub(crate) valued: &'static [&'static str],
    pub(crate) variables: &'static [Variables],
    /// The observer has a home of its own if this variable is set; `None`: always.
    pub(crate) home_with: Option<&'static str>,
    pub(crate) config: Option<ObserverConfig>,
}

/// Variables that an observer gets.
#[derive(Debug)]
pub(crate) struct Variables {
    pub(crate) names: &'static [&'static str],
    /// Only if this variable is on.
    pub(crate) with: Option<&'static str>,
    /// Only if this variable is not set.
    pub(crate) without: Option<&'static str>,
}

/// The files of an observer's own home.
#[derive(Debug)]
pub(crate) struct ObserverConfig {
    pub(crate) file: &'static str,
    /// Keys that are taken over from the user's file.
    pub(crate) keys: &'static [&'static str],
    /// Keys of a provider that are taken over. None starts a program.
    pub(crate) provider_keys: &'static [&'static str],
    /// The file of the hooks.
    pub(crate) hooks: &'static str,
    /// The file of the user's login.
    pub(crate) login: &'static str,
}
