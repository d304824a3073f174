import CErrandChild
import Foundation

/// The error for a command that did not start.
package struct ChildStartError: Error, Equatable, CustomStringConvertible {
    /// The step that failed.
    package enum Step: Sendable, Equatable {
        /// The arguments, the environment or the pipes could not be prepared.
        case prepare
        /// The system created no new process.
        case fork
        /// The new process could not be set up.
        case setUp
        /// The reaper, which kills the remaining processes of a dead worker, could not be started or notified.
        case reaper
        /// The system did not run the command.
        case execute
    }

    /// The step that failed.
    package let step: Step
    /// The system's error number.
    package let code: Int32
    /// The command's first value.
    package let command: String

    /// Whether the machine, or a limit of this process, lacks a resource: the command did not cause that, and it is
    /// temporary.
    package var isOfTheMachine: Bool { [EMFILE, ENFILE, EAGAIN, ENOMEM].contains(code) }

    /// A description of the failure and, for common mistakes, the remedy.
    package var description: String {
        switch (step, code) {
        case (.execute, ENOENT) where command.contains("/"):
            "cannot run \"\(command)\": there is no such file, or the interpreter that it names is missing"
        case (.execute, ENOENT): "cannot run \"\(command)\": there is no such command on the worker's PATH"
        case (.execute, EACCES): "cannot run \"\(command)\": it is not an executable file"
        case (.execute, E2BIG):
            "cannot run \"\(command)\": its arguments are longer than the system allows; read them from standard input"
        case (.execute, ENOEXEC):
            "cannot run \"\(command)\": it is no program for this machine; does a script lack its #! line?"
        case (.prepare, EINVAL): "cannot run \"\(command)\": an argument or a variable holds a NUL character"
        default: "cannot run \"\(command)\": \(what): \(String(cString: strerror(code)))"
        }
    }

    private var what: String {
        switch step {
        case .prepare: "it gets no pipes"
        case .fork: "no new process"
        case .setUp: "the new process could not be set up"
        case .reaper: "no process to guard it"
        case .execute: "the system refused"
        }
    }
}

extension ChildStartError {
    init(_ failure: errand_child_failure, command: String) {
        let step: Step =
            switch UInt32(failure.step) {
            case ERRAND_CHILD_STEP_FORK.rawValue: .fork
            case ERRAND_CHILD_STEP_REAPER.rawValue: .reaper
            case ERRAND_CHILD_STEP_EXEC.rawValue: .execute
            default: .setUp
            }
        self.init(step: step, code: failure.error, command: command)
    }
}
