"""Fields to values and strings: on the CPU column by column, on a GPU by rows and by fields."""
