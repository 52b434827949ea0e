package import NshTrust

/// A row of the decision log.
package struct EventDocument: Hashable, Sendable {
    /// The event; its user and process say nothing when the caller is not shown.
    package var event: NshEvent
    /// Whether `uid` and `pid` are said: to the store's own user and to admins.
    package var showsCaller: Bool

    /// Makes a document.
    package init(_ event: NshEvent, showsCaller: Bool) {
        self.event = event
        self.showsCaller = showsCaller
    }

    /// The members: `sequence`, `time`, `kind`, `app`, `build`, `digest`, `code` where there is one, `message`, `uid` and
    /// `pid` when shown, `count`.
    package var object: JSONObject {
        var object: JSONObject = [
            "sequence": .integer(event.sequence), "time": .integer(event.time), "kind": .text(event.kind),
        ]
        object.add("app", event.app.map { .text($0) })
        object.add("build", event.build.map { .integer(Int64($0)) })
        object.add("digest", event.digest.map { .text($0) })
        object.add("code", event.code.map { .text($0.rawValue) })
        object.append("message", .text(event.message))
        if showsCaller {
            object.append("uid", .integer(Int64(event.uid)))
            object.append("pid", .integer(Int64(event.pid)))
        }
        object.append("count", .integer(event.count))
        return object
    }

    /// Reads an event.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        let (uid, pid) = (try reader.integerIfPresent("uid"), try reader.integerIfPresent("pid"))
        showsCaller = uid != nil
        event = NshEvent(
            sequence: try reader.integer("sequence"), time: try reader.integer("time"), kind: try reader.text("kind"),
            app: try reader.textIfPresent("app"), build: try reader.integerIfPresent("build").map { Int($0) },
            digest: try reader.textIfPresent("digest"),
            code: try reader.textIfPresent("code").map { NshError.Code(rawValue: $0) },
            message: try reader.text("message"), uid: uid.map { UInt32(clamping: $0) } ?? NshEvent.unknownUser,
            pid: Int32(clamping: pid ?? 0), count: try reader.integer("count"))
    }
}

/// A page of the decision log.
package struct EventPageDocument: Hashable, Sendable {
    /// The rows, oldest first.
    package var events: [EventDocument]
    /// The number to ask after next.
    package var next: Int64

    /// Makes a page.
    package init(events: [EventDocument], next: Int64) {
        self.events = events
        self.next = next
    }

    /// The members: `events`, `next`.
    package var object: JSONObject {
        ["events": .array(events.map { .object($0.object) }), "next": .integer(next)]
    }

    /// Reads a page.
    ///
    /// - Throws: `ioFailure` for a missing member or a wrong type.
    package init(_ reader: WireReader) throws(Trouble) {
        events = try reader.objects("events").map { reader throws(Trouble) in try EventDocument(reader) }
        next = try reader.integer("next")
    }
}
