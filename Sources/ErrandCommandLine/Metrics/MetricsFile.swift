#if MetricsSupport
    import ErrandText
    import Foundation
    package import Logging
    package import Metrics

    /// A file with the metrics of a process in Prometheus' text format, for the textfile collector of Prometheus' node
    /// exporter or other readers. It is replaced atomically, regularly and at the end.
    package struct MetricsFile: Sendable {
        private static let interval = Duration.seconds(10)

        private let url: URL
        private let registry: MetricsRegistry

        /// Creates the file.
        ///
        /// - Parameters:
        ///   - path: The path of the file.
        ///   - kind: The kind of process, such as `worker`: a label of every metric, with the file's name without its
        ///   extension
        ///     as the value, so that the files of several processes can be read together.
        /// - Throws: ``CommandFailure`` if the file cannot be written, or the path is not a regular file.
        package init(_ path: String, of kind: String) throws {
            url = URL(filePath: path)
            // The file replaces the existing one, which may be a device or a link that other programs need.
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

        /// The factory for the metrics.
        package var factory: any MetricsFactory { registry }

        /// Runs a body, and writes the file regularly meanwhile.
        package func writing<Value: Sendable>(
            logger: Logger,
            _ body: () async throws -> Value
        ) async throws -> Value {
            let keeping = Task { await keepWriting(logger) }
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            keeping.cancel()
            // Otherwise a write in progress could replace the last one.
            await keeping.value
            tryToWrite(logger)
            return try outcome.get()
        }

        private func keepWriting(_ logger: Logger) async {
            while (try? await Task.sleep(for: Self.interval)) != nil { tryToWrite(logger) }
        }

        /// Logs a failure: jobs must not wait for a full disk.
        private func tryToWrite(_ logger: Logger) {
            do { try write() } catch {
                logger.warning(
                    "metrics not written",
                    metadata: ["file": "\(url.path)", "error": "\(FileProblem.words(for: error))"]
                )
            }
        }

        private func write() throws {
            let text = registry.text
            // An empty file could be written to a full disk.
            try Data((text.isEmpty ? "# no metrics yet\n" : text).utf8).write(to: url, options: .atomic)
        }
    }
#endif
