public import Errand
public import HTTPTypes
public import Hummingbird
import Logging

// What a route answers when it lets an error of Errand through. A client gets the job's id and state; what went wrong inside
// is private, and is in the log.

extension JobNotFinished: ResponseGenerator {}
extension JobNotFinished: HTTPResponseError {
    /// 504 if the time ran out, 502 if the job failed, 409 if it was cancelled, replaced or deleted, 404 if the broker does
    /// not have it.
    public var status: HTTPResponse.Status {
        if isOutOfTime { return .gatewayTimeout }
        return switch state {
        case nil: .notFound
        case .dead: .badGateway
        default: .conflict
        }
    }

    /// A JSON object with the status, a message and the job's id and state.
    public func response(from request: Request, context: some RequestContext) throws -> Response {
        let standing = state.map { "is \($0.rawValue)" } ?? "is not known"
        let message = isOutOfTime ? "the job has not ended yet" : "the job \(standing)"
        let answer = ErrorAnswer(error: .init(message: message, job: id, state: state?.rawValue))
        return try answer.response(status, from: request, context: context)
    }
}

extension BrokerError: ResponseGenerator {}
extension BrokerError: HTTPResponseError {
    /// 503 if the same request may succeed later, 404 for a queue that does not exist, otherwise 500.
    public var status: HTTPResponse.Status {
        switch code {
        case .notReachable, .outcomeUnknown, .full, .closed: .serviceUnavailable
        case .queueNotFound: .notFound
        default: .internalServerError
        }
    }

    /// A JSON object with a message that names neither the broker nor its address; with `Retry-After` for a 503.
    public func response(from request: Request, context: some RequestContext) throws -> Response {
        let isLater = status == .serviceUnavailable
        let message =
            switch status {
            case .serviceUnavailable where code == .outcomeUnknown:
                "the job queue did not confirm the request, which may or may not have been carried out"
            case .serviceUnavailable: "the job queue cannot serve the request at the moment; try again later"
            case .notFound: "there is no such queue"
            default: "the job queue rejected the request; the service's log says why"
            }
        if status == .internalServerError {
            context.logger.error("the broker rejected a call", metadata: ["error": "\(self)"])
        }
        let answer = ErrorAnswer(error: .init(message: message))
        var response = try answer.response(status, from: request, context: context)
        if isLater { response.headers[.retryAfter] = "5" }
        return response
    }
}

extension DescriptionError: ResponseGenerator {}
extension DescriptionError: HTTPResponseError {
    /// 422: the request asks for a job that cannot be described, for example with a tag that is too long.
    public var status: HTTPResponse.Status { .unprocessableContent }

    /// A JSON object with the description's rule that the request breaks.
    public func response(from request: Request, context: some RequestContext) throws -> Response {
        let answer = ErrorAnswer(error: .init(message: "no such job can be pushed: \(self)"))
        return try answer.response(status, from: request, context: context)
    }
}

extension WorkflowNotFinished: ResponseGenerator {}
extension WorkflowNotFinished: HTTPResponseError {
    /// 504 if the time ran out, 502 if the workflow failed, 409 if it was cancelled, 404 if the broker does not have it.
    public var status: HTTPResponse.Status {
        if isOutOfTime { return .gatewayTimeout }
        return switch state {
        case nil: .notFound
        case .failed: .badGateway
        default: .conflict
        }
    }

    /// A JSON object with the status, a message and the workflow's id and state.
    public func response(from request: Request, context: some RequestContext) throws -> Response {
        let standing = state.map { "is \($0.rawValue)" } ?? "is not known"
        let message = isOutOfTime ? "the workflow has not ended yet" : "the workflow \(standing)"
        let answer = ErrorAnswer(error: .init(message: message, workflow: id, state: state?.rawValue))
        return try answer.response(status, from: request, context: context)
    }
}

extension WorkflowError: ResponseGenerator {}
extension WorkflowError: HTTPResponseError {
    /// 422: the request asks for a workflow that cannot be described, for example with a cycle.
    public var status: HTTPResponse.Status { .unprocessableContent }

    /// A JSON object with the rule that the workflow breaks.
    public func response(from request: Request, context: some RequestContext) throws -> Response {
        let answer = ErrorAnswer(error: .init(message: "no such workflow can be pushed: \(self)"))
        return try answer.response(status, from: request, context: context)
    }
}

/// The body of an error, in the form of Hummingbird's own.
private struct ErrorAnswer: ResponseEncodable {
    struct Details: Encodable {
        let message: String
        var job: String?
        var workflow: String?
        var state: String?
    }

    let error: Details

    func response(
        _ status: HTTPResponse.Status,
        from request: Request,
        context: some RequestContext
    ) throws -> Response {
        var response = try response(from: request, context: context)
        response.status = status
        return response
    }
}
