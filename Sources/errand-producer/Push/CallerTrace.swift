import Errand
import ErrandCatalogue
import Logging

/// The trace context of the calling program, from the environment.
struct CallerTrace {
    private let meta: [String: String]

    /// Reads `TRACEPARENT` and `TRACESTATE`. A value that is not valid is ignored and does not prevent a push.
    init(environment: [String: String], logger: Logger) {
        let trace = TraceContext(variables: environment)
        meta = trace?.fields ?? [:]
        for name in ["TRACEPARENT", "TRACESTATE"] where environment[name] != nil && trace?.variables[name] == nil {
            logger.debug("\(name) cannot be passed on and is left out")
        }
    }

    /// Returns the description with the trace in its `meta`, unless it has a trace of its own.
    func added(to description: OperationDescription) -> OperationDescription {
        if meta.isEmpty { return description }
        // A state belongs to its parent, so the description's own trace is not mixed with the caller's.
        let own = description.meta
        guard own["traceparent"] == nil, own["tracestate"] == nil else { return description }
        // The trace is left out if it makes the job too large.
        guard let traced = try? description.adding(meta: meta), (try? traced.makeEnvelope()) != nil else {
            return description
        }
        return traced
    }
}
