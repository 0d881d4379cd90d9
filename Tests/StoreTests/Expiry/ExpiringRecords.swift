import FoundationEssentials
import Synchronization

@testable import Cambium

/// A record that expires an hour after its last use, if it has a date.
struct Lease: Record, Identifiable, Equatable {
  var id: Int
  var end: Date?
  var text = ""

  init(_ id: Int, end: Double? = nil) {
    self.id = id
    self.end = end.map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "end", type: .date, optional: true)
    Field(name: "text", type: .string)
    Index("end", "text")
    Expiry("end", after: .seconds(3_600))
  }
}

/// The time of a store, as a test sets it.
final class TestClock: Sendable {
  private let seconds = Atomic<Int>(0)

  func set(_ now: Int) { seconds.store(now, ordering: .sequentiallyConsistent) }

  /// The options of a store with this clock, which collects on request alone.
  func options(every interval: Duration? = nil) -> StoreOptions {
    var options = StoreOptions()
    options.expiryInterval = interval
    options.currentDate = { [self] in
      Date(timeIntervalSinceReferenceDate: Double(seconds.load(ordering: .sequentiallyConsistent)))
    }
    return options
  }
}
