import Cambium
import CambiumPostgres

/// Records with references of every kind, for tests of observation.
enum Watched {
  struct Maker: Record, Identifiable {
    var id: Int
    var name: String
    static let tools = Inverse("tools", of: \Tool.maker)
    static let plans = Inverse("plans", of: \Plan.maker, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      tools
      plans
    }
  }

  struct Tag: Record, Identifiable {
    var id: String
    static let tools = Inverse("tools", of: \Tool.tags)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      tools
    }
  }

  struct Tool: Record, Identifiable {
    var id: Int
    var maker: Reference<Maker>?
    var tags: [Reference<Tag>] = []
    var price = 0.0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("maker")
      Field("tags")
      Field("price")
    }
  }

  /// With a key of two parts.
  struct Plan: Record {
    var maker: Reference<Maker>
    var name: String
    var pages: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("maker", primaryKey: true)
      Field("name", primaryKey: true)
      Field("pages")
    }
  }

  /// One of many that are written at the same time. Its value grows with each change.
  struct Entry: Record, Identifiable {
    var id: Int
    var value: Int
    var writer: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("value")
      Field("writer")
    }
  }

  static let model = StoreModel(
    version: 1, records: [Maker.self, Tag.self, Tool.self, Plan.self, Entry.self])
}

/// The elements of an observation, one after the other.
final class Observed<Element: Sendable> {
  private var iterator: RecordObservation<Element>.Iterator

  init(_ observation: RecordObservation<Element>) { iterator = observation.makeAsyncIterator() }

  func next() async throws -> Element? { try await iterator.next() }
}

extension RecordChanges {
  /// The changes as a line of text.
  var line: String {
    let deleted = deleted.map { key in "\(key)" }
    return "+\(inserted) ~\(updated) -\(deleted)\(isComplete ? "" : " incomplete")"
  }
}

/// The records that changes lead to.
struct EntryCopy: Sendable {
  private(set) var entries: [Int: Watched.Entry] = [:]
  private(set) var faults: [String] = []
  private(set) var seen: Set<Int> = []

  /// Applies changes. Each record is inserted once, changed only while it exists, to a greater value, and deleted once.
  mutating func apply(_ changes: RecordChanges<Watched.Entry>) {
    if !changes.isComplete { faults.append("something was missed") }
    for entry in changes.inserted {
      if !seen.insert(entry.id).inserted { faults.append("\(entry.id) was inserted twice") }
      entries[entry.id] = entry
    }
    for entry in changes.updated {
      if let old = entries[entry.id] {
        if entry.value <= old.value {
          faults.append("\(entry.id): \(entry.value) after \(old.value)")
        }
      } else {
        faults.append("\(entry.id) was updated and does not exist")
      }
      entries[entry.id] = entry
    }
    for key in changes.deleted {
      guard case .integer(let id) = key.first, entries.removeValue(forKey: Int(id)) != nil else {
        faults.append("\(key) was deleted and does not exist")
        continue
      }
    }
  }
}
