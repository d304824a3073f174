import Foundation

extension AsyncOperation {
    /// Whether everything that the operation depends on has finished.
    ///
    /// Foundation on Linux counts what is still to finish, and does not count down when a dependency is taken back.
    final var isUnblocked: Bool {
        if super.isReady { return true }
        let facts = state.facts
        guard facts.contains(.unbound) else { return false }
        return facts.ending == .cancelled || everyDependency.allSatisfy(\.isFinished)
    }

    /// What it waits for, its queue's barriers included.
    final var everyDependency: [Operation] {
        super.dependencies
    }

    /// A dependency was taken back: sees to it that the queue learns when the others have finished.
    final func lookAtDependencies() {
        guard ending == nil else { return }
        for dependency in everyDependency where !dependency.isFinished {
            FinishWatcher.watch(dependency) { [weak self] in self?.ringIfReady() }
        }
        ringIfReady()
    }

    private func ringIfReady() {
        if state.facts.contains(.looked), isReady { ReadinessBell.ring(self) }
    }
}

extension Operation {
    /// Takes back the dependence on operations that are still under way.
    ///
    /// On Linux an operation remembers those that depend on it without keeping them alive. One that was cancelled while it
    /// waited leaves its queue, is let go, and would be looked for when what it waited for finishes.
    ///
    /// Who calls this keeps the operation alive until it returns.
    final func forgetUnfinishedDependencies() {
        #if !canImport(ObjectiveC)
            for dependency in (self as? AsyncOperation)?.everyDependency ?? dependencies {
                if dependency.isFinished {
                    // It may be about to look.
                    FinishWatcher.watch(dependency) { withExtendedLifetime(self) {} }
                } else {
                    removeDependency(dependency)
                }
            }
        #endif
    }

    /// To be called when the operation has finished: if it was cancelled, it may not have waited for what it depends on.
    final func forgetDependenciesIfCancelled() {
        if isCancelled { forgetUnfinishedDependencies() }
    }
}
