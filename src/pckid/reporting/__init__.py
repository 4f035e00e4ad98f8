"""The report: first a summary of plain data, then one self-contained HTML file."""

from pckid.reporting.display import Report, report
from pckid.reporting.page import render
from pckid.reporting.summary import Background, Summary, summarise

__all__ = ["Background", "Report", "Summary", "render", "report", "summarise"]
