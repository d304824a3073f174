import ArgumentParser
import Foundation

/// What every executable does first thing.
package enum ProcessStart {
    /// Makes sure of standard input, output and error, checks the arguments, and hides the passwords in them.
    package static func prepare() {
        openStandardDescriptors()
        checkArguments()
        ProcessArguments.hidePasswords()
    }

    /// One that is closed would go to the next file or connection that is opened, and with it what is written for people. From what is
    /// opened in its place nothing can be read, and to standard output nothing be written without an error.
    private static func openStandardDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // The lowest one that is free, and so this one.
            _ = open("/dev/null", mode)
        }
    }

    /// Ends the process where an argument is no UTF-8: it would be read as another text, and a job pushed with it would work on another
    /// file.
    private static func checkArguments() {
        for place in CommandLine.arguments.indices.dropFirst() {
            guard let argument = CommandLine.unsafeArgv[place], String(validatingCString: argument) == nil else {
                continue
            }
            StandardError.write("error: argument \(place) is not UTF-8; Errand takes no other text")
            exit(ExitStatus.badInput.rawValue)
        }
    }
}
