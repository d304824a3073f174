#if !canImport(UIKit)
    /// UIKit's name for ``BackgroundTaskIdentifier``, for code that was written for Apple's systems.
    public typealias UIBackgroundTaskIdentifier = BackgroundTaskIdentifier

    // The capitalization is UIKit's.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// UIKit's old name for ``BackgroundTaskIdentifier/invalid``, for code that was written for Apple's systems.
    public let UIBackgroundTaskInvalid = BackgroundTaskIdentifier.invalid
#endif
