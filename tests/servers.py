"""Private servers: started from the machine's own programs for tests that stop, kill or refuse them.

They listen on a free port of the loopback interface, keep their data in a folder of their own below the system's
temporary folder, and run as the unprivileged user of their package when the tests run as root.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Self

from tests.services import MARIADB, POSTGRESQL, REDIS, Service

START_SECONDS = 40.0
STOP_SECONDS = 20.0


class PrivateServer(ABC):
    """One server process that belongs to the tests.

    * ``with PrivatePostgresql() as server`` prepares its data, starts it and removes everything at the end.
    * ``start`` and ``stop`` may be called in any state; ``kill`` ends it as a power cut would; the data stays.
    * The port, and with it ``url``, stays the same over restarts.
    """

    service: ClassVar[Service]
    account: ClassVar[str]
    programs: ClassVar[tuple[str, ...]]
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM

    def __init__(self) -> None:
        self.port = _free_port()
        self.folder = Path(tempfile.mkdtemp(prefix=f"qt-{self.service.name}-"))
        self._user = _account(self.account)
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            shutil.chown(self.folder, self._user)

    @classmethod
    def problem(cls) -> str | None:
        """Say which program is missing on this machine, or return None."""
        missing = [name for name in cls.programs if program(name) is None]
        return None if not missing else f"{cls.service.title}'s programs are missing here: {', '.join(missing)}"

    @property
    @abstractmethod
    def url(self) -> str:
        """Where the server is, without a driver in the scheme."""

    @abstractmethod
    def _prepare(self) -> None:
        """Make the data folder, once."""

    @abstractmethod
    def _command(self) -> list[str]:
        """The command line of the server, to be run in the foreground."""

    def _first_start(self) -> None:  # noqa: B027 - most servers need nothing
        """Do what needs a running server, once."""

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def __enter__(self) -> Self:
        try:
            self._prepare()
            self.start()
            self._first_start()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._remove()

    def start(self) -> None:
        """Start the server unless it runs, and return when it answers."""
        if self.running:
            return
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(), cwd=self.folder, user=self._user, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self._wait_until_it_answers()

    def stop(self) -> None:
        """Shut the server down in order; open connections are closed by it."""
        self._end(self.stop_signal)

    def kill(self) -> None:
        """End the server without a chance to write anything."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    def run(self, *command: str) -> None:
        """Run a program as the user of the server; its output is shown when it fails."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            user=self._user,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def _remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not _listens(self.port) or self._refuses():
            if not self.running or time.monotonic() > deadline:
                log = (self.folder / "log").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{self.service.title} did not start on port {self.port}: {log}")
            time.sleep(0.02)

    def _refuses(self) -> bool:
        return False


class PrivatePostgresql(PrivateServer):
    """A PostgreSQL cluster with the superuser ``postgres`` and the database ``test``.

    Args:
        password: Asked of every connection; None trusts everyone.
        settings: Settings of the server beside its defaults, such as ``{"max_connections": "20"}``.
    """

    service = POSTGRESQL
    account = "postgres"
    programs = ("initdb", "postgres", "createdb", "pg_isready")
    stop_signal = signal.SIGINT  # "fast": roll back and disconnect, where SIGTERM waits for the clients to leave

    def __init__(self, *, password: str | None = None, settings: dict[str, str] | None = None) -> None:
        super().__init__()
        self._password = password
        self._settings = settings or {}

    @property
    def url(self) -> str:
        secret = "" if self._password is None else f":{self._password}"
        return f"postgresql://postgres{secret}@127.0.0.1:{self.port}/test"

    def _prepare(self) -> None:
        method = "trust"
        options = []
        if self._password is not None:
            method = "scram-sha-256"
            file = self.folder / "password"
            file.write_text(self._password)
            if self._user is not None:
                shutil.chown(file, self._user)
            options = [f"--pwfile={file}"]
        # The password is asked on the network; the socket in the private folder stays open to the tests.
        auth = ["--auth-local=trust", f"--auth-host={method}", "--username=postgres", "--encoding=UTF8", "--no-locale"]
        self.run(_path("initdb"), "--pgdata", str(self._data), "--no-sync", *auth, *options)

    def _command(self) -> list[str]:
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder), **self._settings}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [_path("postgres"), "-D", str(self._data), "-p", str(self.port), *options]

    def _first_start(self) -> None:
        self.run(_path("createdb"), "-h", str(self.folder), "-p", str(self.port), "-U", "postgres", "test")

    def _refuses(self) -> bool:
        """Tell "the database system is starting up" from a server that takes connections."""
        asked = [_path("pg_isready"), "-q", "-h", str(self.folder), "-p", str(self.port)]
        return subprocess.run(asked, check=False, timeout=START_SECONDS).returncode != 0

    @property
    def _data(self) -> Path:
        return self.folder / "data"


class PrivateMariaDb(PrivateServer):
    """A MariaDB server with root, no password, and the database ``test``."""

    service = MARIADB
    account = "mysql"
    programs = ("mariadb-install-db", "mariadbd")

    @property
    def url(self) -> str:
        return f"mariadb://root@127.0.0.1:{self.port}/test"

    def _prepare(self) -> None:
        # Without an option file of the machine's, so that both servers may run side by side.
        self.run(
            _path("mariadb-install-db"),
            "--no-defaults",
            f"--datadir={self._data}",
            "--auth-root-authentication-method=normal",
            *self._account_option,
        )

    def _command(self) -> list[str]:
        return [
            _path("mariadbd"),
            "--no-defaults",
            f"--datadir={self._data}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.folder / 'socket'}",
            f"--pid-file={self.folder / 'pid'}",
            "--innodb-buffer-pool-size=32M",
            *self._account_option,
        ]

    @property
    def _account_option(self) -> list[str]:
        return [] if self._user is None else [f"--user={self._user}"]

    @property
    def _data(self) -> Path:
        return self.folder / "data"


class PrivateRedis(PrivateServer):
    """A Redis server that keeps nothing on disk.

    Args:
        options: More arguments of ``redis-server``, such as ``("--requirepass", "secret")``.
    """

    service = REDIS
    account = "redis"
    programs = ("redis-server",)

    def __init__(self, *options: str) -> None:
        super().__init__()
        self._options = options

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def _prepare(self) -> None:
        """Redis needs no data folder."""

    def _command(self) -> list[str]:
        quiet = ["--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        return [_path("redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", *quiet, *self._options]


PRIVATE_SERVERS: tuple[type[PrivateServer], ...] = (PrivatePostgresql, PrivateMariaDb, PrivateRedis)


def program(name: str) -> str | None:
    """Find a server's program: on the PATH, in the system folders, or among Debian's PostgreSQL versions."""
    newest_first = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    folders = [os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", *map(str, newest_first)]
    return shutil.which(name, path=os.pathsep.join(folders))


def _version(folder: Path) -> int:
    return int(folder.parent.name) if folder.parent.name.isdigit() else 0


def _path(name: str) -> str:
    found = program(name)
    if found is None:
        raise FileNotFoundError(f"the program {name!r} is not on this machine: install the server's package")
    return found


def _account(name: str) -> str | None:
    """Return the account to step down to; None when the tests are not run by root or it does not exist."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(name).pw_name
    except KeyError:
        return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
