/// All verbs, in the order in which the help lists them.
enum VerbTable {
    /// The verbs.
    static let all: [Verb] = [
        KeygenVerb.verb, InspectVerb.verb, RootsVerb.verb, HelpVerb.verb, DocumentVerb.verb,
    ]

    /// The verbs that people see.
    static var shown: [Verb] { all.filter { !$0.isHidden } }
}
