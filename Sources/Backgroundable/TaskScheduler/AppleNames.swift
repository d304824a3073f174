// The names that code for Apple's systems uses. There, the system's framework defines them.
#if !canImport(BackgroundTasks)
    /// The name of ``TaskScheduler`` on Apple's systems.
    public typealias BGTaskScheduler = TaskScheduler
    /// The name of ``TaskRequest`` on Apple's systems.
    public typealias BGTaskRequest = TaskRequest
    /// The name of ``AppRefreshTaskRequest`` on Apple's systems.
    public typealias BGAppRefreshTaskRequest = AppRefreshTaskRequest
    /// The name of ``ProcessingTaskRequest`` on Apple's systems.
    public typealias BGProcessingTaskRequest = ProcessingTaskRequest
    /// The name of ``ScheduledTask`` on Apple's systems.
    public typealias BGTask = ScheduledTask
    /// The name of ``AppRefreshTask`` on Apple's systems.
    public typealias BGAppRefreshTask = AppRefreshTask
    /// The name of ``ProcessingTask`` on Apple's systems.
    public typealias BGProcessingTask = ProcessingTask
#endif
