import Foundation

extension Operation {
    /// Takes back the dependence on operations that are still under way.
    ///
    /// On Linux an operation remembers those that depend on it without keeping them alive. One that was cancelled while it
    /// waited leaves its queue, is let go, and would be looked for when what it waited for finishes.
    ///
    /// Who calls this keeps the operation alive until it returns.
    final func forgetUnfinishedDependencies() {
        #if !canImport(ObjectiveC)
            for dependency in dependencies {
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
