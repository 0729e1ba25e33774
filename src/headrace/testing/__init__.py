"""What an extension is held to: sequential oracles, and hypothesis strategies for dialects and texts (`strategies` needs
hypothesis).
"""
