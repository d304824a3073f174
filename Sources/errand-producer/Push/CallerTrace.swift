import Errand
import ErrandCatalogue
import Logging

/// The trace that whoever calls the producer has begun, as the environment tells it.
struct CallerTrace {
    private let meta: [String: String]

    /// Reads the environment's `TRACEPARENT` and `TRACESTATE`. One that is not valid is left out, and stops no push.
    init(environment: [String: String], logger: Logger) {
        let trace = TraceContext(variables: environment)
        meta = trace?.fields ?? [:]
        for name in ["TRACEPARENT", "TRACESTATE"] where environment[name] != nil && trace?.variables[name] == nil {
            logger.debug("\(name) cannot be passed on and is left out")
        }
    }

    /// The description with the trace in its `meta`, unless it names one itself.
    func added(to description: OperationDescription) -> OperationDescription {
        if meta.isEmpty { return description }
        // A state belongs to its parent, so one without the other is not mixed with the caller's.
        let own = description.meta
        guard own["traceparent"] == nil, own["tracestate"] == nil else { return description }
        // Where it makes the job too large it is left out.
        guard let traced = try? description.adding(meta: meta), (try? traced.makeEnvelope()) != nil else {
            return description
        }
        return traced
    }
}
