import CErrandChild
import Foundation

/// An open file of this process, closed with the last reference.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    /// Makes reads and writes return immediately.
    func setNonblocking() throws(Errno) {
        try Errno.check(errand_child_set_nonblocking(number))
    }
}

/// A pipe whose ends children do not inherit by themselves.
struct ChildPipe {
    let readEnd: Descriptor
    let writeEnd: Descriptor

    init() throws(Errno) {
        var readEnd: Int32 = -1
        var writeEnd: Int32 = -1
        try Errno.check(errand_child_pipe(&readEnd, &writeEnd))
        self.readEnd = Descriptor(readEnd)
        self.writeEnd = Descriptor(writeEnd)
    }
}

/// An error number of the system.
struct Errno: Error {
    let code: Int32

    static func check(_ code: Int32) throws(Errno) {
        if code != 0 { throw Errno(code: code) }
    }
}
