import CFuzzer
import Foundation
import FuzzTargets

/// The fuzzer: libFuzzer around one parser, which an environment variable names, because libFuzzer starts itself again
/// without further arguments.
@main
enum Fuzzer {
    static func main() {
        guard let name = ProcessInfo.processInfo.environment["ERRAND_FUZZ_TARGET"], let target = FuzzTarget.named(name)
        else {
            let names = FuzzTarget.all.map(\.name).joined(separator: ", ")
            fatalError("ERRAND_FUZZ_TARGET must name a parser: \(names)")
        }
        chosen = target
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments, tryInput))
    }

    /// Set once, before the first input.
    nonisolated(unsafe) fileprivate static var chosen: FuzzTarget?
}

/// One input. A broken property ends the process, which is what libFuzzer calls a finding.
private func tryInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    do { try Fuzzer.chosen?.check(input) } catch { fatalError("\(error)") }
    return 0
}
