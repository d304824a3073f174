// Stands for a worker in tests: runs every line of its standard input as a shell script, concurrently, and prints how
// each ended. At the end of its input it exits without waiting for running scripts.
//
// `errand-child-probe spawn N COMMAND…` instead runs a command N times, one after the other, and prints the rate.
import ErrandCatalogue
import Foundation

if CommandLine.arguments.dropFirst().first == "spawn" {
    let count = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 1_000
    let command = ChildCommand(Array(CommandLine.arguments.dropFirst(3)))
    let start = ContinuousClock.now
    for _ in 0..<count {
        let result = await ChildProcesses.shared.run(command)
        guard result.ending == .exited(0) else {
            print(result.ending)
            exit(1)
        }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    print("\(count) in \(seconds) s: \(Int(Double(count) / seconds)) a second")
    exit(0)
}

while let script = readLine() {
    Task.detached {
        let result = await ChildProcesses.shared.run(ChildCommand(["/bin/sh", "-c", script]))
        FileHandle.standardOutput.write(Data("ended \(result.ending)\n".utf8))
    }
}
exit(0)
