"""The figures that pages take over from result files (bench/readme.py)."""
