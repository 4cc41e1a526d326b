"""JobPlan: how the jobs of one class or function are built, found once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dependency_injector import providers

from quartzite.abc import JobScope
from quartzite.container.activate import Plan, plan
from quartzite.container.parameters import UNSAID, Parameter, parameters_of
from quartzite.container.per_run import PerRun, per_run_providers
from quartzite.errors import SchedulerConfigError
from quartzite.execution import JobContext
from quartzite.model.job import JobType, is_async_job, job_options

if TYPE_CHECKING:
    from quartzite.container.scheduler import SchedulerContainer

__all__ = ["JobPlan", "closer_of", "plan_job"]

_ANYTHING: Final = (UNSAID, Any, object)
_NAME_OF_CONTEXT: Final = "context"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """How the jobs of one type are built.

    Attributes:
        target: The job class or function.
        arguments: Where the arguments come from: those of the constructor, or those of the function.
        per_run: What is opened before they are made, in this order.
        may_close: Whether an object of the job class is, or may be, to be closed after its firing.
        context: Under which name a function wants its context, ``""`` for first and None for not at all.
        is_async: Whether the target runs on the event loop.
        hard_cancel: Whether an interruption cancels the task.
        ready: The scope of a function without arguments, the same for every firing; None for everything else.
    """

    target: Any
    arguments: Plan[Any]
    per_run: tuple[PerRun[Any], ...] = ()
    may_close: bool = False
    context: str | None = None
    is_async: bool = True
    hard_cancel: bool = False
    ready: JobScope | None = None

    @property
    def is_class(self) -> bool:
        """Whether an object is built for each firing."""
        return isinstance(self.target, type)

    def call(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Callable[[JobContext], Any]:
        """Return what runs the function with these arguments, given the context."""
        function, name = self.target, self.context
        if name is None:
            return lambda _context: function(*args, **kwargs)
        if name:
            return lambda context: function(*args, **kwargs, **{name: context})
        if args or kwargs:
            return lambda context: function(context, *args, **kwargs)
        return function  # type: ignore[no-any-return]


def plan_job(job_type: JobType, target: Any, parts: SchedulerContainer) -> JobPlan:
    """Find how jobs of a type are built.

    Raises:
        SchedulerConfigError: naming the job and every argument that nobody provides.
    """
    what = f"job {job_type.full_name}"
    found = _plan_class(target, parts, what) if isinstance(target, type) else _plan_function(target, parts, what)
    found = replace(found, is_async=is_async_job(target), hard_cancel=bool(job_options(target).hard_cancel))
    if found.is_class or any(found.arguments.supplies):
        return found
    call = found.call((), {})
    return replace(found, ready=JobScope(job=target, call=call, is_async=found.is_async, hard_cancel=found.hard_cancel))


def _plan_class(target: type, parts: SchedulerContainer, what: str) -> JobPlan:
    provider = _provider_of(target, parts, what)
    if provider is None:
        arguments = plan(target, parts, what=what)
        opened = _opened_for(arguments.supplies, what)
        return JobPlan(target=target, arguments=arguments, per_run=opened, may_close=closer_of(target) is not None)
    return JobPlan(
        target=target,
        arguments=Plan(target=provider),
        per_run=_opened_for([provider], what),
        may_close=_makes_new_ones(provider),
    )


def _plan_function(target: Callable[..., Any], parts: SchedulerContainer, what: str) -> JobPlan:
    if not _tells_parameters(target):
        return JobPlan(target=target, arguments=Plan(target=target), context="")
    context = _context_of(target, what)
    skip = () if context is None else (context,)
    arguments = plan(target, parts, skip=skip, what=what)
    return JobPlan(
        target=target,
        arguments=arguments,
        per_run=_opened_for(arguments.supplies, what),
        context=_how_to_give(target, context),
    )


def closer_of(job: Any) -> Callable[[], Any] | None:
    """Return what closes a job object, or tell by its class whether something does; ``aclose`` comes first."""
    close = getattr(job, "aclose", None) or getattr(job, "close", None)
    return close if callable(close) else None


def _provider_of(target: type, parts: SchedulerContainer, what: str) -> providers.Provider[Any] | None:
    try:
        provider: providers.Provider[Any] | None = parts.application_providers().exactly(target)
    except SchedulerConfigError as error:
        raise SchedulerConfigError(f"{what} can not be built: {error}") from error
    return provider


def _makes_new_ones(provider: providers.Provider[Any]) -> bool:
    return isinstance(provider.last_overriding or provider, providers.Factory)


def _opened_for(supplies: Iterable[object], what: str) -> tuple[PerRun[Any], ...]:
    opened: dict[PerRun[Any], None] = {}
    for supply in supplies:
        if isinstance(supply, providers.Provider):
            try:
                opened.update(dict.fromkeys(per_run_providers(supply)))
            except SchedulerConfigError as error:
                raise SchedulerConfigError(f"{what} can not be built: {error}") from error
    return tuple(opened)


def _tells_parameters(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function)
    except ValueError:  # some built-in functions
        return False
    return True


def _context_of(function: Callable[..., Any], what: str) -> str | None:
    """Return the parameter of a function that takes its context, None when there is none.

    It is the one that is annotated so, wherever it stands; else the first one, when its annotation asks for nothing
    in particular.
    """
    parameters = parameters_of(function)
    first = parameters[0] if parameters else None
    for parameter in parameters:
        if isinstance(parameter.annotation, type) and issubclass(parameter.annotation, JobContext):
            if parameter.positional and parameter is not first:
                raise SchedulerConfigError(
                    f"{what} can not be built: its argument {parameter.name!r} can not be given by name: let it be the "
                    "first"
                )
            return parameter.name
    return first.name if first is not None and _may_be_context(first) else None


def _may_be_context(first: Parameter) -> bool:
    if first.provider is not None:
        return False
    if first.problem is not None:  # such as an import that only a type checker makes
        return first.name == _NAME_OF_CONTEXT or JobContext.__name__ in first.problem
    return first.annotation in _ANYTHING and not (first.has_default and first.annotation is UNSAID)


def _how_to_give(function: Callable[..., Any], context: str | None) -> str | None:
    """Return :attr:`JobPlan.context` for the parameter that takes the context."""
    declared = list(inspect.signature(function).parameters.values())
    if context is None:
        # A wrapper that forwards whatever it gets is called as every job is: with the context.
        takes_all = bool(declared) and declared[0].kind is inspect.Parameter.VAR_POSITIONAL
        return "" if takes_all else None
    if declared[0].name == context and declared[0].kind is not inspect.Parameter.KEYWORD_ONLY:
        return ""
    return context
