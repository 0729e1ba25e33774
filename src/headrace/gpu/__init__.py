"""What every stage needs of a GPU: cards, memory, kernels from their sources to their launches, copies, events."""
