import NshCommandLine
import NshTrust

/// Everything a verb works with: its arguments, the way out, the environment.
struct Invocation {
    /// The verb.
    let verb: Verb
    /// The command line after parsing.
    let arguments: Arguments
    /// Where answers and remarks go.
    let console: Console
    /// The environment variables.
    let environment: Environment
}
