import FoundationEssentials
import FuzzTargets
import Glibc

// What libFuzzer, which has the main function, calls. The target is named by NSH_FUZZ_TARGET.

private let target: FuzzTarget = {
    let name = getenv("NSH_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = (FuzzTarget.all + [.planted, .plantedOverrun]).first(where: { $0.name == name }) else {
        fail("NSH_FUZZ_TARGET names no target: \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
    }
    return target
}()

/// Processor time that one input may take, in seconds, with the sanitizers' own.
private let maximumSeconds = 1.0

/// Called once before everything else: lists the targets or writes their seeds, when the environment asks for it.
@c(LLVMFuzzerInitialize)
public func initialize(
    _ count: UnsafeMutablePointer<CInt>?,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
    if getenv("NSH_FUZZ_LIST") != nil {
        for target in FuzzTarget.all { print(target.name, target.maximumLength, target.dictionary ?? "-") }
        exit(0)
    }
    if let vectors = getenv("NSH_FUZZ_VECTORS"), let folder = getenv("NSH_FUZZ_SEEDS") {
        do {
            try writeSeeds(from: String(cString: vectors), to: String(cString: folder))
            exit(0)
        } catch {
            fail("the seeds cannot be written: \(error)")
        }
    }
    return 0
}

/// Called with each input.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let start = processorSeconds()
    do {
        _ = try target.run(input)
    } catch {
        fail("PROPERTY: \(error)")
    }
    let seconds = processorSeconds() - start
    if seconds > maximumSeconds { fail("PROPERTY: slow: the input took \(seconds) s of processor time") }
    return 0
}

private func writeSeeds(from vectors: String, to folder: String) throws {
    let vectors = try SeedVectors(directory: vectors)
    for target in FuzzTarget.all {
        let directory = URL(fileURLWithPath: folder, isDirectory: true).appendingPathComponent(target.name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for seed in try target.seeds(from: vectors) where seed.bytes.count <= target.maximumLength {
            try Data(seed.bytes).write(to: directory.appendingPathComponent(seed.name))
        }
    }
}

private func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Ends the process as a crash does, so that libFuzzer keeps the input.
private func fail(_ message: String) -> Never {
    FileHandleText.write(message)
    abort()
}

/// Writes to standard error at once.
private enum FileHandleText {
    static func write(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        _ = Glibc.write(2, bytes, bytes.count)
    }
}
