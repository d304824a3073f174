import Foundation

/// Measures the cost of the local queue in comparison with Foundation's.
@main
enum Program {
    static func main() {
        do {
            let options = try Options(arguments: CommandLine.arguments.dropFirst())
            guard !options.wantsHelp else { return print(Options.usage) }
            let figures = Figures.measure(options.size)
            print(options.wantsJSON ? try figures.json() : figures.table())
        } catch let error as UsageError {
            fail("BackgroundableBench: \(error.message)\n\(Options.usage)", code: 64)
        } catch {
            fail("BackgroundableBench: \(error)", code: 1)
        }
    }

    private static func fail(_ text: String, code: Int32) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(code)
    }
}
