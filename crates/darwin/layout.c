/* The layout that entry.rs and places.rs read, and the constants that sys.rs passes, against Apple's own headers.
 * `cargo xtask check-macos` compiles this file for both processors; it produces no program. */

#include <stddef.h>
#include <sys/param.h>
#include <sys/types.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <sys/sysctl.h>
#include <sys/un.h>

#define SAME(left, right) _Static_assert((left) == (right), #left " is not " #right)

/* entry.rs */
SAME(sizeof(struct kinfo_proc), 648);
SAME(offsetof(struct kinfo_proc, kp_proc.p_starttime.tv_sec), 0);
SAME(sizeof(((struct timeval *)0)->tv_sec), 8);
SAME(offsetof(struct kinfo_proc, kp_proc.p_starttime.tv_usec), 8);
SAME(sizeof(((struct timeval *)0)->tv_usec), 4);
SAME(offsetof(struct kinfo_proc, kp_proc.p_stat), 36);
SAME(sizeof(((struct extern_proc *)0)->p_stat), 1);
SAME(offsetof(struct kinfo_proc, kp_proc.p_pid), 40);
SAME(offsetof(struct kinfo_proc, kp_proc.p_comm), 243);
SAME(sizeof(((struct extern_proc *)0)->p_comm), 17);
SAME(offsetof(struct kinfo_proc, kp_eproc.e_ucred.cr_uid), 420);
SAME(offsetof(struct kinfo_proc, kp_eproc.e_ppid), 560);
SAME(offsetof(struct kinfo_proc, kp_eproc.e_tdev), 572);
SAME(SSTOP, 4);
SAME(SZOMB, 5);
SAME(NODEV, -1);

/* places.rs */
SAME(sizeof(struct proc_vnodepathinfo), 2352);
SAME(offsetof(struct proc_vnodepathinfo, pvi_cdir.vip_path), 152);
SAME(offsetof(struct proc_vnodepathinfo, pvi_rdir.vip_path), 1328);
SAME(MAXPATHLEN, 1024);

/* sys.rs, where the C library's Rust crate has the same names */
SAME(CTL_KERN, 1);
SAME(KERN_PROC, 14);
SAME(KERN_PROC_ALL, 0);
SAME(KERN_PROC_PID, 1);
SAME(KERN_PROCARGS2, 49);
SAME(PROC_PIDVNODEPATHINFO, 9);
SAME(SOL_LOCAL, 0);
SAME(LOCAL_PEERPID, 2);
