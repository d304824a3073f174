#if !canImport(BackgroundTasks)
    import Backgroundable
    import Foundation
    import Testing

    /// Code for Apple's systems with another import.
    @Suite struct TaskSchedulerSampleTests {
        final class AppDelegate: Sendable {
            static let backgroundRefreshIdentifier = "your.refresh.identifier"
            let refreshManager = RefreshManager()

            func setupScheduler() {
                BGTaskScheduler.shared.register(
                    forTaskWithIdentifier: AppDelegate.backgroundRefreshIdentifier,
                    using: nil
                ) { task in
                    self.handleAppRefreshTask(task: task as? BGAppRefreshTask)
                }
            }

            func handleAppRefreshTask(task: BGAppRefreshTask?) {
                scheduleAppRefresh()
                task?.expirationHandler = {
                    task?.setTaskCompleted(success: false)
                }
                refreshManager.doSomething(completionHandler: { isCompleted in
                    task?.setTaskCompleted(success: isCompleted)
                })
            }

            func scheduleAppRefresh() {
                let fetchTask = BGAppRefreshTaskRequest(identifier: AppDelegate.backgroundRefreshIdentifier)
                fetchTask.earliestBeginDate = Date(timeIntervalSinceNow: 60 * 30)
                do {
                    try BGTaskScheduler.shared.submit(fetchTask)
                } catch {
                    print("Unable to submit task: \(error.localizedDescription)")
                }
            }
        }

        final class RefreshManager: Sendable {
            func doSomething(completionHandler: @escaping @Sendable (Bool) -> Void) {
                inTheBackground { completionHandler(true) }
            }
        }

        @Test func worksAsItStands() throws {
            let identifier = AppDelegate.backgroundRefreshIdentifier
            let done = Signal()
            let endings = Box<[Bool]>([])
            BGTaskScheduler.shared.permit([identifier])
            BGTaskScheduler.shared.onCompletion = { _, success in
                endings.change { $0.append(success) }
                done.fire()
            }
            let delegate = AppDelegate()
            delegate.setupScheduler()
            try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: identifier))
            #expect(done.wait())
            #expect(endings.now == [true])
            // The handler asked for the next launch, in half an hour.
            BGTaskScheduler.shared.getPendingTaskRequests { requests in
                let next = requests.first { $0.identifier == identifier }?.earliestBeginDate
                #expect((next?.timeIntervalSinceNow ?? 0) > 60)
            }
            BGTaskScheduler.shared.cancelAllTaskRequests()
            BGTaskScheduler.shared.onCompletion = nil
        }
    }
#endif
