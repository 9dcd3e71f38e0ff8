//! L1: everything castellan knows about an agent's JSON and settings files. The crate converts a payload to a `Call`, a
//! verdict to the agent's bytes and exit code, and a settings text to a text with castellan's hooks.
//!
//! `agents/*.toml` hold the differences of the agents: data, and their families of code (`spec.rs`). The crate is pure:
//! texts in, texts out. The crate must not know rules, sockets or the place of a file.

mod agent;
mod asks;
mod command_line;
mod comments;
mod dotenv;
mod failure;
mod family;
mod features;
mod front_matter;
mod hook_files;
mod input;
mod intent_judge;
mod json;
mod limits;
mod managed;
mod mcp_servers;
mod native;
mod own_plugin;
mod patch;
mod payload;
mod permissions;
mod plugins;
mod question;
mod reply;
mod rewrite;
mod run;
mod settings;
mod shell_words;
mod spec;
mod start;
mod status_line;
mod stream;
mod switches;
mod table;
mod tools;
mod transcript;
mod trust;
mod version;
mod whose;

pub use agent::{
    AgentId, UnknownAgent, agent_paths, ceiling, directory_name, hook_events, is_posix_on_windows,
    machine_family, machine_settings_path, moved_settings_directory, needs_trust, plugin_family,
    question_event, settings_path, settings_variable, shell_snapshots, shell_variables, switch_family,
};
pub use asks::{
    denies_unattended_asks, holds_ask, honours_allow, is_headless, measured_version, presented_plan, prompts,
};
pub use command_line::{GivenHooks, can_keep_hooks_on, given_hooks, keeps_hooks_on, off_variables};
pub use failure::hook_table;
pub use family::{HookCommand, HookStart};
pub use features::{Features, agent_literals, features, tested_versions};
pub use hook_files::{
    FRONT_MATTER, HookFileReport, MANAGED_FOLDER, MANAGED_SETTINGS, MANAGED_TEXTS, NamedHook, PLUGIN_HOOKS,
    TRUST_FILE, given_config, given_settings, hook_files, read_hook_file, rereads_settings, variable_files,
};
pub use input::call_key_input;
pub use intent_judge::{config_judges_intent, encode_judge_context, judge_setting_file, judges_intent};
pub use json::JsonError;
pub use limits::{JUDGE_CONTEXT_UNITS_MAX, PAYLOAD_BYTES_MAX, SETTINGS_BYTES_MAX};
pub use managed::{
    managed_settings_text, managed_toml_hooks, register_managed_toml, unregister_managed_toml,
};
pub use mcp_servers::{configured_servers, server_file};
pub use native::{
    Merged, NativeCommand, NativeError, NativeFile, NativeSecret, NativeValues, StoppedCommand,
    arguments_name_files, beats_native, has_auto_mode, has_native, is_plain_path, is_plain_word,
    merge_native, native_arguments, native_files, native_paths, needs_sandbox_tools,
};
pub use own_plugin::{
    OWN_MARKETPLACES, OWN_PLUGIN_PROGRAMS, own_plugin_hooks, program_in_plugin, uninstall_own_plugin,
};
pub use payload::{Done, Incoming, Malformed, Origin, SessionEvent, decode, prompt_text};
pub use permissions::{
    Permission, PermissionFormat, PermissionSubject, PermissionVerdict, Permissions, Unread,
};
pub use plugins::{
    CACHED_PLUGINS, EXTENSIONS, INSTALLED_PLUGINS, InstalledPlugin, KNOWN_MARKETPLACES, MARKETPLACE,
    OfferedPlugin, PluginError, PluginFiles, installed_plugins, marketplaces, offered_plugins, plugin_files,
    plugin_manifest,
};
pub use question::{Question, file_input, shell_call};
pub use reply::{Message, Reply, encode, encode_failure, encode_refusal, is_deferral, is_denial};
pub use rewrite::{can_rewrite, command_text, gives_own_rules, may_match_own_rule, rewritten_input};
pub use run::{
    ConfigProblem, GivenSession, ObserverFiles, ObserverProblem, can_observe, given_session,
    guarded_arguments, has_own_home, home_files, is_session_id, is_stream, needed_hosts, observer_arguments,
    observer_config, observer_files, observer_variables, stream_words, transcript_places, unsaved,
};
pub use settings::{
    Foreign, HOOK_NAME, Inspection, Registered, SettingsProblem, inspect, register, take_over, unregister,
};
pub use spec::{
    AgentPaths, HookEvent, HookFile, MachineFamily, Moment, PathKind, Place, PluginFamily, SwitchFamily,
    TranscriptPlace, Version,
};
pub use start::hook_start;
pub use status_line::{
    StatusLine, add_status_line, has_status_line, remove_status_line, status_line, status_line_command,
};
pub use stream::{
    StreamCall, StreamLine, StreamProblem, Tokens, UsageReport, stream_line, transcript_usage,
    transcript_words,
};
pub use switches::{switches_off, switches_on};
pub use transcript::{
    TranscriptCall, TranscriptEntry, TranscriptError, TranscriptLine, subagent_transcripts, transcript_line,
};
pub use trust::{Trust, distrust, hook_trust};
pub use version::{NoVersion, PACKAGE_MANIFEST, executable_version};
