"""Completes the site of mkdocs.yml: pages from outside of docs/, and links to them.

README.md is the first page. A link to a file that the site does not have becomes its text, or leads to the repository if
mkdocs.yml names one (`repo_url`).
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "GLOSSARY.md": "glossary.md",
    "SECURITY.md": "security.md",
    "examples/README.md": "examples.md",
}
"""Pages of the site that are elsewhere in the tree, by their path in the tree."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_FENCED = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from outside of docs/."""
    for source, target in PAGES.items():
        files.append(File.generated(config, target, content=(ROOT / source).read_text(encoding="utf-8")))
    pages = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
    titles = [page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in pages]
    listed = "".join(f"- [{title}]({page.name})\n" for title, page in zip(titles, pages, strict=True))
    files.append(File.generated(config, "decisions/index.md", content=f"# Decisions\n\n{listed}"))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Make the links of a page those of the site."""
    uri = page.file.src_uri
    source = next((source for source, target in PAGES.items() if target == uri), f"docs/{uri}")

    def link(match: re.Match[str]) -> str:
        image, text, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or "://" in path or path.startswith("mailto:"):
            return match[0]
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        found = PAGES.get(wanted, wanted.removeprefix("docs/"))
        if (wanted in PAGES or wanted.startswith("docs/")) and files.get_file_from_path(found):
            relative = posixpath.relpath(found, posixpath.dirname(uri) or ".")
            return f"{image}[{text}]({relative}{'#' if anchor else ''}{anchor})"
        if not (ROOT / wanted).exists():
            return match[0]  # a broken link, which mkdocs reports
        return f"[{text}]({config.repo_url.rstrip('/')}/blob/main/{wanted})" if config.repo_url else text

    return "".join(part if at % 2 else _LINK.sub(link, _COMMENT.sub("", part)) for at, part in enumerate(_FENCED.split(markdown)))
