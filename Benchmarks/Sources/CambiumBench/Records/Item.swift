import FoundationEssentials

/// The record that all engines store: eight fields, as an object of an application has them.
struct Item: Codable, Hashable, Identifiable, Sendable {
  var id: UUID
  var created: Date
  var title: String
  var body: String
  var count: Int
  var weight: Double
  var isDone: Bool
  var note: String?
}

extension Item {
  /// The item after an update: of the secondary indexes, it changes those of title and count.
  var updated: Item {
    var item = self
    item.title += "+"
    item.count += 1
    item.isDone.toggle()
    return item
  }

  /// The size of its values, written one after the other.
  var byteCount: Int {
    16 + 3 * 8 + 1 + title.utf8.count + body.utf8.count + (note?.utf8.count ?? 0)
  }
}
