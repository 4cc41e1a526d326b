"""The test run itself: what is left out, what fails, and what a test must not leave behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import PrivateMariaDb, PrivatePostgresql, PrivateRedis, PrivateServer
from tests.services import (
    MARIADB,
    POSTGRESQL,
    REDIS,
    mariadb_connection,
    new_mariadb_database,
    new_postgresql_schema,
    new_redis_prefix,
    postgresql_connection,
    redis_client,
)

ROOT = Path(__file__).parents[2]
NOBODY = "postgresql://nobody:secret@127.0.0.1:1/none"
NEEDS_POSTGRESQL = '''
def test_with(postgresql_url: str) -> None:
    """A rule."""

def test_without() -> None:
    """A rule."""
'''
pytestmark = pytest.mark.timeout(60)


def run_pytest(folder: Path, source: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with this project's settings and conftest on one file of tests."""
    (folder / "test_subject.py").write_text(source)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest"]
    command += ["-p", "no:cacheprovider", "--rootdir", str(folder), str(folder), *arguments]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("QUARTZITE_")}
    return subprocess.run(
        command, cwd=ROOT, env=clean | environment, capture_output=True, text=True, timeout=50, check=False
    )


def test_a_missing_server_deselects_and_is_named_in_the_last_lines(tmp_path: Path) -> None:
    """Without its server a test is deselected, not skipped, and the end of the output says so without the password."""
    result = run_pytest(tmp_path, NEEDS_POSTGRESQL, QUARTZITE_TEST_POSTGRESQL_URL=NOBODY)
    last = result.stdout.strip().splitlines()[-2:]
    assert result.returncode == 0, result.stdout
    assert "1 passed, 1 deselected" in last[-1]
    assert "left out 1 tests: PostgreSQL does not answer at postgresql://nobody:***@127.0.0.1:1/none" in last[0]
    assert "set QUARTZITE_TEST_POSTGRESQL_URL" in last[0]


def test_a_required_server_that_is_missing_fails_the_run(tmp_path: Path) -> None:
    """With QUARTZITE_REQUIRE_SERVICES=1 a missing server ends the run at once, with an error and no test run."""
    result = run_pytest(
        tmp_path, NEEDS_POSTGRESQL, QUARTZITE_TEST_POSTGRESQL_URL=NOBODY, QUARTZITE_REQUIRE_SERVICES="1"
    )
    assert result.returncode == 3, result.stdout
    assert "PostgreSQL does not answer" in result.stdout + result.stderr
    assert "passed" not in result.stdout


def test_a_chaos_test_runs_only_when_asked(tmp_path: Path) -> None:
    """Long tests are left out of a plain run, which says so, and run with --chaos."""
    source = '''
import pytest

@pytest.mark.chaos
def test_long() -> None:
    """A rule."""

def test_short() -> None:
    """A rule."""
'''
    plain, chaos = run_pytest(tmp_path, source), run_pytest(tmp_path, source, "--chaos")
    assert "1 passed, 1 deselected" in plain.stdout
    assert "nox -s chaos" in plain.stdout
    assert "2 passed" in chaos.stdout


def test_a_task_left_behind_fails_the_test(tmp_path: Path) -> None:
    """A test that ends while a task it started still runs is an error that shows the task."""
    source = '''
import asyncio

async def test_leaves_one() -> None:
    """A rule."""
    global task
    task = asyncio.create_task(asyncio.Event().wait(), name="forgotten")

async def test_leaves_none() -> None:
    """A rule."""
    ended = asyncio.create_task(asyncio.Event().wait())
    await asyncio.sleep(0)
    ended.cancel()
'''
    result = run_pytest(tmp_path, source)
    assert "2 passed, 1 error" in result.stdout, result.stdout
    assert "1 tasks left running" in result.stdout
    assert "forgotten" in result.stdout


def test_settings_of_the_shell_do_not_reach_the_tests(tmp_path: Path) -> None:
    """QUARTZITE_ variables are removed before the tests start, save those that are about the tests."""
    source = '''
import os

def test_environment() -> None:
    """A rule."""
    assert [name for name in os.environ if name.startswith("QUARTZITE_")] == ["QUARTZITE_TEST_SEED"]
'''
    result = run_pytest(tmp_path, source, QUARTZITE_SCHEDULER_NAME="shell", QUARTZITE_TEST_SEED="7")
    assert "1 passed" in result.stdout, result.stdout


async def test_a_schema_lives_as_long_as_the_test(postgresql_url: str, unique_name: str) -> None:
    """A schema of a test's own is there, empty, and gone with its tables afterwards."""
    async with postgresql_connection(postgresql_url) as connection:
        async with new_postgresql_schema(postgresql_url, unique_name) as schema:
            await connection.execute(f"CREATE TABLE {schema}.t (id int)")
        assert await connection.fetchval("SELECT count(*) FROM pg_namespace WHERE nspname = $1", schema) == 0


async def test_a_database_lives_as_long_as_the_test(mariadb_url: str, unique_name: str) -> None:
    """The URL of a database of a test's own leads into it, and the database is gone afterwards."""
    async with (
        new_mariadb_database(mariadb_url, unique_name) as url,
        mariadb_connection(url) as connection,
        connection.cursor() as cursor,
    ):
        await cursor.execute("SELECT database()")
        assert await cursor.fetchone() == (unique_name,)
    async with mariadb_connection(mariadb_url) as connection, connection.cursor() as cursor:
        await cursor.execute(f"SHOW DATABASES LIKE '{unique_name}'")
        assert await cursor.fetchall() == ()


async def test_keys_of_a_prefix_are_deleted(redis_url: str, unique_name: str) -> None:
    """Keys that a test wrote under its prefix are deleted when it ends."""
    async with redis_client(redis_url) as client:
        async with new_redis_prefix(redis_url, unique_name) as prefix:
            await client.set(f"{prefix}a", "1")
            assert await client.exists(f"{unique_name}:a") == 1
        assert await client.exists(f"{unique_name}:a") == 0


async def test_a_private_postgresql_keeps_what_was_committed(private_postgresql: PrivatePostgresql) -> None:
    """Committed rows survive a kill and a restart of the private server, on the same URL."""
    async with postgresql_connection(private_postgresql.url) as connection:
        await connection.execute("CREATE TABLE kept AS SELECT 1 AS x")
    private_postgresql.kill()
    private_postgresql.restart()
    async with postgresql_connection(private_postgresql.url) as connection:
        assert await connection.fetchval("SELECT x FROM kept") == 1


async def test_a_private_mariadb_keeps_what_was_committed(private_mariadb: PrivateMariaDb) -> None:
    """Committed rows survive a kill and a restart of the private server, on the same URL."""
    async with mariadb_connection(private_mariadb.url) as connection, connection.cursor() as cursor:
        await cursor.execute("CREATE TABLE kept ENGINE=InnoDB AS SELECT 1 AS x")
    private_mariadb.kill()
    private_mariadb.restart()
    async with mariadb_connection(private_mariadb.url) as connection, connection.cursor() as cursor:
        await cursor.execute("SELECT x FROM kept")
        assert await cursor.fetchone() == (1,)


async def test_a_private_redis_forgets_everything(private_redis: PrivateRedis) -> None:
    """A restarted Redis answers on the same URL and has no keys."""
    async with redis_client(private_redis.url) as client:
        await client.set("key", "value")
    private_redis.restart()
    async with redis_client(private_redis.url) as client:
        assert await client.dbsize() == 0


async def test_a_password_is_asked_for() -> None:
    """A private PostgreSQL with a password refuses a wrong one."""
    with PrivatePostgresql(password="right") as server:  # noqa: S106 - a password for the test
        async with postgresql_connection(server.url) as connection:
            assert await connection.fetchval("SELECT 1") == 1
        with pytest.raises(Exception, match="password authentication failed"):
            async with postgresql_connection(server.url.replace("right", "wrong")):
                pass


@pytest.mark.parametrize("kind", [PrivatePostgresql, PrivateRedis])
def test_a_private_server_leaves_nothing(kind: type[PrivateServer]) -> None:
    """After its block the process has ended and the folder is gone."""
    with kind() as server:
        assert server.running
        folder = server.folder
    assert not server.running
    assert not folder.exists()


def test_problems_name_the_missing_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the programs is told which are missing."""
    monkeypatch.setattr(PrivateRedis, "programs", ("redis-server-9000",))
    assert PrivateRedis.problem() == "Redis's programs are missing here: redis-server-9000"


def test_the_services_have_their_own_variables() -> None:
    """Each service is looked for where its own variable says."""
    assert {service.variable for service in (POSTGRESQL, MARIADB, REDIS)} == {
        "QUARTZITE_TEST_POSTGRESQL_URL",
        "QUARTZITE_TEST_MARIADB_URL",
        "QUARTZITE_TEST_REDIS_URL",
    }
