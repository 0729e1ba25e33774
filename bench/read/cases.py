"""Defines the cases: files, sizes and types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Types = dict[str, str]

_MONEY = (
    "fare_amount",
    "extra",
    "mta_tax",
    "tip_amount",
    "tolls_amount",
    "improvement_surcharge",
    "total_amount",
    "congestion_surcharge",
)


def _taxi(integer: str, short: str, place: str, real: str) -> Types:
    return {
        "VendorID": short,
        "tpep_pickup_datetime": "timestamp[s]",
        "tpep_dropoff_datetime": "timestamp[s]",
        "passenger_count": short,
        "trip_distance": real,
        "RatecodeID": short,
        "store_and_fwd_flag": "string",
        "PULocationID": place,
        "DOLocationID": place,
        "payment_type": integer,
        **dict.fromkeys(_MONEY, real),
    }


TAXI_64 = _taxi("int64", "int64", "int64", "float64")
TAXI_SMALL = _taxi("int8", "int8", "int16", "float32")
LINEITEM = {
    "l_orderkey": "int64",
    "l_partkey": "int64",
    "l_suppkey": "int64",
    "l_linenumber": "int32",
    "l_quantity": "float64",
    "l_extendedprice": "float64",
    "l_discount": "float64",
    "l_tax": "float64",
    "l_returnflag": "string",
    "l_linestatus": "string",
    "l_shipdate": "date32",
    "l_commitdate": "date32",
    "l_receiptdate": "date32",
    "l_shipinstruct": "string",
    "l_shipmode": "string",
    "l_comment": "string",
}
QUOTED = {
    "review_id": "string",
    "user_id": "string",
    "business_id": "string",
    "stars": "float32",
    "useful": "int32",
    "funny": "int32",
    "cool": "int32",
    "text": "string",
    "date": "timestamp[s]",
}
WIDE = {f"c{i}": ("int64", "float64")[i % 2] for i in range(1000)}
INT_444 = {f"column_{i}": "int32" for i in (1, 2, 3)}


@dataclass(frozen=True, slots=True)
class Case:
    """A file, and the types that each reader gets.

    Parameters
    ----------
    data
        Name in `bench.read.data`.
    types
        Types by column; if empty, each reader infers them.
    header
        Whether the first record has the names.
    quotes
        Whether fields are quoted and contain line breaks.
    target
        Target for headrace's rate, as a multiple of the best peer's, if one is set.
    """

    data: str
    types: Types
    header: bool = True
    quotes: bool = False
    target: float | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Options of `read_csv` and `scan_csv`."""
        return {"header": self.header, **({"schema": self.types} if self.types else {})}


CASES = {
    "taxi": Case("taxi", TAXI_64, target=5.0),
    "taxi_small": Case("taxi", TAXI_SMALL),
    "taxi_inferred": Case("taxi", {}),
    "lineitem": Case("lineitem", LINEITEM, target=4.0),
    "quoted": Case("quoted", QUOTED, quotes=True, target=3.0),
    "int_444": Case("int_444", INT_444, header=False),
    "wide": Case("wide", WIDE),
}
SIZES = {
    "taxi": 1_000_000_000,
    "lineitem": 1_000_000_000,
    "quoted": 1_000_000_000,
    "int_444": 500_000_000,
    "wide": 300_000_000,
    "small": 1024,
}
"""Approximate bytes of each file, unless the command line gives another size."""
