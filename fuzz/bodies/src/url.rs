//! Addresses of machines.

use castellan_facts::url::{Host, HostClass, Url};

/// Reads text as an address and as a host. The displayed form must have no user, and name the same machine.
pub fn url(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let host = Host::parse(text);
    if host.class != HostClass::Unknown {
        assert_eq!(Host::parse(&host.name), host, "of {text:?}");
    }
    let once = Url::parse(text);
    assert!(once.host.as_deref() != Some(""), "{once:?}");
    if once.host.is_none() || once.class == HostClass::Unknown {
        return;
    }
    let again = Url::parse(&once.text);
    assert!(!again.user_info, "{once:?} shows a user");
    assert_eq!((&again.host, again.port, again.class), (&once.host, once.port, once.class), "of {text:?}");
}
