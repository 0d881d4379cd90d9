import TestSupport

@testable import Cambium

extension EngineBackend {
  /// A store on a disk that may fail, without threads of its own, which folds often.
  ///
  /// - Parameter transactionBudget: If not nil, the size of a transaction above which it spills.
  static func simulated(
    on medium: SimulatedFileSystem, transactionBudget: Int? = nil, seed: UInt64
  ) throws(StoreError) -> EngineBackend {
    var options = EngineOptions.small(foldThreshold: 8 << 10)
    options.nodeSizes = .forLongKeys
    if let transactionBudget { options.transactionBudget = transactionBudget }
    return try EngineBackend(alone: medium, options, creating: true, seed: seed)
  }
}
