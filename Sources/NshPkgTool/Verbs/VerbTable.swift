/// All verbs, in the order in which the help lists them.
enum VerbTable {
    /// The verbs.
    static let all: [Verb] = [
        KeygenVerb.verb, CertifyVerb.verb, PublishVerb.verb, InspectVerb.verb, RevokeVerb.verb, CosignVerb.verb,
        PaeVerb.verb,
        AttachVerb.verb, RotateVerb.verb,
        StoreStatusVerb.verb, StoreAppsVerb.verb, StoreEventsVerb.verb, StoreForgetRootVerb.verb, StoreExportVerb.verb,
        RootsVerb.verb, HelpVerb.verb, DocumentVerb.verb,
    ]

    /// The verbs that people see.
    static var shown: [Verb] { all.filter { !$0.isHidden } }
}
