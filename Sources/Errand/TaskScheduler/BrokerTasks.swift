import Backgroundable
import Logging

/// A backlog whose requests wait on a broker.
final class BrokerTasks: TaskBacklog {
    let place: TaskPlace

    init(_ place: TaskPlace) {
        self.place = place
    }

    func accepts(_ identifier: String) -> Bool {
        TaskStage.accepts(identifier)
    }

    /// Does nothing, because the workers have the handlers.
    func noteRegistration(of identifier: String) {}

    func submit(_ requested: RequestedTask, _ answer: @escaping TaskAnswer<Void>) {
        AnsweringCalls.answer(answer) { [place] () async throws(TaskScheduler.Error) in
            let launch = try Self.described { () throws(DescriptionError) in try requested.launch(in: place.queue) }
            _ = try await place.push(launch)
        }
    }

    /// Cancels the request of an identifier. It finds the job that holds the name by pushing one that is dropped if
    /// there is a holder, and cancels that job: the cost does not depend on the number of requests. If there is no
    /// holder, the pushed job itself waits until it is cancelled.
    func cancel(_ identifier: String, _ answer: @escaping TaskAnswer<Void>) {
        guard accepts(identifier) else { return answer(.success(())) }
        AnsweringCalls.answer(logged("request \(identifier) was not cancelled", answer)) {
            [place] () async throws(TaskScheduler.Error) in
            let id = JobIDGenerator.next()
            let question = try Self.described { () throws(DescriptionError) in
                try OperationDescription(
                    TaskStage.launch.operation(of: identifier),
                    encoding: TaskPayload.question,
                    queue: place.queue,
                    name: identifier,
                    unique: .drop,
                    notBefore: DescriptionLimits.notBeforeMilliseconds.upperBound,
                    id: id
                )
            }
            let holder = try await place.push(question).id
            try await place.cancel(holder == id ? [id] : [holder, id])
        }
    }

    func cancelAll(_ answer: @escaping TaskAnswer<Void>) {
        AnsweringCalls.answer(logged("the requests were not all cancelled", answer)) {
            [place] () async throws(TaskScheduler.Error) in
            try await place.cancel(try await place.waiting().map(\.id))
        }
    }

    func pending(_ answer: @escaping TaskAnswer<[RequestedTask]>) {
        AnsweringCalls.answer(logged("the pending requests cannot be listed", answer)) {
            [place] () async throws(TaskScheduler.Error) in
            try await place.waiting().map(\.requested)
        }
    }

    /// Returns an `answer` that also logs errors, which its caller may be unable to throw.
    ///
    /// - Parameter failure: What has failed, for people.
    private func logged<Value>(
        _ failure: Logger.Message,
        _ answer: @escaping TaskAnswer<Value>
    ) -> TaskAnswer<Value> {
        { [logger = place.logger] result in
            if case .failure(let error) = result {
                logger.error(failure, metadata: ["error": "\(error)"])
            }
            answer(result)
        }
    }

    private static func described(
        _ make: () throws(DescriptionError) -> OperationDescription
    ) throws(TaskScheduler.Error) -> OperationDescription {
        do throws(DescriptionError) {
            return try make()
        } catch {
            throw TaskScheduler.Error(error)
        }
    }
}
