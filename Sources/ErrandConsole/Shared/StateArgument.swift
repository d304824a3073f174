public import ArgumentParser
public import Errand

extension JobState: ExpressibleByArgument {}
