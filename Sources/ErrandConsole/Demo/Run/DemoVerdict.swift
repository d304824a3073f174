import Errand
import Foundation

/// The verification of a job: its actual end, compared with the expected one.
enum DemoVerdict: Sendable, Equatable {
    /// The job ended as expected.
    case right
    /// The file changed or was removed meanwhile, so there is nothing to compare with.
    case skipped(String)
    /// The job did not end as expected.
    case lost(String)
    /// The job's result is not the value that the demo computed.
    case wrong(String)

    var remark: String? {
        switch self {
        case .right: nil
        case .skipped(let path): "skipped \(path): it changed or vanished while the demo ran"
        case .lost(let why): "lost: \(why)"
        case .wrong(let why): "wrong: \(why)"
        }
    }

    /// Verifies a job by the broker's record. Computing the checksum may take a while.
    init(of job: DemoLedger.Ended, _ record: JobRecord?) {
        switch job.task {
        case .stuck: self = Self.stuck(job.id, record)
        case .checksum(let file): self = Self.checksum(of: file, job.id, record)
        }
    }

    /// Verifies that a job without an end has timed out, and is dead because it has no retries.
    private static func stuck(_ id: String, _ record: JobRecord?) -> DemoVerdict {
        guard let record else { return .lost("stuck job \(id) is not known to the broker") }
        guard record.state == .dead else { return .lost("stuck job \(id) is \(record.state.rawValue), not dead") }
        return .right
    }

    private static func checksum(of file: SourceFile, _ id: String, _ record: JobRecord?) -> DemoVerdict {
        guard let record else { return .lost("job \(id) for \(file.path) is not known to the broker") }
        guard record.state == .finished else {
            if file.hasChanged { return .skipped(file.path) }
            let last = String(decoding: record.lastEvent, as: UTF8.self)
            return .lost("job \(id) for \(file.path) is \(record.state.rawValue): \(last)")
        }
        let mine = try? FileSum.compute(of: file.path)
        let theirs = try? JSONDecoder().decode(FileSum.self, from: Data(record.result))
        if let mine, mine == theirs { return .right }
        if file.hasChanged { return .skipped(file.path) }
        return .wrong("\(file.path): the job returned \(text(theirs)), and the demo computed \(text(mine))")
    }

    private static func text(_ sum: FileSum?) -> String {
        sum.map { String(decoding: $0.json, as: UTF8.self) } ?? "nothing that can be read"
    }
}
