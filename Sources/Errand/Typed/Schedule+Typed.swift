import Foundation

extension Schedule {
    /// Makes a schedule that pushes a typed job.
    ///
    /// ```swift
    /// let digest = try Schedule("digest", .weekly(day: .monday, hour: 8), pushing: SendDigest(), overlap: .skip)
    /// ```
    ///
    /// - Parameters:
    ///   - name: 1 to 128 characters of `A-Z a-z 0-9 _ . -`, unique in the queue.
    ///   - timing: when the schedule ticks.
    ///   - parameters: the parameters of each job, the same for all.
    ///   - options: what is special about the jobs; everything else comes from the type's
    ///     ``JobParameters/jobDefaults``. They may have neither an id nor a time, and with an overlap other than
    ///     `allow` no uniqueness; the type's own uniqueness is then ignored.
    ///   - catchUp: what to do about missed ticks.
    ///   - overlap: what to do if the job of an earlier tick has not ended.
    ///   - revision: 0 to 1,000,000,000,000; raise it with every version of the code that changes the schedule.
    /// - Throws: ``ScheduleError`` or ``DescriptionError`` that states what is invalid.
    public init<Parameters: JobParameters>(
        _ name: String,
        _ timing: ScheduleTiming,
        pushing parameters: Parameters,
        options: PushOptions = PushOptions(),
        catchUp: CatchUp = .latest,
        overlap: Overlap = .allow,
        revision: Int = 0
    ) throws {
        let uniqueness = options.uniqueness ?? (overlap == .allow ? Parameters.jobDefaults.uniqueness : nil)
        // A schedule rejects options with a time, so any clock will do here.
        let template = try parameters.described(options, uniqueness: uniqueness, now: Date(timeIntervalSince1970: 0))
        try self.init(name, timing, pushing: template, catchUp: catchUp, overlap: overlap, revision: revision)
    }
}
