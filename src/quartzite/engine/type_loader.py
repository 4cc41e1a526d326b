"""ImportTypeLoader: from the stored name of a job to the job."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from quartzite.abc import Job, TypeLoader
from quartzite.errors import InvalidValueError, TypeLoadError
from quartzite.model.job import JobType, is_marked_as_job

__all__ = ["ImportTypeLoader"]

_OWN_PACKAGE: Final = __name__.partition(".")[0]
_REMEDY: Final = "declare or schedule it in this process, mark it with @job, or allow its module (allowed_modules)"


class ImportTypeLoader(TypeLoader):
    """Finds jobs by name, without letting a row of a database decide what is imported or run (decision 7).

    A name leads to a job in one of three ways; the first that fits is taken.

    1. **It is registered here.** Whatever the application declares or schedules in this process is, functions of any
       kind included, and whatever :meth:`register` and :meth:`alias` were told. This is the only way for names that
       ``@job(name=...)`` gave.
    2. **Its module is allowed.** ``allowed_modules`` names modules and packages; a package stands for everything
       below it. Only then is a module imported because of a name. Classes with an ``execute`` method and plain
       functions count, when they are *defined* in an allowed module: what a module merely imports does not.
    3. **There is no list, and the job says so itself**: it is a subclass of :class:`Job`, or ``@job`` or one of its
       kin marks it, and its module has been imported already. Quartzite's own jobs are left out: they run when the
       application declares them.

    So ``os:system``, ``subprocess:run`` and ``builtins:eval`` lead nowhere. A plain function that was scheduled by
    one process and not declared by the next is found there when its module is allowed or it carries ``@job``;
    otherwise its triggers wait in ERROR with this as the reason, and lose nothing.

    A loader belongs to one scheduler or one application; nothing is kept per process.

    Args:
        allowed_modules: Modules and packages whose jobs may be found by name; empty for registered jobs only; None
            for no list.

    Raises:
        InvalidValueError: an allowed module is no dotted name.
    """

    def __init__(self, *, allowed_modules: Collection[str] | None = None) -> None:
        self._allowed = None if allowed_modules is None else frozenset(map(_checked_module, _names(allowed_modules)))
        self._registered: dict[str, Any] = {}
        self._found: dict[str, Any] = {}
        self._aliases: dict[str, str] = {}

    def load(self, job_type: JobType) -> Any:
        """Return the class or function of a job type; what is at hand in it is returned as it is.

        Raises:
            TypeLoadError: it can not be found or must not be used.
        """
        if job_type.target is not None:
            return job_type.target
        name = job_type.full_name
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._find(name, self._chain(name)[-1])
        return found

    def register(self, job_type: JobType) -> None:
        """Remember the target of a job type that is at hand, so that its name leads to it.

        A type without a target says nothing. Lambdas, closures and partials are not remembered: several share one
        name, and no store keeps it.

        Raises:
            InvalidValueError: the name belongs to another job. The same job defined again (a module that was
                reloaded) takes the place of the old one.
        """
        name, target = job_type.full_name, job_type.target
        if target is None or "<" in name:
            return
        if name in self._aliases:
            raise InvalidValueError(f"job type {name!r} is an alias of {self._aliases[name]!r}: choose another name")
        known = self._registered.get(name)
        if known is not None and known is not target and _definition(known) != _definition(target):
            raise InvalidValueError(
                f"job type {name!r} belongs to {_spelled(known)} already: give {_spelled(target)} another "
                "name with @job(name=...)"
            )
        self._registered[name] = self._found[name] = target

    def alias(self, old: str, new: JobType | type | Callable[..., Any] | str) -> None:
        """Let the name under which a job was stored lead to the job as it is called now.

        Args:
            old: The stored name, in any spelling (also one that another program wrote).
            new: The job, or its name.

        Raises:
            InvalidValueError: the old name belongs to a registered job, or the aliases would go in a circle.
        """
        job_type = JobType.of(new)
        if old in self._registered:
            raise InvalidValueError(f"job type {old!r} is registered, so it can not be an alias: remove one of them")
        if old in self._chain(job_type.full_name):
            raise InvalidValueError(f"job type alias {old!r} -> {job_type.full_name!r} leads back to {old!r}")
        self.register(job_type)
        self._aliases[old] = job_type.full_name
        self._found = dict(self._registered)  # what was found by name before may be something else now

    def _chain(self, name: str) -> list[str]:
        chain = [name]
        while (following := self._aliases.get(chain[-1])) is not None:
            chain.append(following)
        return chain

    def _find(self, asked: str, name: str) -> Any:
        """Return the job of a name that no alias stands for; ``asked`` is what an error speaks of."""
        registered = self._registered.get(name)
        if registered is not None:
            return registered
        module_name, path = _split(asked, name)
        target = _attribute(asked, self._module(asked, module_name), path)
        reason = _not_a_job(target) or self._not_permitted(target)
        if reason is not None:
            raise TypeLoadError(asked, reason)
        return target

    def _module(self, asked: str, name: str) -> ModuleType:
        """Return the module of a name; it is imported only when it is allowed."""
        if self._allowed is None:
            module = sys.modules.get(name)
            if module is None:
                raise TypeLoadError(asked, f"its module {name!r} is not imported, and no name imports it: {_REMEDY}")
            return module
        if not self._allows(name):
            raise TypeLoadError(asked, f"it is not registered, and its module is not allowed: {_REMEDY}")
        try:
            return import_module(name)
        except (Exception, SystemExit) as error:
            raise TypeLoadError(asked, f"importing {name!r} failed ({error!r})") from error

    def _not_permitted(self, target: Any) -> str | None:
        module = str(target.__module__)
        if self._allowed is not None:
            return None if self._allows(module) else f"it is defined in {module!r}, which is not allowed: {_REMEDY}"
        if module.partition(".")[0] == _OWN_PACKAGE:
            return f"jobs of {_OWN_PACKAGE} run when the application declares them: {_REMEDY}"
        if is_marked_as_job(target) or (isinstance(target, type) and issubclass(target, Job)):
            return None
        return f"it is not registered, and nothing says that it is meant to be a job: {_REMEDY}"

    def _allows(self, module: str) -> bool:
        allowed = self._allowed or ()
        return any(module == name or module.startswith(f"{name}.") for name in allowed)


def _names(allowed_modules: Collection[str]) -> Collection[str]:
    return (allowed_modules,) if isinstance(allowed_modules, str) else allowed_modules


def _checked_module(name: str) -> str:
    if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
        raise InvalidValueError(f"allowed module {name!r} must be a dotted name, such as 'myapp.jobs'")
    return name


def _split(asked: str, name: str) -> tuple[str, list[str]]:
    module, colon, path = name.partition(":")
    parts = path.split(".")
    if not colon or not all(part.isidentifier() for part in [*module.split("."), *parts]):
        raise TypeLoadError(asked, "it is neither registered nor of the form package.module:Qualified.Name")
    return module, parts


def _attribute(asked: str, module: ModuleType, path: list[str]) -> Any:
    """Walk from a module through classes only, without running code: no ``__getattr__``, no descriptor."""
    found, owner = vars(module).get(path[0]), None
    for part in path[1:]:
        owner = found
        found = inspect.getattr_static(owner, part, None) if isinstance(owner, type) else None
    if found is None:
        raise TypeLoadError(asked, f"module {module.__name__!r} has no {'.'.join(path)!r}")
    if isinstance(owner, type) and isinstance(found, classmethod):
        return found.__get__(None, owner)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(owner, type) and inspect.isfunction(found):
        raise TypeLoadError(asked, "it is a method of an object: use a function, a static method or a job class")
    return found


def _not_a_job(target: Any) -> str | None:
    """Say why something that was found by name can be no job; ``__module__`` is there when it may be one."""
    if isinstance(target, type):
        if not callable(getattr(target, "execute", None)):
            return "the class has no execute method"
        return "the class is abstract" if inspect.isabstract(target) else None
    if inspect.isfunction(target) or inspect.ismethod(target) or is_marked_as_job(target):
        return None
    return f"it is neither a job class nor a Python function, but a {type(target).__name__}"


def _definition(target: Any) -> tuple[str, str]:
    return (str(getattr(target, "__module__", "")), str(getattr(target, "__qualname__", id(target))))


def _spelled(target: Any) -> str:
    return ".".join(_definition(target))
