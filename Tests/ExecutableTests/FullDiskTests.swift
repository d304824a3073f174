#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// Whether a disk of a test's own can be mounted.
    private let mayMount: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        process.standardError = FileHandle.nullDevice
        do { try process.start() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Disks without room, which no process outside of the scripts sees.
    @Suite(.timeLimit(.minutes(6)), .enabled(if: mayMount, "needs the right to mount a tmpfs")) struct FullDiskTests {
        /// Pushes five jobs that do not fit into the data of an embedded broker, waits, reads them from the same server, makes room, and reads them from the next one.
        private static let script = """
            directory=$1 producer=$2 console=$3
            mount -t tmpfs -o size=1m,mode=700 tmpfs "$directory" || exit 2
            server() { pgrep -f "redis-server unixsocket:$directory" >/dev/null; }
            list() { "$console" jobs --embedded "$directory" --json | sed 's/^{"id":"\\([^"]*\\)".*/\\1/' | tr '\\n' ' '; }
            text=$(head -c 225000 /dev/urandom | base64 -w 0)
            for number in 1 2 3 4 5; do
                echo "{\\"operation\\":\\"work\\",\\"id\\":\\"job-$number\\",\\"arguments\\":\\"$text\\"}" |
                    "$producer" push --from - --json --embedded "$directory"
                echo "status $?"
            done
            sleep 3
            server && echo "the server goes on"
            echo "in memory: $(list)"
            mount -o remount,size=16m "$directory"
            for look in $(seq 200); do server || break; sleep 0.1; done
            server || echo "the server has ended"
            echo "in the file: $(list)"
            for look in $(seq 200); do server || break; sleep 0.1; done
            """

        /// Pushes a job whose metrics have no room, and one whose metrics have.
        private static let metrics = """
            directory=$1 producer=$2 redis=$3
            mount -t tmpfs -o size=64k tmpfs "$directory" || exit 2
            head -c 1000000 /dev/zero >"$directory/all" 2>/dev/null
            "$producer" push work --redis "$redis" --metrics-file "$directory/metrics.prom"
            echo "status $?"
            rm "$directory/all"
            "$producer" push work --redis "$redis" --metrics-file "$directory/metrics.prom"
            echo "status $?"
            """

        @Test func `a metrics file without room is an error before anything is pushed`() async throws {
            let server = try RedisServer()
            let (output, error) = try await run(Self.metrics, [Executable.producer.url.path, server.url])
            let lines = output.split(separator: "\n")
            #expect(lines.count == 3 && lines.first == "status 74" && lines.last == "status 0", "\(output)\(error)")
            #expect(error.contains("metrics.prom: the disk is full. Make room"), "\(error)")
        }

        @Test func `no accepted job is lost when the last user leaves`() async throws {
            let (output, error) = try await run(
                Self.script,
                [Executable.producer.url.path, Executable.console.url.path]
            )
            let lines = output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            let receipts = lines.filter { $0.hasPrefix("{") }
            let accepted = receipts.filter { $0.contains(#""outcome":"accepted""#) }
            let unknown = receipts.filter { $0.contains(#""outcome":"unknown""#) }
            #expect(accepted.count >= 1 && unknown.count == 1, "\(output)\(error)")
            // Those behind the one that is unknown are refused.
            #expect(
                receipts.count < 5 && lines.contains("status 75") && lines.contains("status 69"),
                "\(output)\(error)"
            )
            #expect(error.contains("disk"), "\(error)")
            let kept = (1...receipts.count).map { "job-\($0)" }.joined(separator: " ")
            #expect(lines.contains("the server goes on"), "\(output)\(error)")
            #expect(lines.contains("in memory: \(kept)"), "\(output)\(error)")
            #expect(lines.contains("the server has ended"), "\(output)\(error)")
            #expect(lines.contains("in the file: \(kept)"), "\(output)\(error)")
        }

        /// Runs a script with a directory of its own and arguments, where it may mount what nobody else sees.
        private func run(_ script: String, _ arguments: [String]) async throws -> (output: String, error: String) {
            let directory = "/tmp/errand-disk-\(UInt32.random(in: 0 ... .max))"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["unshare", "-m", "sh", "-c", script, "sh", directory] + arguments
            // Files, for whoever is left behind would keep a pipe open.
            let files = ["out", "err"].map { directory + ".\($0)" }
            defer { for file in files { try? FileManager.default.removeItem(atPath: file) } }
            for file in files { try "".write(toFile: file, atomically: false, encoding: .utf8) }
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: files[0]))
            process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: files[1]))
            try process.start()
            try await eventually("the script has ended", within: .seconds(240)) { !process.isRunning }
            let texts = try files.map { try String(contentsOfFile: $0, encoding: .utf8) }
            return (texts[0], texts[1])
        }
    }
#endif
