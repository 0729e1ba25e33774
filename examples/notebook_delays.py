# %% [markdown]
# # Delays of flights
#
# A notebook as a plain file: Jupyter with jupytext and most editors open its cells, and CI runs it as a script.

# %%
from pathlib import Path

import headrace

flights = Path(headrace.__file__).parent / "data" / "flights.csv"
print(headrace.sniff_csv(flights).schema["dep_delay"])

# %% [markdown]
# The column is text because of the word `NA`. The report names the record, and `null_values` makes the word null.

# %%
table = headrace.read_csv(flights, null_values=["", "NA"])
print(table["dep_delay"].type, table["dep_delay"].null_count)

# %% [markdown]
# The hours of the day with the longest delays, in Polars:

# %%
import polars as pl

by_hour = table.to_polars().group_by("hour").agg(pl.col("dep_delay").mean().round(1), pl.len().alias("flights"))
for hour, delay, count in by_hour.sort("dep_delay", descending=True).head(3).iter_rows():
    print(f"{hour}:00  {delay} minutes, {count} flights")

# %% [markdown]
# How late flights were, counted between edges in minutes:

# %%
known = table.to_polars()["dep_delay"].drop_nulls().to_numpy()
edges = [-60, 0, 30, 60, 120, 1000]
for low, high, count in zip(edges, edges[1:], headrace.bucket_counts(known, splitters=edges).tolist(), strict=False):
    print(f"{low:>4} to {high:<4} {count:>5}")
