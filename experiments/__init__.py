"""The paper's experiments, and PCKID beside what people would use instead.

`python -m experiments` lists the commands: `reproduce mnist` and `reproduce landcover` repeat the
paper's two experiments, `compare` ranks methods over labelled tables, or ways to choose the number
of clusters. All share one scheme:

- a data set (`datasets/`, one file each) names its cases and draws a table for each run;
- a method (`methods/`, one file each) turns a table with NaN into labels;
- `run` crosses them, one row of a CSV for each case, run and method, and can be interrupted;
- `tables`, `verdict` and `figures` read that CSV and nothing else.
"""
