"""ApplicationProviders: what the application provides, by type and by name."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

import pytest
from dependency_injector import containers, providers, resources

from quartzite.container.application import ApplicationProviders, provided_type
from quartzite.container.per_run import per_run
from quartzite.errors import SchedulerConfigError

T = TypeVar("T")


class Mailer:
    pass


class SmtpMailer(Mailer):
    pass


class Database:
    pass


class Store(Generic[T]):
    pass


class Sender(Protocol):
    def send(self) -> None: ...


def make_mailer() -> Mailer:
    return Mailer()


def make_store() -> Store[int]:
    return Store()


async def open_database() -> AsyncIterator[Database]:
    yield Database()


@contextmanager
def opened_database() -> Iterator[Database]:
    yield Database()


class DatabaseResource(resources.Resource[Database]):
    def init(self) -> Database:
        return Database()


class Gateways(containers.DeclarativeContainer):
    mailer = providers.Singleton(SmtpMailer)


class Application(containers.DeclarativeContainer):
    config = providers.Configuration()
    gateways = providers.Container(Gateways)
    database = per_run(open_database)
    store = providers.Factory(make_store)


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        (providers.Factory(Mailer), Mailer),
        (providers.ThreadSafeSingleton(Mailer), Mailer),
        (providers.Factory(make_mailer), Mailer),
        (providers.Callable(make_mailer), Mailer),
        (providers.Object(Mailer()), Mailer),
        (providers.Dependency(instance_of=Mailer), Mailer),
        (providers.Resource(open_database), Database),
        (providers.Resource(DatabaseResource), Database),
        (per_run(open_database), Database),
        (per_run(opened_database), Database),
        (providers.Factory(make_store), Store[int]),
        (providers.Dependency(), None),
        (providers.Configuration(), None),
        (providers.Selector(lambda: "a", a=providers.Factory(Mailer)), None),
        (providers.Factory(lambda: 1), None),
    ],
)
def test_the_type_is_read_from_the_provider(provider: providers.Provider[Any], expected: Any) -> None:
    """Classes, objects and return annotations tell what is provided; what can not be known is None."""
    assert provided_type(provider) == expected


def test_an_overridden_provider_keeps_its_declared_type() -> None:
    """A fake takes the place of the real thing, whatever class it has."""
    provider = providers.Factory(Mailer)
    provider.override(providers.Object("fake"))
    unknown: providers.Dependency[Any] = providers.Dependency()
    unknown.override(providers.Factory(Mailer))
    assert provided_type(provider) is Mailer
    assert provided_type(unknown) is Mailer


def test_a_provider_is_found_by_its_type_or_a_base_of_it() -> None:
    """Nested containers are searched too; generics match as they are written."""
    application = Application()
    found = ApplicationProviders(application)
    assert found.of_type(Mailer) is application.gateways.mailer
    assert found.exactly(Mailer) is None
    assert found.of_type(Database) is application.database
    assert found.of_type(Store[int]) is application.store
    assert found.of_type(Store[str]) is None
    assert found.of_type(Store) is application.store
    assert found.of_type(Sender) is None


def test_the_exact_type_wins_over_a_subclass() -> None:
    """A provider of a subclass does not make the one of the very type ambiguous."""

    class Both(containers.DeclarativeContainer):
        special = providers.Factory(SmtpMailer)
        plain = providers.Factory(Mailer)

    application = Both()
    assert ApplicationProviders(application).of_type(Mailer) is application.plain


def test_several_of_a_type_are_an_error_that_shows_the_way_out() -> None:
    """The error names all of them and how one is chosen."""

    class Two(containers.DeclarativeContainer):
        first = providers.Factory(Mailer)
        second = providers.Factory(Mailer)

    with pytest.raises(SchedulerConfigError) as caught:
        ApplicationProviders(Two()).of_type(Mailer)
    assert "several providers of Mailer in the application's container (first, second)" in str(caught.value)
    assert 'Annotated[Mailer, Named("first")]' in str(caught.value)


def test_a_provider_is_found_by_a_path() -> None:
    """A dot leads into nested containers and into configurations."""
    application = Application()
    application.config.from_dict({"smtp": {"host": "mail"}})
    found = ApplicationProviders(application)
    assert found.named("gateways.mailer") is application.gateways.mailer
    assert found.named("config.smtp.host")() == "mail"


@pytest.mark.parametrize("path", ["nothing", "gateways.nothing", "providers"])
def test_a_path_that_leads_nowhere_is_an_error(path: str) -> None:
    """The error names what there is."""
    with pytest.raises(SchedulerConfigError, match=f"no provider '{path}': it has config, database, gateways.mailer"):
        ApplicationProviders(Application()).named(path)


def test_without_a_container_nothing_is_found() -> None:
    """The error for a name says how a container is given."""
    found = ApplicationProviders()
    assert not found.exists
    assert found.of_type(Mailer) is None
    assert not found.has_per_run
    with pytest.raises(SchedulerConfigError, match=r"QuartzContainer\(application=\.\.\.\)"):
        found.named("mailer")


def test_per_run_providers_are_noticed() -> None:
    """Whether firings need a scope at all is known beforehand."""
    assert ApplicationProviders(Application()).has_per_run
    assert not ApplicationProviders(Gateways()).has_per_run
