"""Process-wide parts: locks after a fork, delayed forks during imports, and the timeline of workers."""
