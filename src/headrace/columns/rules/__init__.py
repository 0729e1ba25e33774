"""Defines how text becomes a value: one header a type, for g++ and NVRTC."""
