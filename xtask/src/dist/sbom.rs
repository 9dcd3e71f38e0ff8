//! The software bill of materials, in the JSON of CycloneDX 1.6: castellan's programs and Falco's plugin with their hashes, the
//! crates in them, and which crate needs which. Must not know where the values come from.

use serde_json::{Value as Json, json};

use super::library;
use super::linked::{Linked, purl};
use super::programs::Programs;
use super::tree::sha256;

/// Returns the bill. `time` is in seconds since 1970.
pub(super) fn text(programs: &Programs, linked: &[Linked], time: u64) -> anyhow::Result<String> {
    let version = &programs.version;
    let hash = |bytes: &[u8]| json!([{ "alg": "SHA-256", "content": sha256(bytes) }]);
    let part = |kind: &str, name: &str, bytes: &[u8]| {
        let place = format!("program:{name}");
        json!({ "type": kind, "bom-ref": place, "name": name, "version": version, "hashes": hash(bytes) })
    };
    let files = programs.tree.files().map(|(name, entry)| part("application", name, &entry.bytes));
    let library = programs.library.iter().map(|bytes| part("library", library::NAME, bytes));
    let parts: Vec<Json> = files.chain(library).collect();
    let castellan = json!({
        "type": "application",
        "bom-ref": "castellan",
        "name": "castellan",
        "version": version,
        "licenses": [{ "expression": "Apache-2.0" }],
        "components": parts,
        "properties": [{ "name": "castellan:platform", "value": programs.platform }],
    });
    let roots: Vec<String> = linked.iter().filter(|one| one.is_root).map(Linked::purl).collect();
    let mut dependencies = vec![json!({ "ref": "castellan", "dependsOn": roots })];
    dependencies.extend(linked.iter().map(|one| {
        let needs: Vec<String> = one.needs.iter().map(|(name, version)| purl(name, version)).collect();
        json!({ "ref": one.purl(), "dependsOn": needs })
    }));
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "timestamp": rfc3339(time), "component": castellan },
        "components": linked.iter().map(component).collect::<Vec<_>>(),
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n"))
}

fn component(one: &Linked) -> Json {
    let mut component = json!({
        "type": "library",
        "bom-ref": one.purl(),
        "name": one.name,
        "version": one.version,
        "licenses": [{ "expression": one.licence }],
        "purl": one.purl(),
    });
    if let (Some(checksum), Some(fields)) = (&one.checksum, component.as_object_mut()) {
        fields.insert("hashes".to_owned(), json!([{ "alg": "SHA-256", "content": checksum }]));
    }
    component
}

fn rfc3339(time: u64) -> String {
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(time);
    humantime::format_rfc3339_seconds(time).to_string()
}
