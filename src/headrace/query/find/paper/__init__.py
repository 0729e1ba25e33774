"""Methods of Rabin and Karp as published (Ashkiani 2017)."""
