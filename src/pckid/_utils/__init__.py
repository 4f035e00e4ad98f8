"""What every part leans on: arrays, threads, progress, random streams, files and words."""
