package import ArgumentParser
package import Errand
package import Logging

/// The option that enables metrics of the process.
package struct MetricsOptions: ParsableArguments, Sendable {
    #if MetricsSupport
        @Option(
            help: ArgumentHelp(
                "Write metrics of this process to a file, every 10 s and at the end, in Prometheus' text format.",
                discussion: "For a textfile collector. The file's name becomes the label worker or producer.",
                valueName: "file"
            )
        )
        package var metricsFile: String?
    #endif

    /// Makes empty options.
    package init() {}
}

/// The metrics of a process, if they are enabled.
package struct Measuring: Sendable {
    /// The middleware of every push and every run.
    package let middleware: [any JobMiddleware]

    #if MetricsSupport
        private let file: MetricsFile?

        /// Creates the file, if the options specify one.
        ///
        /// - Parameters:
        ///   - options: The options of the caller.
        ///   - kind: The kind of process: the label that distinguishes its metrics from those of others.
        /// - Throws: ``CommandFailure`` if the file cannot be written.
        package init(_ options: MetricsOptions, of kind: String) throws {
            let file = try options.metricsFile.map { try MetricsFile($0, of: kind) }
            self.file = file
            middleware = file.map { [MetricsMiddleware(factory: $0.factory)] } ?? []
        }

        /// Runs a body, and writes the file regularly meanwhile and at the end.
        ///
        /// - Parameters:
        ///   - logger: Receives a warning if the file cannot be written.
        ///   - body: The work.
        package func during(_ logger: Logger, _ body: () async throws -> Void) async throws {
            guard let file else { return try await body() }
            try await file.writing(logger: logger, body)
        }
    #else
        /// Measures nothing.
        ///
        /// - Parameters:
        ///   - options: Empty.
        ///   - kind: The kind of process.
        package init(_ options: MetricsOptions, of kind: String) throws { middleware = [] }

        /// Runs a body.
        ///
        /// - Parameters:
        ///   - logger: Not used.
        ///   - body: The work.
        package func during(_ logger: Logger, _ body: () async throws -> Void) async throws { try await body() }
    #endif

    /// Pushes jobs that are encoded already, and counts their receipts: the middleware of a producer does not see them.
    ///
    /// - Parameters:
    ///   - jobs: The descriptions of the jobs.
    ///   - push: Pushes them, and returns a receipt for each, in their order.
    package func counting(
        _ jobs: [OperationDescription],
        _ push: () async throws -> [Receipt]
    ) async throws -> [Receipt] {
        guard let counter = middleware.first else { return try await push() }
        return try await counter.pushJobs(jobs) { _ in try await push() }
    }
}
