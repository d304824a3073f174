public import Errand

/// The job that both sides share: make the smaller versions of a photo that was uploaded.
///
/// A photo is called by what is in it, so the same one that is uploaded again while it is at work makes no second job.
public struct ResizePhoto: JobParameters {
    /// What the operation is called.
    public static let jobName = "photo.resize"
    /// The queue that server and workers watch.
    public static let queue = "photos"
    /// What holds for every photo.
    public static let jobDefaults = JobDefaults(
        queue: queue,
        timeout: .seconds(120),
        retries: 3,
        uniqueness: .drop(by: "photo")
    )

    /// Which photo; see ``PhotoStore``.
    public let photo: String

    /// Makes the job's parameters.
    public init(photo: String) { self.photo = photo }

    /// The longest edges of the versions, in pixels.
    public static let sizes = [1600, 800, 320]
}
