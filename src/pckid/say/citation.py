"""What to cite: the paper that introduced the method, and this software."""

from pckid._version import __version__

DOI = "10.1007/978-3-319-59126-1_36"
_TITLE = "Spectral Clustering Using PCKID – A Probabilistic Cluster Kernel for Incomplete Data"
_BOOK = "Image Analysis: 20th Scandinavian Conference, SCIA 2017"

REFERENCE = f"S. Løkse, F. M. Bianchi, A.-B. Salberg, R. Jenssen. {_TITLE}. {_BOOK}. doi {DOI}"

# A letter with a stroke needs a command in older programs; the rest of the title is ASCII.
BIBTEX = rf"""@inproceedings{{loekse2017pckid,
  author    = {{L{{\o}}kse, Sigurd and Bianchi, Filippo Maria and Salberg, Arnt-B{{\o}}rre
               and Jenssen, Robert}},
  title     = {{Spectral Clustering Using {{PCKID}} -- A Probabilistic Cluster Kernel for
               Incomplete Data}},
  booktitle = {{{_BOOK}}},
  publisher = {{Springer}},
  year      = {{2017}},
  doi       = {{{DOI}}}
}}

@software{{pckid,
  author    = {{{{The pckid developers}}}},
  title     = {{pckid: clusters in tables with missing values}},
  version   = {{{__version__}}}
}}
"""
