import ArgumentParser
import Foundation

/// The first steps of every executable.
package enum ProcessStart {
    /// Opens missing standard streams, checks the arguments, and hides the passwords in them.
    package static func prepare() {
        openStandardDescriptors()
        checkArguments()
        ProcessArguments.hidePasswords()
    }

    /// Opens closed standard descriptors. Otherwise the next file or connection would get such a number, and receive
    /// messages for people. Reading from the substitutes returns nothing, and writing to standard output fails.
    private static func openStandardDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // This is the lowest free number, so `open` returns it.
            _ = open("/dev/null", mode)
        }
    }

    /// Ends the process if an argument is not UTF-8: it would be converted to another text, and a job with it would
    /// work on another file.
    private static func checkArguments() {
        for place in CommandLine.arguments.indices.dropFirst() {
            guard let argument = CommandLine.unsafeArgv[place], String(validatingCString: argument) == nil else {
                continue
            }
            StandardError.write("error: argument \(place) is not UTF-8; Errand accepts no other text")
            exit(ExitStatus.badInput.rawValue)
        }
    }
}
