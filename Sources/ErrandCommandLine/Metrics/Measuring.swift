package import ArgumentParser
package import Errand
package import Logging

/// The option by which a process is asked to measure itself.
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

/// What a process measures of itself, when it is asked to.
package struct Measuring: Sendable {
    /// What is done around every push and every run.
    package let middleware: [any JobMiddleware]

    #if MetricsSupport
        private let file: MetricsFile?

        /// Makes the file, if one is wished.
        ///
        /// - Parameters:
        ///   - options: what the caller wishes.
        ///   - kind: what the process is: the label that tells its metrics from those of others.
        /// - Throws: ``CommandFailure`` when the file cannot be written.
        package init(_ options: MetricsOptions, of kind: String) throws {
            let file = try options.metricsFile.map { try MetricsFile($0, of: kind) }
            self.file = file
            middleware = file.map { [MetricsMiddleware(factory: $0.factory)] } ?? []
        }

        /// Does something, with the file written anew all the while and at the end.
        ///
        /// - Parameters:
        ///   - logger: who is told when it cannot be written.
        ///   - body: what is done.
        package func during(_ logger: Logger, _ body: () async throws -> Void) async throws {
            guard let file else { return try await body() }
            try await file.writing(logger: logger, body)
        }
    #else
        /// Measures nothing.
        ///
        /// - Parameters:
        ///   - options: empty.
        ///   - kind: what the process is.
        package init(_ options: MetricsOptions, of kind: String) throws { middleware = [] }

        /// Does something.
        ///
        /// - Parameters:
        ///   - logger: not used.
        ///   - body: what is done.
        package func during(_ logger: Logger, _ body: () async throws -> Void) async throws { try await body() }
    #endif

    /// Pushes jobs that are settled already, and counts what came of it: a producer's middleware does not see them.
    ///
    /// - Parameters:
    ///   - jobs: the descriptions of the jobs.
    ///   - push: pushes them, and answers a receipt for each, in their order.
    package func counting(
        _ jobs: [OperationDescription],
        _ push: () async throws -> [Receipt]
    ) async throws -> [Receipt] {
        guard let counter = middleware.first else { return try await push() }
        return try await counter.pushJobs(jobs) { _ in try await push() }
    }
}
