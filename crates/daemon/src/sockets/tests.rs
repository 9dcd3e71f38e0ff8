use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::time::Duration;

use castellan_wire::{bind, connect};
use tempfile::TempDir;

use super::given::{Given, GivenError};
use super::*;

struct Served {
    dir: TempDir,
    home: Home,
    sockets: Sockets,
}

fn serve() -> Served {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::new(dir.path().join("home")).unwrap();
    DirBuilder::new().recursive(true).mode(0o700).create(home.run()).unwrap();
    let lock = Lock::take(home.daemon_lock()).unwrap().unwrap();
    let [control, hook] = [home.control_socket(), home.hook_socket()]
        .map(|path| Arc::new(Socket::listen(path, 0o600).unwrap()));
    let sockets = Sockets::new(&home, lock, [control, hook], false);
    Served { dir, home, sockets }
}

impl Served {
    /// Both sockets work, and no second daemon can start.
    fn check_whole(&self, case: &str) {
        for socket in [&self.sockets.control, &self.sockets.hook] {
            let mut stream = connect(&socket.path).unwrap_or_else(|error| panic!("{case}: {error}"));
            let mut accepted = socket.accept().unwrap().unwrap();
            io::Write::write_all(&mut accepted, b"x").unwrap();
            io::Read::read_exact(&mut stream, &mut [0]).unwrap();
            assert_eq!(symlink_metadata(&socket.path).unwrap().mode() & 0o777, 0o600, "{case}");
        }
        assert!(
            Lock::take(self.home.daemon_lock()).unwrap().is_none(),
            "{case}: a second daemon would start"
        );
        assert_eq!(symlink_metadata(self.home.run()).unwrap().mode() & 0o777, 0o700, "{case}");
    }
}

/// Spoils something; one repair restores everything and reports it once.
fn check(case: &str, spoil: impl FnOnce(&Home)) {
    let mut served = serve();
    assert_eq!(served.sockets.mend(), Vec::<String>::new());
    spoil(&served.home);
    let lines = served.sockets.mend();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.contains("made again")), "{case}: {lines:?}");
    served.check_whole(case);
    assert_eq!(served.sockets.mend(), Vec::<String>::new(), "{case}");
}

#[test]
fn what_somebody_took_away_or_replaced_is_made_again() {
    let remove = |path: PathBuf| std::fs::remove_file(path).unwrap();
    let chmod = |path: PathBuf, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    check("hook socket", |home| remove(home.hook_socket()));
    check("control socket", |home| remove(home.control_socket()));
    check("both", |home| [home.hook_socket(), home.control_socket()].into_iter().for_each(remove));
    check("moved", |home| std::fs::rename(home.hook_socket(), home.run().join("x")).unwrap());
    check("swapped", |home| std::fs::rename(home.hook_socket(), home.control_socket()).unwrap());
    check("a file", |home| {
        remove(home.hook_socket());
        std::fs::write(home.hook_socket(), "x").unwrap();
    });
    check("a folder", |home| {
        remove(home.hook_socket());
        std::fs::create_dir(home.hook_socket()).unwrap();
    });
    check("a link", |home| {
        std::fs::rename(home.hook_socket(), home.run().join("x")).unwrap();
        symlink("x", home.hook_socket()).unwrap();
    });
    check("another's socket", |home| {
        remove(home.hook_socket());
        std::mem::forget(bind(&home.hook_socket()).unwrap());
    });
    check("socket modes", |home| chmod(home.hook_socket(), 0o000));
    check("wide socket modes", |home| chmod(home.control_socket(), 0o666));
    check("lock", |home| remove(home.daemon_lock()));
    check("a folder for a lock", |home| {
        remove(home.daemon_lock());
        std::fs::create_dir(home.daemon_lock()).unwrap();
    });
    check("another lock", |home| {
        std::fs::write(home.run().join("x"), "").unwrap();
        std::fs::rename(home.run().join("x"), home.daemon_lock()).unwrap();
    });
    check("folder", |home| std::fs::remove_dir_all(home.run()).unwrap());
    check("moved folder", |home| std::fs::rename(home.run(), home.dir().join("x")).unwrap());
    check("linked folder", |home| {
        std::fs::rename(home.run(), home.dir().join("x")).unwrap();
        symlink("x", home.run()).unwrap();
    });
    check("folder modes", |home| chmod(home.run(), 0o777));
    check("a file for a folder", |home| {
        std::fs::remove_dir_all(home.run()).unwrap();
        std::fs::write(home.run(), "").unwrap();
    });
}

#[test]
fn what_cannot_be_made_again_is_told_once_and_looked_at_again() {
    let mut served = serve();
    let in_place = served.home.hook_socket();
    std::fs::remove_file(&in_place).unwrap();
    std::fs::create_dir_all(in_place.join("full")).unwrap();
    let lines = served.sockets.mend();
    assert!(matches!(&lines[..], [line] if line.contains("cannot be made again")), "{lines:?}");
    assert_eq!(served.sockets.mend(), Vec::<String>::new());
    std::fs::remove_dir_all(&in_place).unwrap();
    assert_eq!(served.sockets.mend().len(), 1);
    served.check_whole("once the folder is gone");
}

#[test]
fn a_home_that_is_gone_is_not_made_again() {
    let mut served = serve();
    std::fs::remove_dir_all(served.home.dir()).unwrap();
    assert!(!served.sockets.mend().is_empty());
    assert!(!served.home.dir().exists());
}

#[test]
fn an_ending_daemon_leaves_the_sockets_of_another_one() {
    let served = serve();
    std::fs::remove_file(served.home.hook_socket()).unwrap();
    let _other = bind(&served.home.hook_socket()).unwrap();
    served.sockets.close();
    assert!(served.home.hook_socket().exists());
    assert!(!served.home.control_socket().exists());
    drop(served.dir);
}

#[test]
fn who_waits_for_a_connection_goes_on_waiting_at_the_new_socket() {
    let mut served = serve();
    let socket = Arc::clone(&served.sockets.hook);
    let accepting = std::thread::spawn(move || socket.accept().map(drop));
    std::fs::remove_file(served.home.hook_socket()).unwrap();
    assert_eq!(served.sockets.mend().len(), 1);
    let _stream = connect(&served.home.hook_socket()).unwrap();
    accepting.join().unwrap().unwrap();
}

/// The time after which a broken test gives up.
const LIMIT: Duration = Duration::from_secs(20);

/// Takes a socket at a path of a new folder.
fn take(make: impl FnOnce(&Path) -> OwnedFd, owner: Owner) -> Result<Given, GivenError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    Given::take(make(&path), (&path, 0o600), owner)
}

fn listening(path: &Path) -> OwnedFd {
    bind(path).unwrap().into()
}

#[test]
fn a_socket_of_another_process_is_taken_only_if_this_daemon_could_have_made_it() {
    let own = Owner::Process(std::process::id());
    assert!(take(listening, own).is_ok());
    let refused = |make: &dyn Fn(&Path) -> OwnedFd| take(make, own).unwrap_err();
    assert!(matches!(take(listening, Owner::Process(1)), Err(GivenError::Owner(_, 1))));
    assert!(matches!(take(listening, Owner::Manager(1)), Err(GivenError::Owner(_, 1))));
    assert!(take(listening, Owner::Manager(std::process::id())).is_ok());
    assert!(matches!(refused(&|path| UnixDatagram::bind(path).unwrap().into()), GivenError::Kind));
    assert!(matches!(refused(&|_| UnixStream::pair().unwrap().0.into()), GivenError::Kind));
    assert!(matches!(refused(&|_| std::fs::File::open("/dev/null").unwrap().into()), GivenError::Kind));
    assert!(matches!(
        refused(&|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap().into()),
        GivenError::Kind
    ));
    let elsewhere = |path: &Path| listening(&path.with_extension("other"));
    assert!(matches!(refused(&elsewhere), GivenError::NoSocket));
    let replaced_by = |put: &dyn Fn(&Path)| {
        refused(&|path| {
            let listener = listening(path);
            std::fs::remove_file(path).unwrap();
            put(path);
            listener
        })
    };
    assert!(matches!(replaced_by(&|_| ()), GivenError::NoSocket));
    assert!(matches!(replaced_by(&|path| std::fs::write(path, "").unwrap()), GivenError::NoSocket));
    let link = |path: &Path| {
        let other = path.with_extension("other");
        std::mem::forget(bind(&other).unwrap());
        symlink(other, path).unwrap();
    };
    assert!(matches!(replaced_by(&link), GivenError::NoSocket));
    let another = |path: &Path| std::mem::forget(bind(path).unwrap());
    assert!(matches!(replaced_by(&another), GivenError::Elsewhere));
}

#[test]
fn connections_that_wait_on_a_given_socket_are_served_first_and_its_mode_is_restored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let listener = bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let mut given = Given::take(listener.into(), (&path, 0o600), Owner::Own).unwrap();
    let (kept, mut other) = UnixStream::pair().unwrap();
    given.add(kept);
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    let socket = Socket::of_given(path.clone(), given).unwrap();
    let mut accepted = socket.accept().unwrap().unwrap();
    io::Write::write_all(&mut accepted, b"x").unwrap();
    io::Read::read_exact(&mut other, &mut [0]).unwrap();
    let _later = connect(&path).unwrap();
    assert!(socket.accept().unwrap().is_some());
}

#[test]
fn a_paused_socket_keeps_silent_connections_and_stays_open_for_clients() {
    let served = serve();
    let socket = Arc::clone(&served.sockets.hook);
    let stream = connect(&socket.path).unwrap();
    let accepted = socket.accept().unwrap().unwrap();
    let waiting = {
        let socket = Arc::clone(&socket);
        std::thread::spawn(move || socket.has_sent(&accepted, LIMIT).then_some(()).ok_or(accepted))
    };
    let accepting = {
        let socket = Arc::clone(&socket);
        std::thread::spawn(move || socket.accept().map(|stream| stream.is_none()))
    };
    socket.pause(Accepted::Kept);
    socket.keep(waiting.join().unwrap().expect_err("the connection has sent nothing"));
    socket.knock();
    assert!(accepting.join().unwrap().unwrap());
    assert_eq!(socket.take_kept().len(), 1);
    // A client sees no difference, and another process can accept it.
    let _waits = connect(&socket.path).unwrap();
    drop(stream);
    let listener: UnixListener = socket.listener().try_clone().unwrap();
    assert!(listener.accept().is_ok());
}

#[test]
fn a_connection_that_has_sent_something_is_not_kept() {
    let served = serve();
    let socket = &served.sockets.hook;
    let mut stream = connect(&socket.path).unwrap();
    let accepted = socket.accept().unwrap().unwrap();
    io::Write::write_all(&mut stream, b"x").unwrap();
    socket.pause(Accepted::Kept);
    assert!(socket.has_sent(&accepted, LIMIT));
}

#[test]
fn a_given_lock_is_the_one_at_the_path_and_locked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lock");
    let given = |file: std::fs::File| Lock::of_given(path.clone(), file.into()).map(drop);
    let lock = Lock::take(path.clone()).unwrap().unwrap();
    let passed = || std::fs::File::from(lock.descriptor().try_clone_to_owned().unwrap());
    given(passed()).unwrap();
    assert!(given(std::fs::File::open(&path).unwrap()).is_err(), "not the description that is locked");
    std::fs::rename(&path, dir.path().join("moved")).unwrap();
    assert!(given(passed()).is_err(), "nothing is there");
    std::fs::write(&path, "").unwrap();
    assert!(given(passed()).is_err(), "another file is there");
    let unlocked = std::fs::File::open(&path).unwrap();
    assert!(given(unlocked).is_err(), "nobody has locked it");
}
