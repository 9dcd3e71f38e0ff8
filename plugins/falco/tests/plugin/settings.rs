//! Settings that castellan did not write.

use crate::daemon::settings;
use crate::host::{api, initialised};

/// castellan refuses a Falco without this interface (`crates/falco/src/version.rs`).
#[test]
fn the_plugin_needs_the_interface_that_castellan_requires_of_falco() {
    let version = api().get_required_api_version.unwrap();
    // SAFETY: the function returns a text that lives as long as the library.
    let version = unsafe { std::ffi::CStr::from_ptr(version()) };
    assert_eq!(version, c"3.11.0");
}

#[test]
fn wrong_settings_are_refused_with_what_to_do() {
    let hash = "01".repeat(32);
    for (settings, message) in [
        (String::new(), "parse config"),
        ("{}".to_owned(), "parse config"),
        (settings("run/rows.sock", 0, &hash, &hash), "absolute path"),
        (settings("/run/rows.sock", 0, "secret", &hash), "`key`"),
        (settings("/run/rows.sock", 0, &hash, "7"), "`generation`"),
        (settings("/run/rows.sock", 0, &hash, &hash).replace("hex:", ""), "`key`"),
        (settings("/run/rows.sock", 0, &hash, &hash).replace("uid:", ""), "`user`"),
        (settings("/run/rows.sock", 0, &hash, &hash).replace('}', r#","other":1}"#), "parse config"),
    ] {
        let error = initialised(&settings).err().expect("refused");
        assert!(error.contains(message), "{settings}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }
    assert!(initialised(&settings("/run/rows.sock", 0, &hash, &hash)).is_ok());
}

/// Another process of the user could otherwise read the key, and change the answers.
#[test]
fn the_plugin_closes_the_memory_of_its_process() {
    use rustix::process::{DumpableBehavior, dumpable_behavior, set_dumpable_behavior};
    set_dumpable_behavior(DumpableBehavior::Dumpable).unwrap();
    let hash = "01".repeat(32);
    let _plugin = initialised(&settings("/run/rows.sock", 0, &hash, &hash)).unwrap();
    assert_eq!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
}
