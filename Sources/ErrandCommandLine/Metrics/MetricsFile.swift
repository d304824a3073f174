#if MetricsSupport
    import ErrandText
    import Foundation
    package import Logging
    package import Metrics

    /// A file with a process's own metrics in Prometheus' text format, written anew every some seconds and at the end: for the textfile
    /// collector of Prometheus' node exporter, or whatever else reads it. A reader never sees half of it.
    package struct MetricsFile: Sendable {
        private static let interval = Duration.seconds(10)

        private let url: URL
        private let registry: MetricsRegistry

        /// Makes the file.
        ///
        /// - Parameters:
        ///   - path: where.
        ///   - kind: what the process is, such as `worker`: a label of every metric, whose value is the file's name
        ///     without what is behind its dot, so that the files of several processes can be read together.
        /// - Throws: ``CommandFailure`` when it cannot be written, or there is something else than a file.
        package init(_ path: String, of kind: String) throws {
            url = URL(filePath: path)
            // It is put in the place of what is there, which may be a device or a link that others need.
            let type = try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
            guard type == nil || type == .typeRegular else {
                throw CommandFailure(
                    "cannot write the metrics to \(path): it is not a file. Name one that Errand may replace",
                    ExitStatus.badConfiguration
                )
            }
            registry = MetricsRegistry(labels: [(kind, url.deletingPathExtension().lastPathComponent)])
            do { try write() } catch {
                let isFull = FileProblem.isOutOfSpace(error)
                throw CommandFailure(
                    "cannot write the metrics to \(path): \(FileProblem.words(for: error)). "
                        + (isFull ? "Make room, or name" : "Name") + " a file in a folder that can be written to",
                    isFull ? ExitStatus.notWritten : ExitStatus.badConfiguration
                )
            }
        }

        /// Where metrics are to go.
        package var factory: any MetricsFactory { registry }

        /// Does something, with the file written anew all the while.
        package func writing<Value: Sendable>(
            logger: Logger,
            _ body: () async throws -> Value
        ) async throws -> Value {
            let keeping = Task { await keepWriting(logger) }
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            keeping.cancel()
            // Else what it may be writing just now would come after the last.
            await keeping.value
            tryToWrite(logger)
            return try outcome.get()
        }

        private func keepWriting(_ logger: Logger) async {
            while (try? await Task.sleep(for: Self.interval)) != nil { tryToWrite(logger) }
        }

        /// Jobs are not to wait for a disk that is full.
        private func tryToWrite(_ logger: Logger) {
            do { try write() } catch {
                logger.warning(
                    "metrics not written",
                    metadata: ["file": "\(url.path)", "error": "\(FileProblem.words(for: error))"]
                )
            }
        }

        private func write() throws { try Data(registry.text.utf8).write(to: url, options: .atomic) }
    }
#endif
