/// A change of an operation's dependencies by the current thread.
///
/// Foundation asks for `isReady` at the end of such a change, whether or not the operation is in a queue. That question
/// must begin no evaluation of conditions; every other one may come from a queue.
///
/// **Invariant: no queue keeps waiting for an operation that waits for nothing.** A thread that finds the operation
/// waiting first notes its look (`looked`, which is never taken back) and then asks once more. A thread that makes the
/// operation wait for less first makes the change, then reads `looked`, and if it is set looks itself and notifies the
/// queue. Both accesses to `looked` are changes of one atomic word, so one of them comes first: either the look sees the
/// change, or the change sees the look.
enum DependencyChange {
    @TaskLocal private static var operation: ObjectIdentifier?

    /// Whether the current thread is changing the operation's dependencies.
    static func isUnderWay(for operation: AsyncOperation) -> Bool {
        self.operation == ObjectIdentifier(operation)
    }

    static func perform(for operation: AsyncOperation, _ change: () -> Void) {
        $operation.withValue(ObjectIdentifier(operation)) { change() }
    }
}
