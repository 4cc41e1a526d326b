"""Settings of the documentation: MyST pages, reference pages from the docstrings, warnings are errors."""

from importlib.metadata import version as installed_version

project = "Quartzite"
author = "The Quartzite developers"
copyright = author  # noqa: A001 - the name is Sphinx's
release = installed_version("quartzite")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"Quartzite {release}"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
