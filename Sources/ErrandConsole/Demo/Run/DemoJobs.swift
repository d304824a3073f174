import Errand
import ErrandText

/// The jobs that the demo pushes: number 0 is the first pass over the first file, and so on.
///
/// If there are few files, it takes several passes over them, so that there is enough to see. Jobs of each pass have
/// their own names.
struct DemoJobs: Sendable {
    /// The smallest number of jobs that shows everything.
    static let fewest = 300

    let files: [SourceFile]
    /// The number of planned jobs: one for each file and pass.
    let planned: Int

    init(files: [SourceFile]) {
        self.files = files
        let passes = files.isEmpty ? 0 : (Self.fewest + files.count - 1) / files.count
        planned = files.count * max(1, passes)
    }

    func file(of number: Int) -> SourceFile { files[number % files.count] }

    /// Returns whether a push is repeated, as a third of them are: half of these in the same batch, half with the next
    /// one.
    func repeats(_ number: Int) -> (atOnce: Bool, later: Bool) { (number % 6 == 0, number % 6 == 3) }

    /// Makes the description of a job, with a new id each time.
    func checksum(_ number: Int) throws(DescriptionError) -> JobEnvelope {
        let file = file(of: number)
        return try OperationDescription(
            "checksum",
            encoding: DemoOperations.ChecksumArguments(path: file.path),
            queue: DemoOperations.queue,
            name: name(of: file.path, pass: number / files.count),
            unique: .drop,
            timeout: .seconds(120),
            retries: 0
        ).makeEnvelope()
    }

    /// Makes a job that never finishes.
    func stuck(_ number: Int) throws(DescriptionError) -> JobEnvelope {
        try OperationDescription(
            "stuck",
            queue: DemoOperations.queue,
            name: "stuck \(number)",
            unique: .drop,
            timeout: DemoOperations.stuckTimeout,
            retries: 0
        ).makeEnvelope()
    }

    /// Returns the job's name. Names have at most 1,024 bytes, so longer paths are replaced by their digest.
    private func name(of path: String, pass: Int) -> String {
        let digest = { SHA256.hash(path.utf8).map { String($0, radix: 16) }.joined(separator: "-") }
        return "checksum " + (path.utf8.count <= 900 ? path : digest()) + (pass == 0 ? "" : " (pass \(pass + 1))")
    }
}
