/// Marks that the current thread changes the dependencies of an operation.
///
/// Foundation reads `isReady` at the end of such a change, whether or not the operation is in a queue. That read must
/// not begin the evaluation of conditions; any other read may come from a queue.
///
/// **Invariant: no queue waits for an operation that has nothing left to wait for.** A thread that finds the operation
/// waiting first sets `looked`, which is never cleared, and then checks again. A thread that removes a reason to wait
/// first makes the change and then reads `looked`; if it is set, the thread checks the operation and notifies the
/// queue. Both accesses to `looked` change one atomic word, so one of them comes first: either the check sees the
/// change, or the change sees the mark.
enum DependencyChange {
    @TaskLocal private static var operation: ObjectIdentifier?

    /// Whether the current thread is changing the dependencies of this operation.
    static func isUnderWay(for operation: AsyncOperation) -> Bool {
        self.operation == ObjectIdentifier(operation)
    }

    static func perform(for operation: AsyncOperation, _ change: () -> Void) {
        $operation.withValue(ObjectIdentifier(operation)) { change() }
    }
}
