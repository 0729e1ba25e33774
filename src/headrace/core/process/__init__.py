"""Process-wide parts: locks after forks, late forks, a timeline of workers."""
