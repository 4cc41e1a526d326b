"""A stored name leads to jobs that the application means to be found, and to nothing else."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from quartzite.abc import Job
from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.errors import InvalidValueError, TypeLoadError
from quartzite.execution import JobContext
from quartzite.model.job import JobType, job

SOURCE = """
import abc
from subprocess import run
from {name}.inner import elsewhere
from quartzite.abc import Job
from quartzite.model.job import job

def plain(context): ...

@job
def marked(context): ...

@job(name="report")
def named(context): ...

class Duck:
    def execute(self, context): ...
    def other(self, context): ...

class ByBase(Job):
    def execute(self, context): ...

class Abstract(Job):
    @abc.abstractmethod
    def missing(self): ...

class Outer:
    class Nested(Duck): ...
    @staticmethod
    def static(context): ...
    @classmethod
    def of_class(cls, context): ...
    @property
    def execute_me(self):
        raise AssertionError("a name must not run code")

NUMBER = 5
lambda_job = lambda context: None

def __getattr__(name):
    raise AssertionError("a name must not run code")
"""


@pytest.fixture
def package(tmp_path: Path, unique_name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a package of jobs, with a module ``inner``, that can be imported and has not been."""
    folder = tmp_path / unique_name
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("def elsewhere(context): ...\n")
    (folder / "jobs.py").write_text(SOURCE.format(name=unique_name))
    (folder / "broken.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield unique_name
    for name in [name for name in sys.modules if name.partition(".")[0] == unique_name]:
        del sys.modules[name]


@pytest.fixture
def jobs(package: str) -> ModuleType:
    """The module of jobs, imported."""
    return importlib.import_module(f"{package}.jobs")


def load(loader: ImportTypeLoader, name: str) -> Any:
    """Return what a row with this name leads to."""
    return loader.load(JobType(name))


def plain_function(context: JobContext) -> None:
    """A function that nothing marks."""


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:run",
        "subprocess:Popen",
        "builtins:eval",
        "builtins:exec",
        "builtins:__import__",
        "sqlite3:Cursor",
        "os:path.join",
        "builtins.eval",
        "os.system",
        "",
    ],
)
@pytest.mark.parametrize("allowed", [None, (), ("myapp",)])
def test_a_row_can_not_run_what_is_no_job(name: str, allowed: tuple[str, ...] | None) -> None:
    """Functions and classes of Python itself are refused, whatever the list, and so is every other spelling."""
    loader = ImportTypeLoader(allowed_modules=allowed)
    with pytest.raises((TypeLoadError, InvalidValueError)):
        load(loader, name)


def test_without_a_list_no_name_imports_a_module(package: str) -> None:
    """The name of a module that is not imported is refused, and it stays so."""
    with pytest.raises(TypeLoadError, match="is not imported, and no name imports it"):
        load(ImportTypeLoader(), f"{package}.jobs:marked")
    assert f"{package}.jobs" not in sys.modules


def test_outside_the_list_no_name_imports_a_module(package: str) -> None:
    """A module that is not allowed is refused before it is imported."""
    with pytest.raises(TypeLoadError, match="its module is not allowed"):
        load(ImportTypeLoader(allowed_modules=["other", f"{package}.inn"]), f"{package}.inner:elsewhere")
    assert f"{package}.inner" not in sys.modules


@pytest.mark.parametrize("name", ["marked", "ByBase"])
def test_without_a_list_a_job_says_so_itself(jobs: ModuleType, name: str) -> None:
    """Jobs that carry a decorator or derive from Job are found in modules that are imported."""
    assert load(ImportTypeLoader(), f"{jobs.__name__}:{name}") is getattr(jobs, name)


@pytest.mark.parametrize("name", ["plain", "Duck", "Outer.Nested", "Outer.static", "elsewhere"])
def test_without_a_list_anything_else_is_refused_with_the_remedy(jobs: ModuleType, name: str) -> None:
    """What nothing marks is refused, and the error says the three things that help."""
    with pytest.raises(TypeLoadError, match=r"declare or schedule .* @job, or allow its module \(allowed_modules\)"):
        load(ImportTypeLoader(), f"{jobs.__name__}:{name}")


def test_jobs_of_the_library_run_when_they_are_declared() -> None:
    """A row can not start a job that comes with Quartzite itself; declaring it opens its name."""
    loader = ImportTypeLoader()
    module = ModuleType("quartzite.jobs_of_a_test")
    sent = type("Sent", (Job,), {"execute": lambda self, context: None, "__module__": module.__name__})
    vars(module)["Sent"] = sent
    sys.modules[module.__name__] = module
    try:
        with pytest.raises(TypeLoadError, match="run when the application declares them"):
            load(loader, f"{module.__name__}:Sent")
        loader.register(JobType.of(sent))
        assert load(loader, f"{module.__name__}:Sent") is sent
    finally:
        del sys.modules[module.__name__]


@pytest.mark.parametrize("name", ["plain", "marked", "Duck", "ByBase", "Outer.Nested", "Outer.static", "elsewhere"])
def test_an_allowed_module_is_imported_and_its_jobs_are_found(package: str, name: str) -> None:
    """Classes with an execute method and functions that an allowed package defines are found, marked or not."""
    found = load(ImportTypeLoader(allowed_modules=[package]), f"{package}.jobs:{name}")
    module = sys.modules[f"{package}.jobs"]
    assert found.__module__.startswith(package)
    assert found is (vars(module)[name] if "." not in name else getattr(module.Outer, name.partition(".")[2]))


def test_a_class_method_keeps_its_class(package: str) -> None:
    """A class method is found bound to its class, so that it can be called like any function."""
    found = load(ImportTypeLoader(allowed_modules=[package]), f"{package}.jobs:Outer.of_class")
    assert found.__self__ is sys.modules[f"{package}.jobs"].Outer


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("run", "it is defined in 'subprocess', which is not allowed"),
        ("NUMBER", "neither a job class nor a Python function, but a int"),
        ("Outer", "the class has no execute method"),
        ("Abstract", "the class is abstract"),
        ("Duck.other", "it is a method of an object"),
        ("Outer.execute_me", "neither a job class nor a Python function"),
        ("abc.ABC", "has no 'abc.ABC'"),
        ("plain.__globals__", "has no 'plain.__globals__'"),
        ("missing", "has no 'missing'"),
        ("Outer.missing", "has no 'Outer.missing'"),
        ("<lambda>", "of the form package.module:Qualified.Name"),
        ("a b", "of the form package.module:Qualified.Name"),
    ],
)
def test_an_allowed_module_opens_only_its_own_jobs(package: str, name: str, reason: str) -> None:
    """What a module imports, methods, values and anything behind them are refused, and no code runs to find out."""
    with pytest.raises(TypeLoadError) as refused:
        load(ImportTypeLoader(allowed_modules=package), f"{package}.jobs:{name}")
    assert reason in str(refused.value)
    assert refused.value.type_name == f"{package}.jobs:{name}"


def test_a_module_is_allowed_by_whole_parts_of_its_name(package: str) -> None:
    """Allowing ``app`` opens ``app`` and ``app.jobs``, not ``apps``."""
    loader = ImportTypeLoader(allowed_modules=[package[:-1]])
    with pytest.raises(TypeLoadError, match="not allowed"):
        load(loader, f"{package}.jobs:plain")


@pytest.mark.parametrize(("module", "reason"), [("broken", "SystemExit"), ("missing", "ModuleNotFoundError")])
def test_a_module_that_can_not_be_imported_is_a_type_load_error(package: str, module: str, reason: str) -> None:
    """Whatever importing raises becomes the one error that names the job type."""
    loader = ImportTypeLoader(allowed_modules=[package])
    with pytest.raises(TypeLoadError, match=reason):
        load(loader, f"{package}.{module}:plain")


def test_a_failure_is_not_remembered(package: str) -> None:
    """A name that led nowhere is looked for again; one that was found is not."""
    loader = ImportTypeLoader(allowed_modules=[package])
    name = f"{package}.jobs:late"
    with pytest.raises(TypeLoadError):
        load(loader, name)
    module = sys.modules[f"{package}.jobs"]
    exec("def late(context): ...", vars(module))  # noqa: S102
    found = load(loader, name)
    del vars(module)["late"]
    assert load(loader, name) is found


def test_a_registered_job_is_found_by_its_name() -> None:
    """Whatever was registered is found, in no matter which module, with or without a list; others do not see it."""
    for loader in (ImportTypeLoader(), ImportTypeLoader(allowed_modules=[])):
        loader.register(JobType.of(plain_function))
        assert load(loader, f"{__name__}:plain_function") is plain_function
    with pytest.raises(TypeLoadError):
        load(ImportTypeLoader(), f"{__name__}:plain_function")


def test_a_name_of_its_own_is_found_when_it_is_registered(jobs: ModuleType) -> None:
    """``@job(name=...)`` gives a closure or a lambda a name that leads to it, once it is registered."""
    loader = ImportTypeLoader()
    with pytest.raises(TypeLoadError, match="neither registered nor of the form"):
        load(loader, "report")
    loader.register(JobType.of(jobs.named))
    assert load(loader, "report") is jobs.named


def test_what_is_at_hand_needs_no_name() -> None:
    """A job type that carries its target leads to it, whatever its name says."""

    def local(context: JobContext) -> None: ...

    assert ImportTypeLoader(allowed_modules=[]).load(JobType.of(local)) is local


def test_names_that_several_share_are_not_registered() -> None:
    """Two closures of one spelling do not get in each other's way, and no name leads to either."""

    def make() -> Any:
        def closure(context: JobContext) -> None: ...

        return closure

    loader = ImportTypeLoader()
    for target in (make(), make(), lambda context: None):
        loader.register(JobType.of(target))
    loader.register(JobType("only.a:name"))
    with pytest.raises(TypeLoadError):
        load(loader, JobType.of(make()).full_name)


def test_one_name_is_one_job() -> None:
    """Another job under a registered name is refused, naming both."""

    @job(name="shared")
    def first(context: JobContext) -> None: ...

    @job(name="shared")
    def second(context: JobContext) -> None: ...

    loader = ImportTypeLoader()
    loader.register(JobType.of(first))
    loader.register(JobType.of(first))
    with pytest.raises(InvalidValueError, match=r"'shared' belongs to .*first already: give .*second another"):
        loader.register(JobType.of(second))
    assert load(loader, "shared") is first


def test_a_job_defined_again_takes_its_own_place(jobs: ModuleType) -> None:
    """After its module was reloaded a job is the new one."""
    loader = ImportTypeLoader()
    old = jobs.plain
    loader.register(JobType.of(old))
    importlib.reload(jobs)
    loader.register(JobType.of(jobs.plain))
    assert load(loader, f"{jobs.__name__}:plain") is jobs.plain is not old


def test_an_alias_leads_to_the_job_of_today(jobs: ModuleType) -> None:
    """An old name, of any spelling, leads to the renamed job, over several renames."""
    loader = ImportTypeLoader()
    loader.alias("Company.Jobs.Report, Company", "company.reports:report")
    loader.alias("company.reports:report", jobs.plain)
    assert load(loader, "Company.Jobs.Report, Company") is jobs.plain
    assert load(loader, "company.reports:report") is jobs.plain


def test_an_alias_permits_nothing(package: str) -> None:
    """An alias to a name leads only where that name itself may lead."""
    loader = ImportTypeLoader(allowed_modules=[package])
    loader.alias("old", f"{package}.jobs:plain")
    loader.alias("evil", "os:system")
    assert load(loader, "old").__name__ == "plain"
    with pytest.raises(TypeLoadError, match="job type 'evil'"):
        load(loader, "evil")


def test_an_alias_that_leads_nowhere_is_refused(jobs: ModuleType) -> None:
    """An alias for a registered name, one that leads back to itself, and a job under an alias's name are refused."""
    loader = ImportTypeLoader()
    loader.register(JobType.of(jobs.plain))
    with pytest.raises(InvalidValueError, match="is registered, so it can not be an alias"):
        loader.alias(f"{jobs.__name__}:plain", "x:y")
    loader.alias("a", "b")
    loader.alias("b", "c")
    with pytest.raises(InvalidValueError, match="leads back"):
        loader.alias("c", "a")
    with pytest.raises(InvalidValueError, match="leads back"):
        loader.alias("d", "d")
    loader.alias("report", "c")
    with pytest.raises(InvalidValueError, match="is an alias of 'c'"):
        loader.register(JobType.of(jobs.named))


def test_a_new_alias_is_seen_by_what_was_found_before(jobs: ModuleType) -> None:
    """An alias that is added later changes where a name leads that was loaded already."""
    loader = ImportTypeLoader()
    name = f"{jobs.__name__}:marked"
    assert load(loader, name) is jobs.marked
    loader.alias(name, jobs.plain)
    assert load(loader, name) is jobs.plain


@pytest.mark.parametrize("module", ["", "a b", "app.", ".app", "app:jobs"])
def test_the_list_holds_dotted_names(module: str) -> None:
    """A list that could never match is refused when the loader is made."""
    with pytest.raises(InvalidValueError, match="must be a dotted name"):
        ImportTypeLoader(allowed_modules=[module])
