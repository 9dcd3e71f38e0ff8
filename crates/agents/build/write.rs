//! Writes the data of `read.rs` as Rust source. This module must not know whether the data makes sense.

use std::fmt::{Debug, Write as _};

use toml::Spanned;

use crate::shape::{
    Acts, Agent, Event, EventKind, IntentJudge, JudgeContext, JudgeSetting, Key, Native, Observer, Plugin,
    Run, Snapshots, Tool,
};

/// Returns the table, one `Spec` for each agent, for a module with the types in scope.
pub(crate) fn table(agents: &[Agent]) -> String {
    let specs: String = agents.iter().map(spec).collect();
    format!(
        "/// The data of each agent, in the order of the files.\n\
         pub(crate) static SPECS: [Spec; {}] = [{specs}];\n",
        agents.len()
    )
}

/// Returns the constants of `AgentId`: the indices into the table.
pub(crate) fn ids(agents: &[Agent]) -> String {
    let mut text = String::from("impl AgentId {\n");
    let mut all = Vec::new();
    for (at, agent) in agents.iter().enumerate() {
        let name = constant(agent);
        text += &format!("/// {}.\npub const {name}: AgentId = AgentId({at});\n", agent.title);
        all.push(format!("AgentId::{name}"));
    }
    let (count, all) = (all.len(), all.join(", "));
    text + &format!(
        "/// All agents, in the order of their words.\npub const ALL: [AgentId; {count}] = [{all}];\n}}\n"
    )
}

/// Returns the name of the agent's constant.
pub(crate) fn constant(agent: &Agent) -> String {
    agent.word.get_ref().to_ascii_uppercase().replace('-', "_")
}

fn spec(agent: &Agent) -> String {
    let mut text = String::from("Spec {\n");
    let mut field = |name: &str, value: String| text += &format!("{name}: {value},\n");
    let (first, last) = &agent.tested;
    let version = |[major, minor, patch]: [u32; 3]| format!("Version({major}, {minor}, {patch})");
    let settings = &agent.settings;
    let events: Vec<&Event> = agent.events.get_ref().iter().map(Spanned::get_ref).collect();
    field("word", quoted(agent.word.get_ref()));
    field("name", quoted(agent.name.get_ref()));
    field("title", quoted(&agent.title));
    field("package", quoted(&agent.package));
    field("tested", format!("({}, {})", version(first.0), version(last.0)));
    field(
        "settings",
        format!(
            "Settings {{ file: {:?}, variable: {:?}, variable_is_home: {}, machine: {:?} }}",
            settings.file,
            settings.variable,
            settings.variable_is_home,
            settings.machine.as_ref().map(Spanned::get_ref)
        ),
    );
    field(
        "events",
        rows(&events, |event| {
            let (name, kind, deadline) = (&event.name, event_kind(event), event.hook_deadline_s());
            format!("Event {{ name: {name:?}, kind: {kind}, hook_deadline_s: {deadline} }}")
        }),
    );
    field(
        "hook_events",
        format!("&[{}]", events.iter().filter_map(|event| hook_event(event)).collect::<String>()),
    );
    let letter = agent.headless.letter.as_ref().map(|letter| letter.0);
    field("headless", format!("Headless {{ words: &{:?}, letter: {letter:?} }}", agent.headless.words));
    field("read_only_modes", format!("&{:?}", agent.read_only_modes));
    field("hooks_on", format!("&{:?}", agent.hooks_on));
    field("off_variables", format!("&{:?}", agent.off_variables));
    field("variable_files", rows(&agent.variable_files, |path| variable_file(path)));
    field("options", options(agent));
    field("asks", asks(agent));
    field("judge", judge(agent));
    field("tools", rows(&agent.tools, |tool| self::tool(tool.get_ref())));
    field("background_key", format!("{:?}", agent.background_key));
    field("shell_snapshots", snapshots(agent));
    field("shell_variables", format!("&{:?}", agent.shell_variables));
    field("posix_on_windows", agent.posix_on_windows.to_string());
    field("patches_in_shell", agent.patches_in_shell.to_string());
    field(
        "hook_files",
        rows(&agent.hook_files, |file| {
            let (place, path, form) = (&file.place, &file.path, &file.form);
            format!("HookFile {{ place: Place::{place:?}, path: {path:?}, form: Form::{form:?} }}")
        }),
    );
    field("rereads_settings", agent.rereads_settings.to_string());
    field("rewrites_input", agent.rewrites_input.to_string());
    field("needs_trust", agent.needs_trust.to_string());
    field("server_file", quoted(&agent.server_file));
    field("plugin_manifest", quoted(&agent.plugin_manifest));
    field("plugin", plugin(agent));
    field("transcript", transcript(agent));
    field("run", run(&agent.run));
    field("native", native(&agent.native));
    field("paths", paths(agent));
    field("families", families(agent));
    text + "},\n"
}

fn plugin(agent: &Agent) -> String {
    let Some(Plugin { root, uninstall }) = &agent.plugin else { return "None".to_owned() };
    format!("Some(Plugin {{ root: {root:?}, uninstall: {uninstall:?} }})")
}

fn snapshots(agent: &Agent) -> String {
    let Some(Snapshots { folder, prefix, suffix }) = &agent.shell_snapshots else { return "None".to_owned() };
    format!("Some(Snapshots {{ folder: {folder:?}, prefix: {prefix:?}, suffix: {suffix:?} }})")
}

fn event_kind(event: &Event) -> String {
    let session = |moment: &str| {
        format!("EventKind::Session {{ moment: Moment::{moment}, text_key: {:?} }}", event.text_key)
    };
    match event.kind {
        EventKind::Question => "EventKind::Question".to_owned(),
        EventKind::Permission => "EventKind::Permission".to_owned(),
        EventKind::Done => "EventKind::Done { failed: false }".to_owned(),
        EventKind::Failed => "EventKind::Done { failed: true }".to_owned(),
        EventKind::Prompt => session("Prompt"),
        EventKind::SessionStart => session("Start"),
        EventKind::SessionEnd => session("End"),
        EventKind::SubagentEnd => session("SubagentEnd"),
        EventKind::Notice => session("Notice"),
    }
}

fn hook_event(event: &Event) -> Option<String> {
    let (name, timeout_s, matcher) = (&event.name, event.timeout_s?, &event.matcher);
    let blocks = event.blocks_on_failure;
    Some(format!(
        "HookEvent {{ name: {name:?}, timeout_s: {timeout_s}, matcher: {matcher:?}, blocks_on_failure: {blocks} }},\n"
    ))
}

fn options(agent: &Agent) -> String {
    let options = &agent.options;
    let meanings = rows(&options.meanings, |row| format!("({:?}, Meaning::{:?})", row.option, row.meaning));
    format!(
        "Options {{ flags: &{:?}, valued: &{:?}, lists: &{:?}, anywhere: &{:?}, joined_values: {}, adds_up: {}, \
         meanings: {meanings} }}",
        options.flags,
        options.valued,
        options.lists,
        options.anywhere,
        options.joined_values,
        options.adds_up
    )
}

fn native(native: &Native) -> String {
    let beaten_by = rows(&native.beaten_by, |words| format!("&{words:?}"));
    format!(
        "Native {{ beaten_by: {beaten_by}, beaten_by_keys: &{:?}, beaten_by_letter: {:?} }}",
        native.beaten_by_keys,
        native.beaten_by_letter.as_ref().map(|letter| letter.0)
    )
}

fn asks(agent: &Agent) -> String {
    let objections = &agent.asks.objections;
    let modes = rows(&agent.asks.modes, |mode| {
        let (name, holds, attended, prompts) = (&mode.name, &mode.holds, mode.attended, mode.prompts);
        let ignores = mode.ignores_allow;
        format!(
            "Mode {{ name: {name:?}, holds: Holds::{holds:?}, is_attended: {attended}, prompts: {prompts}, \
             ignores_allow: {ignores} }}"
        )
    });
    format!(
        "Asks {{ modes: {modes}, prompt: {:?}, denies_unattended: {}, objections: Objections {{ known_tools: &{:?}, own_servers: &{:?}, \
         keys: &{:?} }} }}",
        agent.asks.prompt.as_ref().map(Spanned::get_ref),
        agent.asks.denies_unattended,
        objections.known_tools,
        objections.own_servers,
        objections.keys
    )
}

fn judge(agent: &Agent) -> String {
    let IntentJudge { modes, options, setting, context } = &agent.judge;
    let setting = setting.as_ref().map(|JudgeSetting { key, value }| (key, value));
    let context = context.as_ref().map(Spanned::get_ref).map(|JudgeContext { event, key }| (event, key));
    format!(
        "IntentJudge {{ modes: &{modes:?}, options: &{options:?}, setting: {setting:?}, context: {context:?} }}"
    )
}

fn tool(tool: &Tool) -> String {
    let name = tool.name.as_ref().unwrap_or(&tool.raw);
    let (raw, kind, plan) = (&tool.raw, &tool.kind, &tool.plan);
    let [command, path, directory] = [&tool.command, &tool.path, &tool.directory].map(|at| key(at.as_ref()));
    format!(
        "ToolSpec {{ raw: {raw:?}, name: {name:?}, kind: ToolKind::{kind:?}, command: {command}, path: {path}, \
         directory: {directory}, plan: {plan:?} }}"
    )
}

fn key(key: Option<&Key>) -> String {
    match key {
        None => "Key::No".to_owned(),
        Some(Key::Required(name)) => format!("Key::Required({name:?})"),
        Some(Key::Optional(name)) => format!("Key::Optional({name:?})"),
        Some(Key::Unless(name, other)) => format!("Key::Unless({name:?}, {other:?})"),
    }
}

fn transcript(agent: &Agent) -> String {
    let transcript = &agent.transcript;
    let hookless = rows(&transcript.hookless, |row| {
        let acts = match &row.acts {
            Acts::Never => "Never".to_owned(),
            Acts::Given(key) => format!("Given({key:?})"),
            Acts::Naming(word) => format!("Naming({word:?})"),
        };
        format!("Hookless {{ tool: {:?}, acts: Acts::{acts} }}", row.tool)
    });
    format!(
        "Transcript {{ words: &{:?}, hookless: {hookless}, subagents: {:?} }}",
        transcript.words, transcript.subagents
    )
}

fn run(run: &Run) -> String {
    let streams = rows(&run.streams, |words| format!("&{words:?}"));
    let transcripts = rows(&run.transcripts, |place| {
        let (folder, levels, names_parent) = (&place.folder, place.levels, place.names_parent);
        format!("TranscriptPlace {{ folder: {folder:?}, levels: {levels}, names_parent: {names_parent} }}")
    });
    let needs = &run.sandbox;
    let sandbox = format!(
        "Needs {{ hosts: &{:?}, address_variables: &{:?}, home_files: &{:?} }}",
        needs.hosts, needs.address_variables, needs.home_files
    );
    let observer = run.observer.as_ref().map(observer);
    let observer = observer.map_or("None".to_owned(), |observer| format!("Some({observer})"));
    format!(
        "Run {{ new_session: {:?}, selects_session: &{:?}, streams: {streams}, stream_words: &{:?}, unsaved: &{:?}, \
         transcripts: {transcripts}, sandbox: {sandbox}, observer: {observer} }}",
        run.new_session, run.selects_session, run.stream_words, run.unsaved
    )
}

fn observer(of: &Observer) -> String {
    let variables = rows(&of.variables, |group| {
        let (names, with, without) = (&group.names, &group.with, &group.without);
        format!("Variables {{ names: &{names:?}, with: {with:?}, without: {without:?} }}")
    });
    let config = of.config.as_ref().map(|config| {
        format!(
            "Some(ObserverConfig {{ file: {:?}, keys: &{:?}, provider_keys: &{:?}, hooks: {:?}, login: {:?} }})",
            config.file, config.keys, config.provider_keys, config.hooks, config.login
        )
    });
    format!(
        "Observer {{ arguments: &{:?}, settings_option: {:?}, commands: &{:?}, after_command: &{:?}, flags: &{:?}, \
         valued: &{:?}, variables: {variables}, home_with: {:?}, config: {} }}",
        of.arguments,
        of.settings_option,
        of.commands,
        of.after_command,
        of.flags,
        of.valued,
        of.home_with,
        config.unwrap_or_else(|| "None".to_owned())
    )
}

fn paths(agent: &Agent) -> String {
    let of = &agent.paths;
    let kinds = [
        ("Login", "logins of", "", &of.logins, [].as_slice()),
        ("Configuration", "configuration of", "", &of.configuration, of.work.as_slice()),
        ("Configuration", "settings of", ", wherever they lie", &of.settings, &[]),
        ("Snapshot", "shell snapshots of", "", &of.snapshots, &[]),
    ];
    let title = &agent.title;
    let some = kinds.iter().filter(|(.., paths, _)| !paths.is_empty());
    rows(&some.collect::<Vec<_>>(), |(kind, begin, end, paths, except)| {
        let about = format!("{begin} {title}{end}");
        format!(
            "AgentPaths {{ kind: PathKind::{kind}, about: {about:?}, paths: &{paths:?}, except: &{except:?} }}"
        )
    })
}

fn families(agent: &Agent) -> String {
    let of = &agent.families;
    let mut text = String::from("Families {");
    let mut family = |field: &str, kind: &str, member: &dyn Debug| {
        write!(text, "{field}: {kind}Family::{member:?},").unwrap_or_default();
    };
    family("reply", "Reply", &of.reply);
    family("registration", "Registration", &of.registration);
    family("reader", "Reader", &of.reader);
    family("switch", "Switch", &of.switch);
    family("servers", "Server", &of.servers);
    family("plugins", "Plugin", &of.plugins);
    family("transcript", "Transcript", &of.transcript);
    family("mcp", "Mcp", &of.mcp);
    let machine = of.machine.as_ref().map(|member| format!("MachineFamily::{member:?}"));
    let machine = machine.map_or("None".to_owned(), |member| format!("Some({member})"));
    let native = of.native.as_ref().map(|member| format!("NativeFamily::{member:?}"));
    let native = native.map_or("None".to_owned(), |member| format!("Some({member})"));
    text + &format!("machine: {machine}, native: {native} }}")
}

fn variable_file(path: &str) -> String {
    format!("HookFile {{ place: Place::Workspace, path: {path:?}, form: Form::Variables }}")
}

fn rows<T>(all: &[T], row: impl Fn(&T) -> String) -> String {
    format!("&[{}]", all.iter().map(|one| row(one) + ",\n").collect::<String>())
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}
