@testable import Cambium

extension LogPosition {
  /// Whether no frame is without one behind it that says that it was flushed. A log that was closed is sealed: there,
  /// no damage can pass for the end.
  var isSealed: Bool { flushedThrough >= contentEnd }
}
