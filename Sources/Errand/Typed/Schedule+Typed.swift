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
    ///   - timing: when it ticks.
    ///   - parameters: what each job works on, the same for all.
    ///   - options: what is special about the jobs; the rest is as the type's ``JobParameters/jobDefaults`` say. Neither an id nor a
    ///     time; with an overlap other than `allow` no uniqueness either, and the type's own is left out.
    ///   - catchUp: what becomes of missed ticks.
    ///   - overlap: what happens when the job of an earlier tick has not ended.
    ///   - revision: 0 to 1,000,000,000,000; raise it with every version of code that changes the schedule.
    /// - Throws: ``ScheduleError`` or ``DescriptionError`` naming what is wrong.
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
        // A time, which is refused below, is refused whatever the clock says.
        let template = try parameters.described(options, uniqueness: uniqueness, now: Date(timeIntervalSince1970: 0))
        try self.init(name, timing, pushing: template, catchUp: catchUp, overlap: overlap, revision: revision)
    }
}
