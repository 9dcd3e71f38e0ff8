//! The network of a plan.

use crate::plan::Plan;
use crate::policy::{Network, Ports};
use crate::report::{Aspect, Report};
use crate::seccomp::{Internet, Sockets};

use super::Ground;

/// Adds the network, and returns the sockets that the filter permits.
pub(super) fn plan(ground: &Ground<'_>, plan: &mut Plan, report: &mut Report) -> Sockets {
    let can = ground.can;
    let own = plan.namespaces.is_some_and(|namespaces| namespaces.network);
    // Without mounts nothing else keeps a command from a socket that has a path.
    let unix = can.namespaces || ground.policy.files.sockets.is_empty();
    let filter = can.seccomp && crate::seccomp::is_known();
    let (internet, word, enforced, how) = match &ground.policy.network {
        Network::Full => (Internet::All, "full", true, "nothing is restricted"),
        Network::None if own => {
            (Internet::All, "none", true, "a network namespace without any interface in use")
        }
        Network::None => (Internet::None, "none", filter, refused(filter)),
        Network::Loopback if own => {
            plan.loopback = true;
            (Internet::All, "loopback", true, "a network namespace with its own loopback interface")
        }
        // The real loopback has services of the machine: stricter than requested, never looser.
        Network::Loopback => (Internet::None, "loopback", filter, refused(filter)),
        Network::Hosts { .. } if own => {
            plan.loopback = true;
            plan.listeners = vec![Ports::INSIDE.http, Ports::INSIDE.socks];
            (Internet::All, "hosts", true, "a network namespace whose only way out is the proxy")
        }
        Network::Hosts { outside: Some(_) } if can.landlock >= 4 && filter => (
            Internet::Streams,
            "hosts",
            false,
            "Landlock permits TCP to the proxy's ports only, but on any address; this machine has no network namespaces",
        ),
        Network::Hosts { .. } => (Internet::None, "hosts", filter, refused(filter)),
    };
    report.add(Aspect::Network, word, enforced, how);
    Sockets { unix, internet }
}

fn refused(filter: bool) -> &'static str {
    if filter {
        "the seccomp filter refuses every internet socket"
    } else {
        "this machine has neither network namespaces nor seccomp filters"
    }
}

/// Returns the ports of the proxy as the command reaches them.
pub(super) fn proxy(ground: &Ground<'_>, plan: &Plan) -> Option<Ports> {
    let Network::Hosts { outside } = &ground.policy.network else { return None };
    if plan.listeners.is_empty() { *outside } else { Some(Ports::INSIDE) }
}
