"""The laws of the layout, as scripts: `python -m checks` finds violations.

One law is one module with ``check(root) -> list[Finding]``. CONTRIBUTING.md has the purpose of the laws.
"""
