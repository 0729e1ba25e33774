"""Values that many keys have, whose keys are set aside before the others are sorted."""
