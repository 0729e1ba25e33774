"""Layouts of structs that Python and native code share, declared once in C++."""
