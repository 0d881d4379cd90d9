import Cambium

extension PackageText: Record {
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "body", type: .string)
    Index(.words("body"))
  }
}

final class CambiumTextEngine: TextEngine {
  private let path: String
  private var store: PersistentStore

  init(directory: String) throws {
    path = directory
    store = try .relaxed(at: path, PackageText.self)
  }

  deinit {
    try? store.close()
  }

  func load(_ texts: [PackageText]) throws {
    try store.write { try $0.insert(contentsOf: texts) }
    // Flushed, and folded, as SQLite's log is copied back.
    try store.close()
  }

  func settle() throws {
    store = try .relaxed(at: path, PackageText.self)
  }

  func answer(_ workload: TextWorkload, _ words: [String]) throws -> TextAnswer {
    let words = workload == .prefix ? words[0] + "*" : words.joined(separator: " ")
    let query = PackageText.where { $0.body.matches(words) }
    if workload.isCount { return TextAnswer(count: try store.count(query)) }
    var answer = TextAnswer()
    for text in try store.fetch(workload == .first ? query.limit(20) : query) { answer.add(text) }
    return answer
  }
}
