public import ArgumentParser
public import Errand

extension UniquenessPolicy: ExpressibleByArgument {}
extension UniqueUntil: ExpressibleByArgument {}
extension Schedule.Overlap: ExpressibleByArgument {}
