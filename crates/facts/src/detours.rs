//! Detours: ways by which data that a command sends to this machine reaches another one. They are a proxy, another
//! address of a host, and a tunnel that the session opened. This module must not know what is sent.

use castellan_event::{Command, Effect, EffectKind, Facts, HostClass, Object};
use castellan_programs::Trait;

use crate::scene::Scene;
use crate::url::Url;

/// Variables with the proxy of a client, in lower case.
const PROXIES: &[&str] = &["all_proxy", "http_proxy", "https_proxy"];

/// Systems whose publication connects this machine with another one.
const TUNNELS: &[&str] = &["tailscale", "tunnel"];

/// Programs that output what a connection brings: `nc -l 80 | nc h.example 80`.
const CONNECTIONS: &[&str] = &["nc", "ncat", "netcat", "socat"];

/// Settings of `ssh` that listen: `-o LocalForward=...`, in any case.
const FORWARDS: &[&str] = &["dynamicforward", "localforward"];

/// Reports whether a command opens a tunnel. `own`: its effects.
pub(crate) fn opens_tunnel(command: &Command, own: &[Effect]) -> bool {
    let name = command.name.as_deref().unwrap_or_default();
    let is_given = |words: &[&str]| command.args.iter().any(|arg| words.contains(&arg.as_str()));
    let is_published = |effect: &Effect| {
        effect.kind() == EffectKind::Publish
            && effect.system().is_some_and(|system| TUNNELS.contains(&system))
    };
    let is_joined = command.pipe_from.as_deref().is_some_and(|name| CONNECTIONS.contains(&name));
    let has_trait =
        |name: &str| Trait::Tunnels.signs(name).is_some_and(|signs| signs.is_empty() || is_given(signs));
    let is_forward = |arg: &String| FORWARDS.iter().any(|name| arg.to_ascii_lowercase().contains(name));
    let is_inert = is_given(&["--help", "--version"]);
    !is_inert && (has_trait(name) || command.wrappers.iter().any(|name| has_trait(name)))
        || is_joined && own.iter().any(connects_elsewhere)
        || own.iter().any(is_published)
        || name == "ssh" && command.args.iter().any(is_forward)
        || own.iter().any(|effect| effect.kind() == EffectKind::Listen) && own.iter().any(connects_elsewhere)
}

/// Reports whether requests of a command to this machine reach another one by a proxy or by another address of the host.
/// `command`: its position.
pub(crate) fn are_requests_led(command: Option<usize>, effects: &[Effect]) -> bool {
    let is_own = |effect: &Effect| effect.command == command && connects_elsewhere(effect);
    // An exported variable has no command.
    let is_for_it =
        |effect: &Effect| (effect.command.is_none() || effect.command == command) && sets_proxy(effect);
    effects.iter().any(|effect| is_own(effect) || is_for_it(effect))
}

/// Removes the class of this machine from the effects on a machine that a detour replaces.
pub(crate) fn settle(scene: &Scene<'_, '_, '_>, facts: &mut Facts) {
    let is_sent = |effect: &Effect| {
        effect.kind() != EffectKind::Listen
            && effect.remote().is_some_and(|remote| matches!(remote.class, None | Some(HostClass::Loopback)))
    };
    let mut led = Vec::new();
    for (at, effect) in facts.effects.iter().enumerate().filter(|(_, effect)| is_sent(effect)) {
        if scene.has_tunnel || are_requests_led(effect.command, &facts.effects) {
            led.push(at);
        }
    }
    for at in led {
        let remote = match facts.effects.get_mut(at).map(|effect| &mut effect.object) {
            Some(Object::Remote(remote)) => Some(&mut **remote),
            Some(Object::File(file)) => file.sent_to.as_mut(),
            Some(
                Object::Target | Object::Repository { .. } | Object::Package { .. } | Object::Unknown(_),
            )
            | None => None,
        };
        if let Some(remote) = remote {
            remote.class = Some(HostClass::Unknown);
        }
    }
}

fn connects_elsewhere(effect: &Effect) -> bool {
    let class = effect.remote().and_then(|remote| remote.class);
    effect.kind() == EffectKind::Connect && !matches!(class, None | Some(HostClass::Loopback))
}

fn sets_proxy(effect: &Effect) -> bool {
    let is_elsewhere = |value: &str| !value.is_empty() && Url::parse(value).class != HostClass::Loopback;
    effect.kind() == EffectKind::Environment
        && effect.target().and_then(|set| set.split_once('=')).is_some_and(|(name, value)| {
            PROXIES.contains(&name.to_ascii_lowercase().as_str()) && is_elsewhere(value)
        })
}
