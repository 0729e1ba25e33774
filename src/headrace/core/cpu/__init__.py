"""The CPU: instruction sets, memory, threads."""
