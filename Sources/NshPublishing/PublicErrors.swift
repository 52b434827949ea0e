internal import NshTrust

/// Runs the body of a public call and makes an `NshError` of a refusal or trouble from inside.
///
/// What a closure of the caller's threw passes as it is.
func publicly<Value: ~Copyable>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let refusal as Refusal {
        throw NshError(refusal)
    } catch let trouble as Trouble {
        throw NshError(trouble)
    }
}
