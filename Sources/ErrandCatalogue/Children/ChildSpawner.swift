import CErrandChild
import Foundation

/// Starts commands. Only the children's thread uses it, which lives as long as the process.
struct ChildSpawner {
    private let base = BaseEnvironment()

    /// A running command, and the worker's ends of its pipes.
    struct Started {
        let pid: pid_t
        let input: Descriptor
        let output: Descriptor
        let error: Descriptor
    }

    /// Starts a command and registers its process group with the reaper.
    func start(_ command: ChildCommand, reaperPipe: Int32) throws(ChildStartError) -> Started {
        let name = command.arguments.first ?? ""
        let pipes: (input: ChildPipe, output: ChildPipe, error: ChildPipe)
        do {
            pipes = (try ChildPipe(), try ChildPipe(), try ChildPipe())
            for end in [pipes.input.writeEnd, pipes.output.readEnd, pipes.error.readEnd] { try end.setNonblocking() }
        } catch {
            throw ChildStartError(step: .prepare, code: error.code, command: name)
        }
        let spec = errand_child_spec(
            files: nil,
            arguments: nil,
            environment: nil,
            input: pipes.input.readEnd.number,
            output: pipes.output.writeEnd.number,
            error: pipes.error.writeEnd.number,
            reaper: reaperPipe
        )
        let pid = try withExtendedLifetime(pipes) { () throws(ChildStartError) in
            try spawn(command, name: name, spec: spec)
        }
        return Started(
            pid: pid,
            input: pipes.input.writeEnd,
            output: pipes.output.readEnd,
            error: pipes.error.readEnd
        )
    }

    private func spawn(
        _ command: ChildCommand,
        name: String,
        spec: errand_child_spec
    ) throws(ChildStartError) -> pid_t {
        var arguments = CStringVector()
        for argument in command.arguments { arguments.append(argument) }
        var environment = base.adding(command.environment)
        var files = base.files(for: name)
        guard !arguments.hasInnerNUL, !environment.hasInnerNUL else {
            throw ChildStartError(step: .prepare, code: EINVAL, command: name)
        }
        var spec = spec
        var failure = errand_child_failure()
        let pid = arguments.withPointers { arguments in
            environment.withPointers { environment in
                files.withPointers { files in
                    spec.arguments = arguments
                    spec.environment = environment
                    spec.files = files
                    return errand_child_spawn(&spec, &failure)
                }
            }
        }
        guard pid > 0 else { throw ChildStartError(failure, command: name) }
        return pid
    }
}
