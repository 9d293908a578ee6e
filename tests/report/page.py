"""A page as a browser reads it."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The tags, ids, attributes and text of a page; fails on tags that do not match."""

    VOID = ("meta", "br")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.elements.append((tag, dict(attrs)))
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def ids(self) -> list[str]:
        return [value or "" for name, value in self.attributes if name == "id"]
