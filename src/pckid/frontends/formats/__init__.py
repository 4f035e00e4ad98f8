"""Formats of tables: how files begin, what reads them whole or in batches, and writes them.

A format is a row of `registry.FORMATS` and the file of its name, which has its functions.
"""
