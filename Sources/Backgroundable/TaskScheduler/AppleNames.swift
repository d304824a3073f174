// The names that code written for Apple's systems uses: there, the system's own framework has them.
#if !canImport(BackgroundTasks)
    /// ``TaskScheduler`` under the name it has on Apple's systems.
    public typealias BGTaskScheduler = TaskScheduler
    /// ``TaskRequest`` under the name it has on Apple's systems.
    public typealias BGTaskRequest = TaskRequest
    /// ``AppRefreshTaskRequest`` under the name it has on Apple's systems.
    public typealias BGAppRefreshTaskRequest = AppRefreshTaskRequest
    /// ``ProcessingTaskRequest`` under the name it has on Apple's systems.
    public typealias BGProcessingTaskRequest = ProcessingTaskRequest
    /// ``ScheduledTask`` under the name it has on Apple's systems.
    public typealias BGTask = ScheduledTask
    /// ``AppRefreshTask`` under the name it has on Apple's systems.
    public typealias BGAppRefreshTask = AppRefreshTask
    /// ``ProcessingTask`` under the name it has on Apple's systems.
    public typealias BGProcessingTask = ProcessingTask
#endif
