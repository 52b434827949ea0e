"""Holds the rewriter of scripts/mutants to small sources: what it takes for a refusal, how it takes it away, what it misses."""
import mutant_sites

HEAD = "/// - Spec: PKG-1 … PKG-3\nstruct Reader {\n"
#: name, source of a body, what must stand in the result (numbers from 100), how many sites.
CASES = [
    ("each clause of a guard", "func f() throws { guard a, b == 1 else { throw Refusal(.x, \"y\") } }",
     ["guard nsh_passes(100, a), nsh_passes(101, b == 1) else"], 2),
    ("a clause with try", "func f() throws { guard try a() else { throw x } }", ["nsh_passes(100, try a())"], 1),
    ("a value that is needed", "func f() throws -> Int { guard let a = b() else { throw Refusal(.x, \"y\") } }",
     ["throw nsh_other(100, Refusal(.x, \"y\"))"], 1),
    ("a value that nothing is done with", "func f() throws { guard let a = b() else { throw x } }",
     ["else { if !nsh_keeps(100) { return }; throw x }"], 1),
    ("a value in a loop", "func f() throws -> Int { for i in c { guard let a = b(i) else { throw x } } }",
     ["if !nsh_keeps(100) { continue }; throw x"], 1),
    ("a closure in a condition", "func f() throws { guard c.contains(where: { $0 == 1 }) else { throw x } }",
     ["nsh_passes(100, c.contains(where: { $0 == 1 }))"], 1),
    ("an if", "func f() throws { if let a = b, a > 1 { throw x } }", ["if let a = b, a > 1, nsh_keeps(100) { throw x }"], 1),
    ("an else", "func f() throws { if a { b() } else { throw x } }", ["else { if !nsh_keeps(100) { return }; throw x }"], 1),
    ("a case with a default", "func f() throws { switch a {\n case 1, 2: throw x\n default: b()\n } }",
     ["case 1 where nsh_keeps(100), 2 where nsh_keeps(100): throw x"], 1),
    ("a default", "func f() throws -> Int { switch a {\n case 1: return 1\n default: throw x\n } }", ["throw nsh_other(100, x)"], 1),
    ("a sentence", "func problem() -> String? { guard a else { return \"is bad\" }\n if b { return \"is worse\" }\n return c ? nil : d }",
     ["guard nsh_passes(100, a) else", "if b, nsh_keeps(101) {", "return nsh_passes(102, c) ? nil : d"], 3),
    ("a check that is called", "func f() throws {\n    try check(a)\n}", ["if nsh_enters(100) { try check(a); nsh_leaves(100) }"], 1),
    ("a bound", "func f() throws { a = try reader.integer(in: 1...9) }", ["integer(in: nsh_keeps(100) ? (1...9) : (0...JSONReader"], 1),
    ("a refusal over lines", "func f() throws -> Int {\n  throw Refusal(\n .x,\n \"a\" + b)\n}", ["throw nsh_other(100, Refusal("], 1),
    ("comments and texts", "// throw x\n/* throw y */ let a = \"throw z\"", [], 0),
    ("what only makes a refusal", "func corrupt() -> Refusal { Refusal(.x, \"y\") }", [], 0),
]
#: Sources of which the rewriter must say that it misses a refusal.
MISSED = ["func f() { record(Refusal(.x, \"y\")) }", "let a = [1, 2].map { _ in Trouble(.x, \"y\") }"]
DAEMON = [
    ("Route(.get, \"/v1/a\", \"a\", for: .admin, answer: .b)", "for: nsh_keeps(100) ? .admin : .any"),
    ("func allow() -> Bool { switch permission {\n case .any: true\n case .admin: peer.uid == 0\n } }", "case .admin: nsh_passes(100, peer.uid == 0)"),
]


def main():
    wrong = []
    for name, body, expected, count in CASES:
        rewriter = mutant_sites.Rewriter("Format/A.swift", HEAD + body + "\n}\n")
        result = rewriter.rewritten(100)
        wrong += [f"{name}: {part!r} is not in {result!r}" for part in expected if part not in result]
        wrong += [f"{name}: {len(rewriter.sites)} sites"] * (len(rewriter.sites) != count)
        wrong += [f"{name}: missed {place}" for place in rewriter.unrecognised()]
        wrong += [f"{name}: rules {site.rules}" for site in rewriter.sites if site.rules != {"PKG-1", "PKG-2", "PKG-3"}]
    for body in MISSED:
        if not list(mutant_sites.Rewriter("Format/A.swift", HEAD + body + "\n}\n").unrecognised()):
            wrong.append(f"not said to be missed: {body}")
    for body, expected in DAEMON:
        if expected not in mutant_sites.Rewriter(mutant_sites.DAEMON + "/A.swift", HEAD + body + "\n}\n").rewritten(100):
            wrong.append(f"{expected!r} is not made of {body}")
    total = len(CASES) + len(MISSED) + len(DAEMON)
    print("\n".join(wrong + [f"mutants self-test: {'as expected' if not wrong else f'{len(wrong)} wrong'}, {total} sources"]))
    return 1 if wrong else 0
