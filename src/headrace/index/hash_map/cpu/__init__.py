"""Hash maps in host memory."""
