//! Limits of resources of a plan.

use crate::bytes::Bytes;
use crate::capabilities::Cgroups;
use crate::plan::{Cgroup, Plan, Resource};
use crate::report::{Aspect, Report};

use super::Ground;

pub(super) fn plan(ground: &Ground<'_>, plan: &mut Plan, report: &mut Report) {
    let limits = &ground.policy.limits;
    // A helper of the machine could receive the memory of a process that crashes.
    plan.limits.push((Resource::Core, 0));
    plan.cgroup = cgroup(ground);
    let in_group = plan.cgroup.is_some();
    if let Some(most) = limits.processes {
        let (enforced, how) = processes(ground, plan, most, in_group);
        report.add(Aspect::ProcessLimit, most.to_string(), enforced, how);
    }
    if let Some(most) = limits.memory_bytes {
        let (enforced, how) = if in_group {
            (true, "a control group")
        } else {
            plan.limits.push((Resource::Data, most));
            (false, without_group(&ground.can.cgroups))
        };
        report.add(Aspect::MemoryLimit, most.to_string(), enforced, how);
    }
    let each = [
        (limits.cpu_s, Resource::Cpu, Aspect::CpuLimit, "RLIMIT_CPU, for each process"),
        (limits.file_bytes, Resource::FileSize, Aspect::FileLimit, "RLIMIT_FSIZE"),
        (limits.open_files, Resource::OpenFiles, Aspect::OpenFilesLimit, "RLIMIT_NOFILE, for each process"),
    ];
    for (limit, resource, aspect, how) in each {
        if let Some(most) = limit {
            plan.limits.push((resource, most));
            report.add(aspect, most.to_string(), true, how);
        }
    }
    if let Some(most) = limits.wall_ms {
        plan.wall_ms = Some(most);
        report.add(Aspect::TimeLimit, most.to_string(), true, "the launcher ends everything");
    }
    if let Some(most) = limits.private_bytes {
        let (enforced, how) = match (ground.can.namespaces, ground.bubblewrap && !ground.can.bubblewrap_sizes)
        {
            (true, false) => (true, "the size of each private place"),
            (true, true) => (false, "a set-user-id bubblewrap accepts no sizes of file systems in memory"),
            (false, _) => (false, "without mount namespaces the private directory is on the disk"),
        };
        report.add(Aspect::SpaceLimit, most.to_string(), enforced, how);
    }
}

fn processes(ground: &Ground<'_>, plan: &mut Plan, most: u64, in_group: bool) -> (bool, String) {
    let can = ground.can;
    if in_group {
        return (true, "a control group".to_owned());
    }
    if can.namespaces && !ground.bubblewrap && ground.survey.uid != 0 {
        // The kernel counts the processes of a user in each user namespace (Linux 5.14).
        plan.limits.push((Resource::Processes, most));
        return (true, "RLIMIT_NPROC, counted in the user namespace".to_owned());
    }
    if by_numbers(ground).is_some() {
        return (true, "the number of process numbers in the namespace".to_owned());
    }
    let how = if ground.survey.uid == 0 {
        "the kernel does not limit the processes of root, and has no limit for a process namespace (Linux 6.14 with CONFIG_CHECKPOINT_RESTORE)"
    } else {
        "without a user namespace the limit would count the user's other processes"
    };
    (false, how.to_owned())
}

/// Returns the limit of processes that process numbers enforce. The kernel holds root to no other.
pub(super) fn by_numbers(ground: &Ground<'_>) -> Option<u64> {
    ground.policy.limits.processes.filter(|most| ground.can.pid_limit && *most > 0)
}

fn without_group(cgroups: &Cgroups) -> &'static str {
    match cgroups {
        Cgroups::None => "this machine has no control groups: RLIMIT_DATA limits each process alone",
        Cgroups::V1 => {
            "control groups are of version 1, which is not used: RLIMIT_DATA limits each process alone"
        }
        Cgroups::NotDelegated => {
            "the user must not make control groups: RLIMIT_DATA limits each process alone"
        }
        Cgroups::Delegated(_) => "RLIMIT_DATA limits each process alone",
    }
}

/// Unverified: the machines of the tests have control groups of version 1.
fn cgroup(ground: &Ground<'_>) -> Option<Cgroup> {
    let limits = &ground.policy.limits;
    let Cgroups::Delegated(parent) = &ground.can.cgroups else { return None };
    let mut settings = Vec::new();
    let mut set = |file: &str, value: String| settings.push((Bytes::from(file), Bytes::from(value.as_str())));
    if let Some(most) = limits.memory_bytes {
        set("memory.max", most.to_string());
        set("memory.swap.max", "0".to_owned());
    }
    if let Some(most) = limits.processes {
        set("pids.max", most.to_string());
    }
    let name = ground.survey.scratch.file_name()?;
    (!settings.is_empty()).then(|| Cgroup { path: Bytes::from(parent.join(name).as_path()), settings })
}
