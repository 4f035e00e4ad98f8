"""The report: first a summary of plain data, then one self-contained HTML file."""

from pckid.reporting.page import render, report
from pckid.reporting.summary import Background, Summary, summarise

__all__ = ["Background", "Summary", "render", "report", "summarise"]
