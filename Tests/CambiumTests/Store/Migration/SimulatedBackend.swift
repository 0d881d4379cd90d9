import TestSupport

@testable import Cambium
@testable import InternalTestSupport

extension EngineBackend {
  /// A store on a medium that may fail, without threads of its own, which folds often.
  static func simulated(
    on medium: SimulatedFileSystem, seed: UInt64
  ) throws(StoreError) -> EngineBackend {
    var options = EngineOptions.small(foldThreshold: 8 << 10)
    options.nodeSizes = .forLongKeys
    return try EngineBackend(alone: medium, options, creating: true, seed: seed)
  }
}
