"""The collection of vectors: names files, shares equal ones, keeps the order, and writes the index."""
import base64
import json

from . import packages as p
from . import wire


class Book:
    def __init__(self):
        self.files = {}  # path -> bytes
        self.paths = {}  # bytes -> path
        self.vectors = []
        self.names = set()

    def file(self, path: str, data: bytes) -> str:
        """Keeps a file. A file with the same bytes and the same extension is kept once."""
        known = self.paths.setdefault((data, path.rsplit(".", 1)[-1]), path)
        if known == path and self.files.setdefault(path, data) != data:
            raise ValueError(f"two files are called {path}")
        return known

    def root(self, key) -> str:
        if isinstance(key, bytes):
            return self.file("keys/%s.pub" % wire.sha256(key)[:8], base64.b64encode(key) + b"\n")
        return self.file("keys/%s.pub" % key.name.replace(" ", "-"), base64.b64encode(key.public) + b"\n")

    def list(self, name: str, data: bytes) -> str:
        return self.file(f"lists/{name}.json", data)

    def _add(self, name, kind, title, rules, code, fields, verdict=None, facts=None):
        if name in self.names:
            raise ValueError(f"two vectors are called {name}")
        self.names.add(name)
        expect = {"verdict": verdict or ("refused" if code else "accepted"), "code": code}
        expect.update(facts or {})
        vector = {"name": name, "title": title, "kind": kind, "rules": rules.split()}
        vector.update({k: v for k, v in fields.items() if v not in (None, {}, [])})
        vector["expect"] = expect
        self.vectors.append(vector)

    def package(self, name, title, rules, code=None, built=None, roots=(p.ROOT1,), lists=(), at=p.NOW, **options):
        """A package for `verify`. `lists` are pairs of a name and bytes."""
        if built is None:
            built = p.package()
        facts = {}
        if code is None:
            body = built.header
            facts = {"digest": built.digest, "app": built.app, "files": body["payload"]["files"],
                     "unpackedSize": body["payload"]["unpackedSize"]}
        self._add(name, "package", title, rules, code, {
            "file": self.file(f"packages/{name}.nshpkg", built.data), "roots": [self.root(r) for r in roots],
            "revocations": [self.list(n, d) for n, d in lists], "at": at, "options": options}, facts=facts)

    def revocations(self, name, title, rules, data, code=None, roots=(p.ROOT1,), at=p.NOW, facts=None, **options):
        self._add(name, "revocations", title, rules, code, {
            "file": self.list(name, data), "roots": [self.root(r) for r in roots], "at": at, "options": options}, facts=facts)

    def certificate(self, name, title, rules, data, code=None, roots=(p.ROOT1,), lists=(), at=p.NOW, facts=None, **options):
        self._add(name, "certificate", title, rules, code, {
            "file": self.file(f"certificates/{name}.cert", data), "roots": [self.root(r) for r in roots],
            "revocations": [self.list(n, d) for n, d in lists], "at": at, "options": options}, facts=facts)

    def public_key(self, name, title, rules, data, code=None, facts=None):
        self._add(name, "key", title, rules, code, {"file": self.file(f"keys/{name}.pub", data)}, facts=facts)

    def secret_key(self, name, title, rules, data, code=None, passphrase=None, verdict=None, facts=None):
        self._add(name, "key", title, rules, code, {
            "file": self.file(f"keys/{name}.secret", data), "passphrase": passphrase}, verdict=verdict, facts=facts)

    def app_id(self, name, title, rules, ident, code=None, directory=None):
        self._add(name, "appId", title, rules, code, {"id": ident}, facts={"directoryName": directory} if directory else None)

    def sequence(self, name, title, rules, steps, **options):
        """Steps are dicts made by maker.sequences."""
        self._add_sequence(name, title, rules, steps, options)

    def _add_sequence(self, name, title, rules, steps, options):
        if name in self.names:
            raise ValueError(f"two vectors are called {name}")
        self.names.add(name)
        vector = {"name": name, "title": title, "kind": "sequence", "rules": rules.split()}
        if options:
            vector["options"] = options
        vector["steps"] = steps
        self.vectors.append(vector)

    def index(self) -> bytes:
        document = {"format": "nsh-test-vectors-1", "vectors": self.vectors}
        return (json.dumps(document, indent=1, ensure_ascii=True) + "\n").encode()
