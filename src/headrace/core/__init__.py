"""What every stage stands on: memory, threads, instruction sets, options, errors."""
