"""Figures as data: marks in the units of their axes, written as SVG or drawn by matplotlib."""
