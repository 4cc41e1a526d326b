"""What every test gets: a clean environment, the servers it asks for, and a check that it left no task behind."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import settings

from tests.servers import PRIVATE_SERVERS, PrivateMariaDb, PrivatePostgresql, PrivateRedis
from tests.services import (
    MARIADB,
    POSTGRESQL,
    REDIS,
    SERVICES,
    Service,
    new_mariadb_database,
    new_postgresql_schema,
    new_redis_prefix,
)

REQUIRE_SERVICES = "QUARTZITE_REQUIRE_SERVICES"
LEFT_OUT = pytest.StashKey[dict[str, int]]()

_numbers = itertools.count(1)

if "CI" not in os.environ:  # there hypothesis has a profile of its own, which repeats the same examples in each run
    # A busy machine makes single examples slow; the time limit is that of the whole test.
    settings.register_profile("quartzite", deadline=None)
    settings.load_profile("quartzite")


# ------------------------------------------------------------------------------------------------------ the run
def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch for the long tests."""
    parser.addoption("--chaos", action="store_true", help="run the long cluster tests with faults as well")


def pytest_configure(config: pytest.Config) -> None:
    """Forget the settings of the surrounding shell: they belong to an application, not to the tests."""
    config.stash[LEFT_OUT] = {}
    for name in [name for name in os.environ if name.startswith("QUARTZITE_")]:
        if not name.startswith("QUARTZITE_TEST_") and name != REQUIRE_SERVICES:
            del os.environ[name]


def pytest_sessionstart(session: pytest.Session) -> None:
    """Fail at once when a server is missing that must be there."""
    if os.environ.get(REQUIRE_SERVICES, "0") in {"", "0"} or session.config.option.collectonly:
        return
    problems = [problem for service in SERVICES if (problem := service.problem())]
    problems += [problem for server in PRIVATE_SERVERS if (problem := server.problem())]
    if problems:
        pytest.exit(f"{REQUIRE_SERVICES} is set, but\n" + "\n".join(f"  {text}" for text in problems), returncode=3)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that use a server, and deselect those that can not or shall not run here."""
    kept, left_out = [], []
    for item in items:
        _mark_services(item)
        reason = _reason_to_leave_out(item)
        if reason is None:
            kept.append(item)
        else:
            left_out.append(item)
            config.stash[LEFT_OUT][reason] = config.stash[LEFT_OUT].get(reason, 0) + 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _mark_services(item: pytest.Item) -> None:
    names = getattr(item, "fixturenames", ())
    for service in SERVICES:
        if any(name.startswith(f"{service.name}_") for name in names):
            item.add_marker(service.name)


def _reason_to_leave_out(item: pytest.Item) -> str | None:
    if item.get_closest_marker("chaos") and not item.config.option.chaos:
        return "they are long: nox -s chaos runs them"
    shared = (service.problem() for service in SERVICES if item.get_closest_marker(service.name))
    names = getattr(item, "fixturenames", ())
    private = (server.problem() for server in PRIVATE_SERVERS if f"private_{server.service.name}" in names)
    return next((problem for problem in (*shared, *private) if problem), None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in the last lines which tests did not run, and why."""
    for reason, count in config.stash[LEFT_OUT].items():
        terminalreporter.write_line(f"left out {count} tests: {reason}", yellow=True)


# ---------------------------------------------------------------------------------------------------- each test
@pytest.fixture(autouse=True)
def _tasks_are_finished(request: pytest.FixtureRequest) -> None:
    """Watch the event loop of asynchronous tests; a test without one has no task to leave."""
    if request.node.get_closest_marker("asyncio") is not None:
        request.getfixturevalue("no_task_left_behind")


@pytest.fixture
async def no_task_left_behind() -> AsyncIterator[None]:
    """Fail a test that ends while a task it started still runs; other fixtures are torn down before."""
    before = asyncio.all_tasks()
    yield
    for _ in range(3):  # a task that has just been cancelled or told to end gets the turns it needs to do so
        await asyncio.sleep(0)
    current = asyncio.current_task()
    left = [task for task in asyncio.all_tasks() - before if task is not current]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    assert not left, f"{len(left)} tasks left running: " + "; ".join(map(repr, left))


@pytest.fixture
def unique_name() -> str:
    """A lowercase identifier that no other test of any run on this machine uses at the same time."""
    return f"qt_{os.getpid()}_{next(_numbers)}"


# ------------------------------------------------------------------------------------------------------ servers
def _url_of(service: Service) -> Iterator[str]:
    if problem := service.problem():
        # Deselection looks at the fixtures a test names; this one was asked for by getfixturevalue alone.
        pytest.fail(f"the test needs the marker {service.name!r}: {problem}")
    yield service.url


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """The URL of the PostgreSQL server, without a driver in its scheme."""
    yield from _url_of(POSTGRESQL)


@pytest.fixture(scope="session")
def mariadb_url() -> Iterator[str]:
    """The URL of the MariaDB server, without a driver in its scheme."""
    yield from _url_of(MARIADB)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The URL of the Redis server."""
    yield from _url_of(REDIS)


@pytest.fixture
async def postgresql_schema(postgresql_url: str, unique_name: str) -> AsyncIterator[str]:
    """The name of an empty schema that lives as long as the test."""
    async with new_postgresql_schema(postgresql_url, unique_name) as schema:
        yield schema


@pytest.fixture
async def mariadb_database(mariadb_url: str, unique_name: str) -> AsyncIterator[str]:
    """The URL of an empty database that lives as long as the test."""
    async with new_mariadb_database(mariadb_url, unique_name) as url:
        yield url


@pytest.fixture
async def redis_prefix(redis_url: str, unique_name: str) -> AsyncIterator[str]:
    """A prefix for keys, which are deleted when the test ends."""
    async with new_redis_prefix(redis_url, unique_name) as prefix:
        yield prefix


# Private servers are for tests that stop or kill them: started once for a module, and up again for each test.
@pytest.fixture(scope="module")
def _module_postgresql() -> Iterator[PrivatePostgresql]:
    with PrivatePostgresql() as server:
        yield server


@pytest.fixture
def private_postgresql(_module_postgresql: PrivatePostgresql) -> PrivatePostgresql:
    """A PostgreSQL server that the test may stop, kill and restart."""
    _module_postgresql.start()
    return _module_postgresql


@pytest.fixture(scope="module")
def _module_mariadb() -> Iterator[PrivateMariaDb]:
    with PrivateMariaDb() as server:
        yield server


@pytest.fixture
def private_mariadb(_module_mariadb: PrivateMariaDb) -> PrivateMariaDb:
    """A MariaDB server that the test may stop, kill and restart."""
    _module_mariadb.start()
    return _module_mariadb


@pytest.fixture(scope="module")
def _module_redis() -> Iterator[PrivateRedis]:
    with PrivateRedis() as server:
        yield server


@pytest.fixture
def private_redis(_module_redis: PrivateRedis) -> PrivateRedis:
    """A Redis server that the test may stop, kill and restart."""
    _module_redis.start()
    return _module_redis
