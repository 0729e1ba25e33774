"""The laws of the layout, as scripts: `python -m checks` finds what breaks them.

One law is one module with ``check(root) -> list[Finding]``. CONTRIBUTING.md says what the laws are for.
"""
