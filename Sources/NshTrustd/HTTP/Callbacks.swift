import CMicroHTTPD
import Glibc

/// The functions that libmicrohttpd calls, all on its own threads.
enum Callbacks {
    /// Makes the table of them for one server.
    ///
    /// - Parameter core: The server; it has to live until libmicrohttpd was stopped.
    /// - Returns: The table.
    static func table(for core: ServerCore) -> nsh_mhd_callbacks {
        nsh_mhd_callbacks(
            context: Unmanaged.passUnretained(core).toOpaque(), target: beginExchange, request: takeRequest,
            completed: endExchange, connection: noteConnection, log: passMessage)
    }
}

private func core(_ context: UnsafeMutableRawPointer) -> ServerCore {
    Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
}

/// A request line has arrived: what is returned here belongs to the request until `endExchange`.
private func beginExchange(
    _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, _ handle: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let context, let handle, let noted = nsh_mhd_noted(handle) else { return nil }
    let connection = Unmanaged<Connection>.fromOpaque(noted).takeUnretainedValue()
    let bytes = UnsafeRawBufferPointer(start: target, count: target.map { strlen($0) } ?? 0)
    let exchange = Exchange(core: core(context), connection: connection, target: bytes)
    return Unmanaged.passRetained(exchange).toOpaque()
}

private func takeRequest(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ piece: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let handle, let method, let version, let size, let exchange = exchange?.pointee else { return .NO }
    let bytes = UnsafeRawBufferPointer(start: piece, count: piece == nil ? 0 : size.pointee)
    let left = Unmanaged<Exchange>.fromOpaque(exchange)._withUnsafeGuaranteedRef {
        $0.take(handle, method: method, version: version, piece: bytes)
    }
    guard let left else { return .NO }
    size.pointee = left
    return .YES
}

private func endExchange(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ exchange: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let ended = exchange?.pointee else { return }
    exchange?.pointee = nil
    Unmanaged<Exchange>.fromOpaque(ended).takeRetainedValue().end()
}

private func noteConnection(
    _ context: UnsafeMutableRawPointer?, _ handle: OpaquePointer?,
    _ noted: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ change: MHD_ConnectionNotificationCode
) {
    guard let context, let handle, let noted else { return }
    if change == .CONNECTION_NOTIFY_STARTED {
        noted.pointee = core(context).started(handle).map { Unmanaged.passRetained($0).toOpaque() }
    } else if let known = noted.pointee {
        noted.pointee = nil
        core(context).closed(Unmanaged<Connection>.fromOpaque(known).takeRetainedValue())
    }
}

private func passMessage(
    _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?, _ values: CVaListPointer?
) {
    guard let context, let format, let values else { return }
    if strncmp(format, "Hit process or system resource limit", 36) == 0 { core(context).noteShortage() }
    var line = [CChar](repeating: 0, count: 512)
    guard vsnprintf(&line, line.count, format, values) >= 0 else { return }
    let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    core(context).pass(message: String(decoding: text, as: UTF8.self))
}
