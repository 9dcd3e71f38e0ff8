//! The table of all agents, which `build.rs` writes from `agents/*.toml`. Nothing is read at run time.

use castellan_event::ToolKind;

use crate::spec::{
    Acts, AgentPaths, Asks, Event, EventKind, Families, Form, Headless, Holds, HookEvent, HookFile, Hookless,
    IntentJudge, Key, MachineFamily, McpFamily, Meaning, Mode, Moment, Native, NativeFamily, Needs,
    Objections, Observer, ObserverConfig, Options, PathKind, Place, Plugin, PluginFamily, ReaderFamily,
    RegistrationFamily, ReplyFamily, Run, ServerFamily, Settings, Snapshots, Spec, SwitchFamily, ToolSpec,
    Transcript, TranscriptFamily, TranscriptPlace, Variables, Version,
};

include!(concat!(env!("OUT_DIR"), "/table.rs"));
