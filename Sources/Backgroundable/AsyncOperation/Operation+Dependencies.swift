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

    /// Notes that a queue found the operation waiting. Returns whether it need not wait any more: see ``DependencyChange``.
    final var isUnblockedAfterLook: Bool {
        state.look()
        return isUnblocked
    }

    /// Whether the operation, which waits for no other one, is ready; begins the evaluation of its conditions.
    final var isReadyOnceUnblocked: Bool {
        guard !awaitsConditions else { return false }
        if state.facts.contains(.dependent), state.ring() { ReadinessNotifier.ringLater(self) }
        return true
    }

    /// A dependency was taken back: if it was the last one that kept the operation waiting, notifies the queue.
    ///
    /// - Parameter isFirst: Whether none was taken back before. From then on each is watched: these here, the others when
    ///   they are added.
    final func lookAtDependencies(isFirst: Bool) {
        guard ending == nil else { return }
        #if !canImport(ObjectiveC)
            if isFirst { for dependency in everyDependency { watch(dependency) } }
        #endif
        ringIfReady()
    }

    /// A dependency was added. If another one had been taken back Foundation will not notice when this one finishes.
    final func watchNewDependency(_ dependency: Operation) {
        #if !canImport(ObjectiveC)
            // In one order with the removal of another one on another thread: that watches this one, or this sees it.
            if state.confirm().contains(.unbound) { watch(dependency) }
        #endif
    }

    private func watch(_ dependency: Operation) {
        guard !dependency.isFinished else { return }
        let identifier = ObjectIdentifier(dependency)
        let watcher = FinishWatcher { [weak self] in
            _ = self?.forgetWatcher(of: identifier)
            self?.ringIfReady()
        }
        let isNew = slot.make().state.withLock { state in
            guard state.watchers[identifier] == nil else { return false }
            state.watchers[identifier] = watcher
            return true
        }
        if isNew { watcher.begin(dependency) }
    }

    private func forgetWatcher(of dependency: ObjectIdentifier) -> FinishWatcher? {
        slot.made?.state.withLock { $0.watchers.removeValue(forKey: dependency) }
    }

    /// The operation does not depend on another one any more, which need not be watched.
    final func unwatch(_ dependency: Operation) {
        forgetWatcher(of: ObjectIdentifier(dependency))?.withdraw()
    }

    private func ringIfReady() {
        if state.confirm().contains(.looked), isReady { ReadinessNotifier.ring(self) }
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
                if !dependency.isFinished { removeDependency(dependency) }
                // It may be about to look, also if it has finished just now.
                if dependency.isFinished { FinishWatcher.watch(dependency) { withExtendedLifetime(self) {} } }
            }
        #endif
    }

    /// To be called when the operation has finished: if it was cancelled, it may not have waited for what it depends on.
    final func forgetDependenciesIfCancelled() {
        if isCancelled { forgetUnfinishedDependencies() }
    }
}
