package import NshTrust

/// Runs the body and returns the code with which it refuses, or nil when it accepts.
///
/// - Throws: Everything that is not a `Refusal`: not being able to decide is no verdict.
package func refusalCode<Value>(of body: () throws -> Value) throws -> RefusalCode? {
    do {
        _ = try body()
        return nil
    } catch let refusal as Refusal {
        return refusal.code
    }
}
