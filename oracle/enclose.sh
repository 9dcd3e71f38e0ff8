# Run by `unshare -Urmnp --fork` as the first process of namespaces of its own: makes everything read-only, puts empty places where
# commands may write, and becomes the program that is open as descriptor 9. What fails ends it: nothing then runs.
set -eu
exec 9<"$1"
shift
# The kernel does not let a mount lose the options that it had outside.
while read -r _ _ _ _ place options _; do
    [ "$place" = / ] && root=$options && continue
    case $place in /proc* | /sys* | /dev*) continue ;; esac
    mount -o "remount,bind,ro,${options#r?}" "$place" 2>/dev/null || mount -t tmpfs none "$place"
done </proc/self/mountinfo
mount -o "remount,bind,ro,${root#r?}" /
mount -t tmpfs none /mnt
for device in null zero full random urandom tty; do
    : >"/mnt/$device"
    mount --bind "/dev/$device" "/mnt/$device"
done
ln -s /proc/self/fd /mnt/fd
for at in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${at%:*}" "/mnt/${at#*:}"; done
mkdir /mnt/shm
mount --rbind /mnt /dev
for place in /tmp /var/tmp /run /home /root /mnt; do mount -t tmpfs none "$place"; done
chmod 1777 /tmp
# What the machine keeps may seem to change: it does in memory only.
for place in /etc /var; do
    mkdir -p "/mnt$place/upper" "/mnt$place/work"
    mount -t overlay overlay -o "lowerdir=$place,upperdir=/mnt$place/upper,workdir=/mnt$place/work" "$place"
done
for user in ntpsec postgres Debian-exim; do
    echo "$user:x:0:0::/nonexistent:/bin/false" >>/etc/passwd
    echo "$user:x:0:" >>/etc/group
done
mount -t tmpfs none /var/tmp
mount -t tmpfs none /mnt
mount -t proc proc /proc
mount -t tmpfs none /sys
ip link set lo up
exec /proc/self/fd/9 "$@"
