//! Settings files: registering never panics, and unregistering gives back what was there, to the byte.
#![no_main]

use castellan_agents::{AgentId, HookCommand, inspect, register, unregister};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let hook = HookCommand { program: "/bin/castellan-hook".to_owned(), home: "/home/u/castellan".to_owned() };
    for agent in AgentId::ALL {
        let untouched = inspect(agent, text).is_ok_and(|inspection| inspection.ours.is_empty());
        if let Ok(registered) = register(agent, text, &hook) {
            assert_eq!(register(agent, &registered, &hook).as_deref(), Ok(registered.as_str()));
            if untouched {
                assert_eq!(unregister(agent, &registered).as_deref(), Ok(text));
            }
        }
    }
});
