/// The closure of an ``AsyncOperation``, under its name in Backgroundable 1.4.
public typealias AsyncOperationClosure = AsyncOperation.Closure
