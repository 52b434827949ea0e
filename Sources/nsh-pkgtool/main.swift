import Glibc
import NshPkgTool

// Text that is not UTF-8 would be repaired on the way into a String and then name another file: it becomes nil instead.
let words = (0..<Int(CommandLine.argc)).map { index in
    CommandLine.unsafeArgv[index].flatMap { String(validatingCString: $0) }
}
exit(Tool.run(words))
