/// All verbs, in the order in which the help lists them.
enum VerbTable {
    /// The verbs.
    static let all: [Verb] = [
        KeygenVerb.verb, CertifyVerb.verb, PublishVerb.verb, RecertifyVerb.verb,
        VerifyVerb.verb, OpenVerb.verb, ExtractVerb.verb, InspectVerb.verb, RootsVerb.verb,
        RevokeVerb.verb, UpdateRevocationsVerb.verb,
        CosignVerb.verb, PaeVerb.verb, AttachVerb.verb, RotateVerb.verb,
        StoreStatusVerb.verb, StoreAppsVerb.verb, StoreEventsVerb.verb, StoreCheckVerb.verb,
        StorePruneVerb.verb, StoreRemoveVerb.verb, StoreForgetRootVerb.verb, StoreExportVerb.verb, StoreImportVerb.verb,
        HelpVerb.verb, DocumentVerb.verb,
    ]

    /// The verbs that people see.
    static var shown: [Verb] { all.filter { !$0.isHidden } }
}
