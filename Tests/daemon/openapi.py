#!/usr/bin/env python3
"""The API's document: it is what it should be, it is what is checked in, and the daemon does what it says.

schemathesis makes requests from it, right ones and wrong ones, and holds every answer to it.
"""
import json
import os
import re
import subprocess
import sys
import time

from common_daemon import DAEMON, LONG, PROJECT, Checks, needs_programs, tool, world

checks = Checks()
equal, true = checks.equal, checks.true
#: How long a stream of events is listened to before it counts as an answer, in seconds.
LISTENING = 0.05


def run_schemathesis(path, arguments):
    """Runs schemathesis in this process, with requests' sessions going to the Unix socket."""
    import socket

    import requests
    import urllib3
    from schemathesis.cli import schemathesis

    class Connection(urllib3.connection.HTTPConnection):
        def connect(self):
            self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.sock.settimeout(20)
            self.sock.connect(path)

    class Pool(urllib3.HTTPConnectionPool):
        ConnectionCls = Connection

    class Adapter(requests.adapters.HTTPAdapter):
        def get_connection_with_tls_context(self, request, verify, proxies=None, cert=None):
            return self.pool

        def get_connection(self, url, proxies=None):
            return self.pool

        def __init__(self):
            super().__init__(pool_maxsize=8)
            self.pool = Pool("localhost", maxsize=8)

        def send(self, request, *arguments, **options):
            response = super().send(request, *arguments, **options)
            if response.headers.get("Content-Type", "").startswith("text/event-stream"):
                # It has no end; what comes in a moment is the answer.
                raw, pieces = response.raw, []
                connection = raw.connection or raw._connection
                if connection is not None and connection.sock is not None:
                    connection.sock.settimeout(LISTENING)
                try:
                    while piece := raw.read1(65536):
                        pieces.append(piece)
                except (urllib3.exceptions.HTTPError, OSError, TimeoutError):
                    pass
                response._content, response._content_consumed = b"".join(pieces), True
                if connection is not None:
                    connection.close()
            return response

    original = requests.Session.__init__

    def init(self, *arguments, **options):
        original(self, *arguments, **options)
        self.mount("http://localhost", Adapter())

    requests.Session.__init__ = init
    sys.argv = ["schemathesis", *arguments]
    schemathesis()


def closed(document):
    """What the document says of itself: every object closed, every member typed, every status listed."""
    faults = []

    def look(schema, where):
        if not isinstance(schema, dict):
            if isinstance(schema, list):
                for number, one in enumerate(schema):
                    look(one, f"{where}[{number}]")
            return
        kinds = schema.get("type")
        # What an app declares of its capabilities, and the document of documents, are free by their nature.
        if ".capabilities/" in where or "schemas.OpenAPI" in where:
            return
        if kinds == "object" or isinstance(kinds, list) and "object" in kinds or "properties" in schema:
            if "additionalProperties" not in schema and "unevaluatedProperties" not in schema:
                faults.append(f"{where}: an object that is open")
            for name, member in schema.get("properties", {}).items():
                if not {"type", "$ref", "enum", "const", "oneOf", "anyOf", "allOf"} & set(member):
                    faults.append(f"{where}.{name}: no type")
        if kinds == "array" and "items" not in schema:
            faults.append(f"{where}: an array of anything")
        for name, value in schema.items():
            if name in ("properties", "$defs", "schemas"):
                for member, one in value.items():
                    look(one, f"{where}.{member}")
            elif name not in ("example", "examples", "default", "enum", "const"):
                look(value, f"{where}/{name}")

    for name, schema in document.get("components", {}).get("schemas", {}).items():
        look(schema, f"schemas.{name}")
    for path, item in document["paths"].items():
        for method, operation in item.items():
            where = f"{method.upper()} {path}"
            statuses = set(operation["responses"])
            if not statuses or "default" in statuses or any(not re.fullmatch(r"[1-5]\d\d", status) for status in statuses):
                faults.append(f"{where}: statuses {sorted(statuses)}")
            for status, response in operation["responses"].items():
                if not response.get("content"):
                    faults.append(f"{where}: {status} without a media type")
                if status == "503" and "Retry-After" not in response.get("headers", {}):
                    faults.append(f"{where}: 503 without Retry-After")
                if status[0] in "45" and set(response.get("content", {})) != {"application/problem+json"}:
                    faults.append(f"{where}: {status} is no problem document")
            look({name: value for name, value in operation.items() if name != "responses"}, where)
            for response in operation["responses"].values():
                look(response.get("content", {}), where)
            if not operation.get("operationId") or not operation.get("summary"):
                faults.append(f"{where}: no name or summary")
    return faults


def documents(daemon):
    served = daemon.get("/v1/openapi.json")
    equal("it is served", (served.status, served.type), (200, "application/json"))
    found = served.json
    kept = (PROJECT / "docs" / "openapi.json").read_text()
    equal("the file in docs/ is the same", json.loads(kept), found)
    printed = subprocess.run([DAEMON, "--openapi"], capture_output=True, text=True, timeout=20, check=False).stdout
    equal("and what the daemon prints", printed, kept)
    true("it is OpenAPI 3.1", found["openapi"].startswith("3.1."))
    try:
        from openapi_spec_validator import validate
        validate(found)
        checks.passed += 1
    except Exception as error:  # noqa: BLE001 - said
        checks.check("it is valid", str(error)[:500])
    checks.check("every object is closed, every member typed, every status listed", *closed(found)[:8])
    return found


def conformance(daemon, publisher, document):
    """schemathesis: positive and negative, all checks that are about the document."""
    schema = daemon.directory / "openapi.json"
    schema.write_text(json.dumps(document))
    report = daemon.directory / "report.json"
    examples = 300 if LONG else 50
    command = [sys.executable, os.path.abspath(__file__), "--schemathesis", str(daemon.socket), "run", str(schema), "--url", "http://localhost",
               "--phases", "examples,coverage,fuzzing", "--mode", "all", "--checks", "all",
               # The socket's permissions are no credentials of HTTP, and a removed app is a decision, not a resource.
               "--exclude-checks", "ignored_auth,object_level_authorization,use_after_free,ensure_resource_availability",
               "--max-examples", str(examples), "--seed", "1", "--request-timeout", "15", "--no-color", "--continue-on-failure",
               "--suppress-health-check", "all", "--warnings", "off", "--report", "ndjson", "--report-ndjson-path", str(report)]
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False, cwd=daemon.directory)
    seconds = time.monotonic() - started
    summary = done.stdout[done.stdout.rfind("SUMMARY"):]
    cases = re.search(r"Test cases:\s*(.*(?:\n\s{2,}.*)?)", summary)
    print(f"  schemathesis: {seconds:.0f} s; {' '.join(summary.split())[:400]}")
    if not checks.check("schemathesis finds nothing", done.returncode and f"exit status {done.returncode}", not cases and "no test case"):
        print(done.stdout[-12000:], done.stderr[-3000:])
    operations = sum(len(item) for item in document["paths"].values())
    tested = re.search(r"Tested: (\d+)", summary)
    equal("it tested every operation", tested and int(tested.group(1)), operations)
    metrics = daemon.get("/metrics").body.decode()
    checks.check("no 500 anywhere", *re.findall(r'.*status="500"\} [1-9].*', metrics))
    checks.check("no 503, for nothing was full", *re.findall(r'.*status="503"\} [1-9].*', metrics))
    true("the daemon lives", daemon.alive(), daemon.log()[-2000:])
    equal("the store is whole", tool("store", "check", "--state", daemon.state, status=None)[:2], "OK")


def main():
    needs_programs()
    publisher, daemon = world()
    with daemon:
        for build in (1, 2):
            daemon.open(publisher.package(build))
        daemon.apply(publisher.list("--min-build", "com.example.none=1"))
        with checks.part("document"):
            document = documents(daemon)
        with checks.part("conformance"):
            conformance(daemon, publisher, document)
    checks.finish()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--schemathesis"]:
        run_schemathesis(sys.argv[2], sys.argv[3:])
    else:
        main()
