//! Settings that castellan did not write.

use crate::daemon::settings;
use crate::host::initialised;

#[test]
fn wrong_settings_are_refused_with_what_to_do() {
    let hash = "01".repeat(32);
    for (settings, message) in [
        (String::new(), "parse config"),
        ("{}".to_owned(), "parse config"),
        (settings("run/rows.sock", 0, &hash, &hash), "absolute path"),
        (settings("/run/rows.sock", 0, "secret", &hash), "`key`"),
        (settings("/run/rows.sock", 0, &hash, "7"), "`generation`"),
        (settings("/run/rows.sock", 0, &hash, &hash).replace('}', r#","other":1}"#), "parse config"),
    ] {
        let error = initialised(&settings).err().expect("refused");
        assert!(error.contains(message), "{settings}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }
    assert!(initialised(&settings("/run/rows.sock", 0, &hash, &hash)).is_ok());
}
