import CLinux
import Glibc
import NshTrustd

// Text that is not UTF-8 would be repaired on the way into a String and then name another file: it becomes nil instead.
let words = (0..<nsh_argument_count()).map { index in
    nsh_argument(index).flatMap { String(validatingCString: $0) }
}
exit(Daemon.run(words))
