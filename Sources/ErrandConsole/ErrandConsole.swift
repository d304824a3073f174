import ArgumentParser
import ErrandCommandLine

/// The entry point of the executable.
@main
enum Program {
    static func main() async {
        ProcessStart.prepare()
        MemoryPools.share()
        await ErrandConsole.start()
    }
}

/// The operator's console: the command `errand`.
struct ErrandConsole: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand",
        abstract: "Shows and controls the queues of a broker.",
        discussion: """
            Examples:
              errand status
              errand jobs --state dead
              errand doctor

            Exit status:
              0   done
              1   failed or only partly done, or findings
              64  wrong usage
              65  bad input
              69  the broker cannot be reached, or the queue is full
              75  the outcome is unknown
              77  not permitted
              78  bad configuration
            """,
        version: ErrandVersion.current,
        subcommands: [
            StatusCommand.self, StatisticsCommand.self, WorkerCheckCommand.self, TopCommand.self, JobsCommand.self,
            JobCommand.self, WhyCommand.self,
            QueueCommand.self, FlowCommand.self,
            WorkflowCommand.self, ScheduleCommand.self,
            EventsCommand.self, ImportCommand.self,
            DoctorCommand.self, BenchCommand.self, BenchWorkerCommand.self, DemoCommand.self, DemoWorkerCommand.self,
        ]
    )
}
