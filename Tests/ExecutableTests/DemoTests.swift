import Foundation
import Testing

/// `errand demo` as a process, with real workers and a real redis-server.
@Suite(.serialized)
struct DemoTests {
    @Test(.timeLimit(.minutes(6)))
    func showsEverythingAndLeavesNothing() throws {
        let place = try DemoPlace(files: 320)
        defer { place.remove() }
        let demo = try DemoProcess(["--json", place.files], in: place)
        #expect(demo.awaitEnd() == 0)

        let last = try #require(demo.standardOutput.split(separator: "\n").last)
        let keys = try Regex(
            #"^\{"files":320,"accepted":\d+,"dropped":\d+,"finished":\d+,"timed_out":3,"recovered":\d+,"#
                + #""lost":0,"wrong":0,"jobs_per_second":\d+\}$"#
        )
        #expect(last.wholeMatch(of: keys) != nil, "\(last)")
        let figures = try DemoFigures(last)
        #expect(figures.accepted >= 323)
        #expect(figures.finished == figures.accepted - 3)
        #expect(figures.dropped > 0)
        #expect(figures.recovered > 0)
        #expect(figures.jobs_per_second > 0)
        #expect(demo.standardError.contains("killed worker"))
        #expect(place.processes() == [])
        #expect(place.temporaryFiles() == [])
    }

    @Test(.timeLimit(.minutes(6)))
    func fewFilesAreEnough() throws {
        let place = try DemoPlace(files: 7)
        defer { place.remove() }
        let demo = try DemoProcess([place.files, "--workers", "2"], in: place)
        #expect(demo.awaitEnd() == 0)
        #expect(demo.standardOutput.contains("recovered from the killed worker"))
        #expect(demo.standardOutput.contains("Try next:"))
        #expect(place.processes() == [])
        #expect(place.temporaryFiles() == [])
    }

    @Test(.timeLimit(.minutes(6)))
    func aWrongResultIsSeen() throws {
        let place = try DemoPlace(files: 800)
        defer { place.remove() }
        // A file whose push is not repeated, and far from those that are used again when more jobs are needed.
        let demo = try DemoProcess(["--json", place.files, "--spoil", place.file(797)], in: place)
        #expect(demo.awaitEnd() == 1)
        let figures = try DemoFigures(#require(demo.standardOutput.split(separator: "\n").last))
        #expect((1...2).contains(figures.wrong))
        #expect(figures.lost == 0)
        #expect(demo.standardError.contains("wrong: \(place.file(797))"))
        #expect(place.processes() == [])
        #expect(place.temporaryFiles() == [])
    }

    @Test(.timeLimit(.minutes(6)))
    func filesThatChangeMeanwhileAreLeftOut() throws {
        let place = try DemoPlace(files: 400)
        defer { place.remove() }
        let demo = try DemoProcess(["--json", place.files], in: place)
        #expect(demo.awaitStandardError("files below"))
        for number in 350..<370 { try FileManager.default.removeItem(atPath: place.file(number)) }
        for number in 370..<400 { try place.write("changed", to: place.file(number)) }
        #expect(demo.awaitEnd() == 0)
        let figures = try DemoFigures(#require(demo.standardOutput.split(separator: "\n").last))
        #expect(figures.files == 400)
        #expect(figures.lost == 0)
        #expect(figures.wrong == 0)
        #expect(demo.standardError.contains("skipped \(place.files)"))
    }

    @Test(.timeLimit(.minutes(6)), arguments: [SIGINT, SIGTERM])
    func interruptedItLeavesNothing(signal: Int32) throws {
        let place = try DemoPlace(files: 500)
        defer { place.remove() }
        let demo = try DemoProcess([place.files], in: place)
        #expect(demo.awaitStandardError("killed worker"))
        #expect(place.processes() != [])
        demo.signal(signal)
        #expect(demo.awaitEnd() == 128 + signal)
        #expect(place.processes() == [])
        #expect(place.temporaryFiles() == [])
    }

    @Test(.timeLimit(.minutes(6)))
    func killedItLeavesNoProcess() throws {
        let place = try DemoPlace(files: 500)
        defer { place.remove() }
        let demo = try DemoProcess([place.files], in: place)
        #expect(demo.awaitStandardError("killed worker"))
        demo.signal(SIGKILL)
        #expect(place.awaitNoProcesses())
    }

    @Test(.timeLimit(.minutes(6)))
    func keptItsBrokerStaysUntilInterrupted() throws {
        let place = try DemoPlace(files: 300)
        defer { place.remove() }
        let demo = try DemoProcess([place.files, "--keep"], in: place)
        #expect(demo.awaitStandardError("Ctrl-C ends them"))
        #expect(place.processes().contains { $0.contains("redis-server") })
        let directory = try #require(place.temporaryFiles().first)
        #expect(demo.standardError.contains("status --embedded \(place.temporary)/\(directory)"))
        demo.signal(SIGINT)
        #expect(demo.awaitEnd() == 0)
        #expect(place.processes() == [])
        #expect(place.temporaryFiles() == [directory])
    }

    @Test(.timeLimit(.minutes(6)))
    func missingPrerequisitesAreReported() throws {
        let place = try DemoPlace(files: 0)
        defer { place.remove() }
        let empty = try DemoProcess([place.files], in: place)
        #expect(empty.awaitEnd() == 65)
        #expect(empty.standardError.contains("no file to read below \(place.files)"))
        let nowhere = try DemoProcess([place.files + "/nowhere"], in: place)
        #expect(nowhere.awaitEnd() == 65)
        let serverless = try DemoProcess([#filePath.parent], in: place, path: place.files)
        #expect(serverless.awaitEnd() == 69)
        #expect(serverless.standardError.contains("redis-server"))
        #expect(place.temporaryFiles() == [])
    }
}

/// The object that the demo prints with `--json`.
struct DemoFigures: Decodable {
    let files, accepted, dropped, finished, timed_out, recovered, lost, wrong, jobs_per_second: Int

    init(_ line: Substring) throws { self = try JSONDecoder().decode(DemoFigures.self, from: Data(line.utf8)) }
}

extension String {
    fileprivate var parent: String { URL(fileURLWithPath: self).deletingLastPathComponent().path }
}
