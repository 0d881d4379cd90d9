@testable import Cambium

extension StoreOptions {
  /// The options of a store that is compacted only when a test asks for it.
  static var withoutAutomaticCompaction: StoreOptions {
    var options = StoreOptions()
    options.automaticCompaction = nil
    return options
  }
}
