//! Words of commands, each with blanks around it and in lower case and singular, as [`super::words::words`] makes them.

/// Words for permanent deletion, for programs without a model. Words that are also used for caches and rebuilt data
/// (`clean`, `clear`, `prune`, `reset`) are excluded.
pub(super) const DESTROYS: &[&str] = &[
    " assassinate ",
    " decommission ",
    " del ",
    " delete ",
    " deleteall ",
    " deregister ",
    " destroy ",
    " drop ",
    " erase ",
    " expunge ",
    " forget ",
    " nuke ",
    " obliterate ",
    " purge ",
    " removenode ",
    " rm ",
    " rmr ",
    " teardown ",
    " terminate ",
    " truncate ",
    " unregister ",
    " wipe ",
];

/// Words for permanent deletion only in combination.
pub(super) const DESTROYS_TOGETHER: &[&str] = &[
    " collection delete ",
    " database reset ",
    " migrate fresh ",
    " migrate refresh ",
    " migrate reset ",
    " db reset ",
    " namenode format ",
    " site empty ",
    " storage format ",
    " clearsnapshot ",
    " setup uninstall ",
    " pool remove ",
    " snapshot restore ",
    " trash empty ",
    " uninstall ",
];

/// Objects that give access rights.
pub(super) const RIGHTS: &[&str] = &[
    " access add ",
    " access entry ",
    " access key ",
    " account assignment ",
    " account key ",
    " acl ",
    " add permission ",
    " api key ",
    " auth disable ",
    " auth enable ",
    " auth import ",
    " authorization ",
    " collaborator ",
    " credential ",
    " grant ",
    " iam ",
    " generate token ",
    " iamidentitymapping ",
    " invite ",
    " key create ",
    " key pair ",
    " login profile ",
    " member ",
    " mfa ",
    " password ",
    " permission ",
    " policy ",
    " protection ",
    " public key ",
    " regenerate key ",
    " revoke ",
    " role ",
    " role binding ",
    " resource share ",
    " service account ",
    " ssh key ",
    " token ",
    " transfer ",
    " user ",
];

/// Words that exclude a change of rights.
pub(super) const NO_RIGHTS: &[&str] = &[
    " backup policy ",
    " iam tag ",
    " iam untag ",
    " lifecycle policy ",
    " login ",
    " logout ",
    " report ",
    " retention policy ",
    " scaling policy ",
    " simulate ",
    " snapshot policy ",
    " test ",
    " user data ",
];

/// Words for an actual change of rights, not only a mention; for programs without a model.
pub(super) const CHANGES: &[&str] = &[
    " add ",
    " assign ",
    " attach ",
    " change ",
    " create ",
    " delete ",
    " disable ",
    " enable ",
    " generate token ",
    " grant ",
    " invite ",
    " issue ",
    " mod ",
    " modify ",
    " patch ",
    " promote ",
    " remove ",
    " reset ",
    " revoke ",
    " rotate ",
    " set ",
    " update ",
    " upsert ",
    " useradd ",
];

/// Objects with a secret value.
pub(super) const SECRETS: &[&str] = &[
    " access key ",
    " api key ",
    " connection ",
    " connection string ",
    " credential ",
    " lockbox ",
    " password ",
    " private key ",
    " secret ",
    " token ",
    " variable ",
];

/// Words that output the value of such an object.
pub(super) const SHOWS: &[&str] = &[
    " backup ",
    " cat ",
    " decrypt ",
    " dump ",
    " export ",
    " get ",
    " print ",
    " read ",
    " reveal ",
    " secret access ",
    " show ",
    " version access ",
];

/// Commands whose name alone means that they output secrets.
pub(super) const SHOWS_SECRETS: &[&str] = &[
    " auth export ",
    " initial password ",
    " kms decrypt ",
    " list publishing ",
    " sm secret ",
    " var get ",
];

/// Words of commands that output no value, or that are the usual login.
pub(super) const NO_SECRET: &[&str] = &[
    " describe ",
    " get credential ",
    " get variable ",
    " last used ",
    " list ",
    " login ",
    " policy ",
    " status ",
    " variable get ",
    " version list ",
];

/// Protections and records of data in option names.
pub(super) const PROTECTIONS: &[&str] = &[
    " api termination ",
    " audit ",
    " backup ",
    " backup retention ",
    " deletion protection ",
    " delete retention ",
    " encryption ",
    " logging ",
    " point in time recovery ",
    " point in time recovery specification ",
    " protection ",
    " purge protection ",
    " soft delete ",
    " termination protection ",
    " versioning ",
];

/// Protections and records of data in command names.
pub(super) const DISABLES: &[&str] = &[
    " alarm action ",
    " backup job ",
    " disable ",
    " disable protection ",
    " stop logging ",
    " transfer lock ",
    " versioning set off ",
];

/// Values that disable something.
pub(super) const OFF: &[&str] =
    &["0", "disable", "disabled", "false", "no", "none", "off", "optional", "suspended"];
