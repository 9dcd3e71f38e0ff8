//! Agents' settings files.

use castellan_agents::{AgentId, HookCommand, inspect, register, unregister};

/// Registers in a settings file. Registering twice must change nothing; unregistering must restore the original bytes.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let hook =
        HookCommand { program: "/bin/castellan-hook".to_owned(), home: "/home/u/castellan".to_owned() };
    for agent in AgentId::ALL {
        let untouched = inspect(agent, text).is_ok_and(|inspection| inspection.ours.is_empty());
        if let Ok(registered) = register(agent, text, &hook) {
            assert_eq!(register(agent, &registered, &hook).as_deref(), Ok(registered.as_str()));
            if untouched {
                assert_eq!(unregister(agent, &registered).as_deref(), Ok(text));
            }
        }
    }
}
