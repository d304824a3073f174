import Errand
import Foundation

/// What became of a job, compared with what should have.
enum DemoVerdict: Sendable, Equatable {
    /// It ended as it should.
    case right
    /// Its file changed or vanished meanwhile, so there is nothing to compare with.
    case skipped(String)
    /// It did not end as it should.
    case lost(String)
    /// Its result is not what the demo computed itself.
    case wrong(String)

    var remark: String? {
        switch self {
        case .right: nil
        case .skipped(let path): "skipped \(path): it changed or vanished while the demo ran"
        case .lost(let why): "lost: \(why)"
        case .wrong(let why): "wrong: \(why)"
        }
    }

    /// Judges a job by the broker's record of it. Computes the checksum, so it may take its time.
    init(of job: DemoLedger.Ended, _ record: JobRecord?) {
        switch job.task {
        case .stuck: self = Self.stuck(job.id, record)
        case .checksum(let file): self = Self.checksum(of: file, job.id, record)
        }
    }

    /// A job that never finishes must have timed out, and is dead as it had no retries.
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
        return .wrong("\(file.path): the job gave \(text(theirs)), the demo itself \(text(mine))")
    }

    private static func text(_ sum: FileSum?) -> String {
        sum.map { String(decoding: $0.json, as: UTF8.self) } ?? "nothing that can be read"
    }
}
