public import ArgumentParser
public import Errand

extension JobState: ExpressibleByArgument {}
extension WorkflowID: ExpressibleByArgument {}
extension WorkflowState: ExpressibleByArgument {}
