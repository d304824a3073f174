import Errand
import Foundation

extension ChildCommand {
    /// The exit status with which a command requests another run without spending an attempt (EX_TEMPFAIL).
    static let retryStatus: Int32 = 75

    /// Makes the command of a `run` operation with the job's arguments.
    init(_ templates: [Template], job: JobFacts) throws(ArgumentError) {
        let fields = templates.contains(where: \.hasArguments) ? try ArgumentFields(job.arguments) : .none
        var values: [String] = []
        for template in templates { values.append(try template.render(fields)) }
        self.init(values)
        input = job.arguments.bytes
        environment = Dictionary(job.named.map { ("ERRAND_\($0.key)", $0.value.withoutNUL) }) { _, last in last }
        if let trace = job.trace { environment.merge(trace.variables) { _, last in last } }
    }
}

extension String {
    /// The text with U+FFFD in place of NUL characters, at which an environment variable would end.
    fileprivate var withoutNUL: String { utf8.contains(0) ? replacing("\0", with: "\u{FFFD}") : self }
}

extension HandlerOutcome {
    /// Makes the outcome of a job from the result of its command.
    init(_ result: ChildResult) {
        guard !result.stopped else {
            self = .failed("stopped")
            return
        }
        switch result.ending {
        case .exited(0): self = .finished(result: result.output)
        case .exited(ChildCommand.retryStatus): self = .snoozed(.seconds(1))
        case .exited(let status): self = .failed(result.message("exit status \(status)"))
        case .signalled(let number): self = .failed(result.message("ended by \(SignalName.text(number))"))
        case .unknown: self = .failed("its exit status was collected by other code in the worker")
        case .notStarted(let error) where error.isOfTheMachine: self = .snoozed(.seconds(1))
        case .notStarted(let error): self = .failed("\(error)")
        }
    }
}

extension ChildResult {
    /// The error of a command that did not start because the machine lacked files or processes for it.
    var lackOfRoom: ChildStartError? {
        if case .notStarted(let error) = ending, !stopped, error.isOfTheMachine { error } else { nil }
    }

    /// Whether a signal from outside ended the command: a failure, unless the whole worker is being stopped.
    var isInterrupted: Bool {
        guard case .signalled(let number) = ending, !stopped else { return false }
        return [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGKILL].contains(number)
    }

    /// Returns a description of the end, followed by the end of standard error.
    func message(_ happened: String) -> String {
        let tail = TextTail.text(errorTail, limit: 4 * 1024).trimmingCharacters(in: .whitespacesAndNewlines)
        return tail.isEmpty ? happened : "\(happened): \(tail)"
    }
}

/// The end of a text that was cut from a stream of bytes.
enum TextTail {
    /// Returns valid UTF-8 of at most `limit` bytes, without a character that was cut.
    static func text(_ bytes: [UInt8], limit: Int) -> String {
        let isContinuation = { (byte: UInt8) in byte & 0xC0 == 0x80 }
        let cut = bytes.prefix(3).prefix(while: isContinuation).count
        var scalars = String(decoding: bytes.dropFirst(cut), as: UTF8.self).unicodeScalars[...]
        // Each invalid byte became three bytes.
        var length = scalars.reduce(0) { $0 + UTF8.width($1) }
        while length > limit, let first = scalars.popFirst() { length -= UTF8.width(first) }
        return String(scalars)
    }
}

/// The names of signals.
enum SignalName {
    private static let names: [Int32: String] = [
        SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP",
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV",
        SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2",
        SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGSYS: "SIGSYS",
    ]

    static func text(_ number: Int32) -> String {
        names[number].map { "\($0) (signal \(number))" } ?? "signal \(number)"
    }
}
