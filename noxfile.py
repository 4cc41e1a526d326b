"""The project's checks, each as one command: ``nox -s NAME``; ``nox -l`` lists them.

``tests`` is all of them that a change must pass, in one environment. The others are parts of it for a quicker answer,
or things that take too long for every change (``chaos``, ``bench``).
"""

import random

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["tests"]
nox.options.reuse_venv = "yes"

DEV = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "dev")
SERVERS = {"QUARTZITE_REQUIRE_SERVICES": "1"}
NO_SERVERS = "not postgresql and not mariadb and not redis"


@nox.session
def tests(session: nox.Session) -> None:
    """Everything a change must pass. Tests whose server is missing are left out, and named at the end."""
    install(session)
    check_style(session)
    check_types(session)
    build_docs(session)
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style, spelling and the import contracts."""
    install(session)
    check_style(session)


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict, on the package and its tests."""
    install(session)
    check_types(session)


@nox.session
def unit(session: nox.Session) -> None:
    """The tests that need no server."""
    install(session)
    session.run("pytest", "-m", NO_SERVERS, *session.posargs)


@nox.session
def contract(session: nox.Session) -> None:
    """The contract suites on every store, lock and lease provider."""
    install(session)
    session.run("pytest", "tests/contract", *session.posargs, env=SERVERS)


@nox.session
def integration(session: nox.Session) -> None:
    """Tests that use real servers."""
    install(session)
    session.run("pytest", "tests/integration", *session.posargs, env=SERVERS)


@nox.session
def cluster(session: nox.Session) -> None:
    """Tests with several processes, in their short form."""
    install(session)
    session.run("pytest", "tests/cluster", *session.posargs, env=SERVERS)


@nox.session
def chaos(session: nox.Session) -> None:
    """The cluster tests in full length, with faults from a seed: ``nox -s chaos -- SEED`` runs one again."""
    seed = session.posargs[0] if session.posargs else str(random.randrange(10**9))
    install(session)
    session.log(f"seed {seed}: 'nox -s chaos -- {seed}' runs the same faults again")
    session.run("pytest", "tests/cluster", "--chaos", "-m", "chaos", "-s", env=SERVERS | {"QUARTZITE_TEST_SEED": seed})


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation and run every block of code in it."""
    install(session)
    build_docs(session)
    session.run("pytest", "tests/docs", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure: ``nox -s bench -- W1 W2 --runs 3`` prints one JSON line per figure."""
    session.install("-e", ".[all]", "cronsim")
    session.run("python", "benchmarks/quartzite_peer.py", *session.posargs)


# ---------------------------------------------------------------------------------------------- parts of a session
def install(session: nox.Session) -> None:
    """Install the package with all extras, and what its development needs."""
    session.install("-e", ".[all]", *DEV)


def check_style(session: nox.Session) -> None:
    """Check style, format, spelling and the direction of imports."""
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("codespell")
    session.run("lint-imports", "--no-cache")


def check_types(session: nox.Session) -> None:
    """Check the types of the package and its tests."""
    session.run("mypy")


def build_docs(session: nox.Session) -> None:
    """Build the documentation; a warning is an error."""
    session.run("sphinx-build", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html")
