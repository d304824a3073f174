import Crypto
import Errand

/// Which jobs the demo pushes: number 0 is the first pass over the first file, and so on.
///
/// So that there is enough to see, few files are gone over several times; each pass gives its jobs names of their own.
struct DemoJobs: Sendable {
    /// As few jobs as show everything.
    static let fewest = 300

    let files: [SourceFile]
    /// How many jobs are planned: each file once a pass.
    let planned: Int

    init(files: [SourceFile]) {
        self.files = files
        let passes = files.isEmpty ? 0 : (Self.fewest + files.count - 1) / files.count
        planned = files.count * max(1, passes)
    }

    func file(of number: Int) -> SourceFile { files[number % files.count] }

    /// Pushes of a third of the jobs are repeated: half of these beside the first push, half with the next batch.
    func repeats(_ number: Int) -> (atOnce: Bool, later: Bool) { (number % 6 == 0, number % 6 == 3) }

    /// The description of a job, with a new id each time.
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

    /// A job that never finishes.
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

    /// Names end at 1,024 bytes; longer paths are named by their digest.
    private func name(of path: String, pass: Int) -> String {
        let digest = { SHA256.hash(data: Array(path.utf8)).map { String($0, radix: 16) }.joined(separator: "-") }
        return "checksum " + (path.utf8.count <= 900 ? path : digest()) + (pass == 0 ? "" : " (pass \(pass + 1))")
    }
}
