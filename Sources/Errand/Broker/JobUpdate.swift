import ErrandText

/// Progress or a checkpoint that a running job reports.
public struct JobUpdate: Sendable, Equatable {
    /// The job's id.
    public var id: String
    /// The claim's token; the broker rejects an update with an old one.
    public var token: Token
    /// The progress; `nil` leaves the stored one unchanged.
    public var progress: JobProgress?
    /// The checkpoint for the next attempt, at most 64 KiB; `nil` leaves the stored one unchanged.
    public var checkpoint: [UInt8]?

    /// Makes an update.
    public init(id: String, token: Token, progress: JobProgress? = nil, checkpoint: [UInt8]? = nil) {
        self.id = id
        self.token = token
        self.progress = progress
        self.checkpoint = checkpoint
    }

    /// The maximum size of a checkpoint in bytes: 64 KiB.
    public static let checkpointBytes = 65_536
}

/// The progress of a running job.
public struct JobProgress: Sendable, Equatable, Codable {
    /// The part that is done, from 0 to 1.
    public var fraction: Double
    /// What the job does now, for people; at most 1,024 bytes.
    public var message: String?

    /// Makes a progress. A fraction outside of 0 to 1 is clamped, and a longer message is cut.
    public init(_ fraction: Double, _ message: String? = nil) {
        self.fraction = fraction.isNaN ? 0 : min(1, max(0, fraction))
        self.message = message?.clipped(toUTF8: 1024)
    }

    /// Reads a stored progress; `nil` if it is invalid.
    package init?(json bytes: [UInt8]) {
        guard let text = try? JSONText(validating: bytes), let read = try? text.decode(JobProgress.self) else {
            return nil
        }
        self.init(read.fraction, read.message)
    }

    /// The progress as the broker stores it, and as further members of an event: `"fraction":0.4,"message":"…"`.
    package var members: [UInt8] {
        // Thousandths, so that the text is short and never has an exponent.
        let thousandths = Int((fraction * 1000).rounded())
        var members = Array("\"fraction\":\(thousandths / 1000).\(String(1000 + thousandths % 1000).dropFirst())".utf8)
        members += Array(",\"message\":".utf8)
        if let message { JSONEscaping.append(message, to: &members) } else { members += Array("null".utf8) }
        return members
    }
}
