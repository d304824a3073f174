import Errand
import ErrandCommandLine
import Logging

/// What the worker measures of itself, when it is asked to.
struct Measuring {
    #if MetricsSupport
        private let file: MetricsFile?

        init(file path: String?) throws { file = try path.map { try MetricsFile($0) } }

        var middleware: [any JobMiddleware] { file.map { [MetricsMiddleware(factory: $0.factory)] } ?? [] }

        func during(_ logger: Logger, _ body: () async throws -> Void) async throws {
            guard let file else { return try await body() }
            try await file.writing(logger: logger, body)
        }
    #else
        init(file path: String?) throws {}

        let middleware: [any JobMiddleware] = []

        func during(_ logger: Logger, _ body: () async throws -> Void) async throws { try await body() }
    #endif
}
