"""The file that ``headrace demo`` reads; LICENSE.txt says where it comes from."""
