/// The closure that an ``AsyncOperation`` is made of, under the name that it has in Backgroundable 1.4.
public typealias AsyncOperationClosure = AsyncOperation.Closure
