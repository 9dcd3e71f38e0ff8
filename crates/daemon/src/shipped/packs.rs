//! The shipped packs in one table. The rule files, the cases beside them and the keys `packs.NAME` derive from it.

use castellan_rules::Source;

/// A shipped pack, compiled in.
#[derive(Debug, PartialEq, Eq)]
pub struct ShippedPack {
    /// Its name: `secrets`.
    pub name: &'static str,
    /// The name of its rule file in a home. Packs load in the order of these names.
    pub(crate) file: &'static str,
    pub(crate) rules: &'static str,
    cases: &'static str,
    /// The key of its state, and the description of the key.
    pub(crate) key: &'static str,
    pub(crate) about: &'static str,
}

impl ShippedPack {
    /// Returns its rule file.
    pub fn rules(&self) -> Source {
        Source { name: self.file.to_owned(), text: self.rules.to_owned() }
    }

    /// Returns the cases of its rules.
    pub fn cases(&self) -> Source {
        Source { name: format!("{}_cases.yaml", self.name), text: self.cases.to_owned() }
    }
}

macro_rules! pack {
    ($before_name:literal, $name:literal, $about:literal) => {
        ShippedPack {
            name: $name,
            file: concat!($before_name, $name, ".yaml"),
            rules: include_str!(concat!("../../../../rules/", $name, ".yaml")),
            cases: include_str!(concat!("../../../../rules/", $name, "_cases.yaml")),
            key: concat!("packs.", $name),
            about: concat!("Pack `", $name, "`: ", $about),
        }
    };
}

/// The packs that can be switched, in load order.
pub static SHIPPED_PACKS: &[ShippedPack] = &[
    pack!(
        "10-",
        "secrets",
        "keys, passwords and tokens. `off`: its rules have no effect. `observe`: castellan records their findings \
         with the verdict that they would have. `enforce`: their findings decide."
    ),
    pack!("11-", "filesystem", "deleting, overwriting, permissions, devices."),
    pack!("12-", "git", "lost or published work in git."),
    pack!("13-", "exfiltration", "data that leaves the machine."),
    pack!("14-", "execution", "foreign code that runs."),
    pack!("15-", "network", "metadata services, tunnels, listeners."),
    pack!("16-", "persistence", "code that runs again later."),
    pack!("17-", "privilege", "root, namespaces, the kernel."),
    pack!("18-", "supply-chain", "packages and registries."),
    pack!("19-", "containers", "containers."),
    pack!("20-", "kubernetes", "clusters."),
    pack!("21-", "infrastructure", "infrastructure as code."),
    pack!("22-", "cloud", "programs of cloud providers."),
    pack!("23-", "databases", "databases."),
    pack!("24-", "agents", "settings, hooks and instructions of agents."),
    pack!("25-", "mcp", "tools of MCP servers."),
    pack!("26-", "web", "web requests."),
    pack!("27-", "audit", "logs and histories."),
];

/// The organisation's packs, always enforced. They exist only here, so no file of a home can change them.
pub static ORGANISATION_PACKS: &[ShippedPack] = &[pack!("built-in/", "self", "castellan itself.")];
