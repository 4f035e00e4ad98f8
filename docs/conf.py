"""How the documentation is built: offline, and with every warning an error (`make docs`)."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE), str(HERE.parent)]

import pckid  # noqa: E402

project = "pckid"
author = "The pckid developers"
copyright = "The pckid developers"
version = release = pckid.__version__

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "house",
]
exclude_patterns = [
    "_build",
    "_extra",
    "_pictures",
    "examples",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "gallery/**/*.md5",
]
nitpicky = True
nitpick_ignore_regex = [("py:class", r".*"), (r"py:.*", r"sklearn\..*")]

# Equations become MathML while the pages are built: no script, nothing fetched by the reader.
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "doc_module": ("pckid",),
    "reference_url": {"pckid": None},
    "matplotlib_animations": False,
    "within_subsection_order": "house.TeachingOrder",
}

html_theme = "pydata_sphinx_theme"
html_title = "pckid"
html_static_path = ["_static"]
html_css_files = ["house.css"]
html_js_files = [("house.js", {"defer": "defer"})]
html_extra_path = ["_extra"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "pckid"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
}
html_sidebars = {"index": []}
html_domain_indices = False
html_search_scorer = str(HERE / "_ext" / "scorer.js")

(HERE / "_extra").mkdir(exist_ok=True)
