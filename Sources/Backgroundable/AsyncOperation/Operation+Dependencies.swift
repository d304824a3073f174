import Foundation

extension AsyncOperation {
    /// Whether everything that the operation depends on has finished.
    ///
    /// Foundation on Linux counts unfinished dependencies, and does not decrement the count when a dependency is
    /// removed.
    final var isUnblocked: Bool {
        if super.isReady { return true }
        let facts = state.facts
        guard facts.contains(.unbound) else { return false }
        return facts.ending == .cancelled || everyDependency.allSatisfy(\.isFinished)
    }

    /// All dependencies, including barriers of the queue.
    final var everyDependency: [Operation] {
        super.dependencies
    }

    /// Notes that a reader found the operation waiting. Returns whether it is unblocked by now; see
    /// ``DependencyChange``.
    final var isUnblockedAfterLook: Bool {
        state.look()
        return isUnblocked
    }

    /// Whether an operation without unfinished dependencies is ready. Begins the evaluation of its conditions.
    final var isReadyOnceUnblocked: Bool {
        guard !awaitsConditions else { return false }
        if state.facts.contains(.dependent), state.ring() { ReadinessNotifier.ringLater(self) }
        return true
    }

    /// Notifies the queue if the removed dependency was the last one that blocked the operation.
    ///
    /// - Parameter isFirst: Whether this is the first removal. From then on all dependencies are watched: the existing
    ///   ones by this call, new ones when they are added.
    final func lookAtDependencies(isFirst: Bool) {
        guard ending == nil else { return }
        #if !canImport(ObjectiveC)
            if isFirst { for dependency in everyDependency { watch(dependency) } }
        #endif
        ringIfReady()
    }

    /// Watches a new dependency if another one was removed before, because Foundation then misses its finish.
    final func watchNewDependency(_ dependency: Operation) {
        #if !canImport(ObjectiveC)
            // One order with a removal on another thread: either that thread watches this dependency, or this thread
            // sees `unbound`.
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

    /// Stops watching a removed dependency.
    final func unwatch(_ dependency: Operation) {
        forgetWatcher(of: ObjectIdentifier(dependency))?.withdraw()
    }

    private func ringIfReady() {
        if state.confirm().contains(.looked), isReady { ReadinessNotifier.ring(self) }
    }
}

extension Operation {
    /// Removes the dependencies that have not finished.
    ///
    /// On Linux an operation keeps unretained references to its dependents. If a waiting operation is cancelled, leaves
    /// its queue and is deallocated, its unfinished dependencies would later access it.
    ///
    /// The caller keeps the operation alive until this returns.
    final func forgetUnfinishedDependencies() {
        #if !canImport(ObjectiveC)
            for dependency in (self as? AsyncOperation)?.everyDependency ?? dependencies {
                if !dependency.isFinished { removeDependency(dependency) }
                // The dependency may be about to access its dependents, even if it has just finished.
                if dependency.isFinished { FinishWatcher.watch(dependency) { withExtendedLifetime(self) {} } }
            }
        #endif
    }

    /// Must be called when the operation has finished: a cancelled operation may leave before its dependencies have
    /// finished.
    final func forgetDependenciesIfCancelled() {
        if isCancelled { forgetUnfinishedDependencies() }
    }
}
