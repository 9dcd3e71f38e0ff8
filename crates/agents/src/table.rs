//! The table of all agents, which `build.rs` writes from `agents/*.toml`. Nothing is read at run time.

use castellan_event::ToolKind;

use crate::run::{Observer, ObserverConfig, Run, TranscriptPlace, Variables};
use crate::spec::{
    Acts, AgentPaths, Asks, Event, EventKind, Families, Form, Headless, Holds, HookEvent, HookFile, Hookless,
    IntentJudge, Key, MachineFamily, McpFamily, Meaning, Mode, Moment, NativeFamily, Objections, Options,
    PathKind, Place, PluginFamily, ReaderFamily, RegistrationFamily, ReplyFamily, ServerFamily, Settings,
    Snapshots, Spec, SwitchFamily, ToolSpec, Transcript, TranscriptFamily, Version,
};

include!(concat!(env!("OUT_DIR"), "/table.rs"));
