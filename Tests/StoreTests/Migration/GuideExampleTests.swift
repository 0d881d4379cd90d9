import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

/// The examples that explain migration, as programs write them: one type each, whose description for version 1 is
/// what stores of theirs have.
@Suite struct GuideExampleTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private struct Tag: Codable, Equatable {
    var name: String
  }

  /// What all of them have.
  @RecordDescription.ResultBuilder
  private static func common() -> RecordDescription {
    RecordName("TodoItem")
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "creationDate", type: .date)
    Field(name: "contents", type: .string)
    Field(name: "tag", type: .transformable, optional: true)
    Field(name: "isCompleted", type: .boolean)
  }

  private struct First: Record, Equatable {
    var id = UUID()
    var creationDate = Date(timeIntervalSinceReferenceDate: 7)
    var title: String
    var contents: String
    var tag: Tag?
    var isCompleted: Bool

    static func recordDescription(for version: Int) -> RecordDescription {
      common()
      Field(name: "title", type: .string)
    }
  }

  private struct Optional: Record, Equatable {
    var id = UUID()
    var creationDate = Date()
    var title: String
    var contents: String
    var tag: Tag?
    var isCompleted: Bool
    var newProperty: URL?

    static func recordDescription(for version: Int) -> RecordDescription {
      common()
      Field(name: "title", type: .string)
      if version > 1 {
        Field(name: "newProperty", type: .url, optional: true)
      }
    }
  }

  private struct Required: Record, Equatable {
    var id = UUID()
    var creationDate = Date()
    var title: String
    var contents: String
    var tag: Tag?
    var isCompleted: Bool
    var newProperty: Double

    static func recordDescription(for version: Int) -> RecordDescription {
      common()
      Field(name: "title", type: .string)
      if version > 1 {
        Field(name: "newProperty", type: .double, migrationInfo: .init(default: 10.5))
      }
    }
  }

  private struct Renamed: Record, Equatable {
    var id = UUID()
    var creationDate = Date()
    var name: String
    var contents: String
    var tag: Tag?
    var isCompleted: Bool

    static func recordDescription(for version: Int) -> RecordDescription {
      common()
      if version < 2 {
        Field(name: "title", type: .string, property: "name")
      } else if version > 1 {
        Field(name: "name", type: .string, migrationInfo: .init(renamingID: "title"))
      }
    }
  }

  private static let items = (0..<30).map {
    First(
      title: "t\($0)", contents: "c\($0)", tag: $0 % 3 == 0 ? nil : Tag(name: "g\($0)"),
      isCompleted: $0 % 2 == 0)
  }

  /// Stores of version 1, opened at version 2, at 3, and at 2 and then 3.
  private func forEachWay<Subject: Record>(
    _ type: Subject.Type, _ body: (PersistentStore, [Subject]) throws -> Void
  ) throws {
    for way in [[2], [3], [2, 3]] {
      let first = try PersistentStore(at: path, model: StoreModel(records: [First.self]))
      try first.write { try $0.insert(contentsOf: Self.items) }
      try first.close()
      for version in way {
        let store = try PersistentStore(
          at: path, model: StoreModel(version: version, records: [type]))
        try body(store, try store.fetch(type))
        #expect(try store.snapshot().check() == [])
        try store.close()
      }
      try PersistentStore.delete(at: path)
    }
  }

  private static var sorted: [First] { items.sorted { $0.id.uuidString < $1.id.uuidString } }

  @Test func `a new optional property is nil, J1`() throws {
    try forEachWay(Optional.self) { store, items in
      #expect(items.allSatisfy { $0.newProperty == nil })
      #expect(items.map(\.title) == Self.sorted.map(\.title))
      #expect(items.map(\.tag) == Self.sorted.map(\.tag))
      let url = try #require(URL(string: "https://example.org"))
      var item = items[0]
      item.newProperty = url
      try store.save(item)
      #expect(try store.fetch(Optional.self, key: item.id)?.newProperty == url)
      item.newProperty = nil
      try store.save(item)
    }
  }

  @Test func `a new required property has its default, J3`() throws {
    try forEachWay(Required.self) { _, items in
      #expect(items.count == 30 && items.allSatisfy { $0.newProperty == 10.5 })
      #expect(items.map(\.contents) == Self.sorted.map(\.contents))
    }
  }

  @Test func `a renamed property has its values, J4`() throws {
    try forEachWay(Renamed.self) { _, items in
      #expect(items.map(\.name) == Self.sorted.map(\.title))
      #expect(items.map(\.creationDate) == Self.sorted.map(\.creationDate))
    }
  }
}
