"""The name ``quartzite.cron``, which is a function and a package."""

import importlib

import quartzite
import quartzite.cron
from quartzite.cron import CronExpression


def test_the_package_is_reached_by_every_kind_of_import() -> None:
    """CronExpression is found by from-import, through the attribute of the top package, and by import_module."""
    function = vars(quartzite)["cron"]
    assert function.CronExpression is CronExpression
    assert importlib.import_module("quartzite.cron").CronExpression is CronExpression


def test_the_function_has_every_name_of_the_package() -> None:
    """Nothing that the package exports is missing where the function hides it."""
    package = importlib.import_module("quartzite.cron")
    assert {name: vars(vars(quartzite)["cron"])[name] for name in package.__all__} == {
        name: vars(package)[name] for name in package.__all__
    }
