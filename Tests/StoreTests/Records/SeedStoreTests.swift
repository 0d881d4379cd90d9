import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The declarations that the programming model was first described with, with dates for dates.
private enum Dated {
  struct Tag: Codable, Hashable {
    var name = ""
  }

  enum OptionalAdded {
    struct TodoItem: Record, Equatable {
      var id = UUID()
      var creationDate = Date()
      var title: String
      var contents: String
      var tag: Tag?
      var isCompleted: Bool
      var newProperty: URL?

      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .uuid)
        Field(name: "creationDate", type: .date)
        Field(name: "title", type: .string)
        Field(name: "contents", type: .string)
        Field(name: "tag", type: .transformable, optional: true)
        Field(name: "isCompleted", type: .boolean)

        if version > 1 {
          Field(name: "newProperty", type: .url, optional: true)
        }
      }
    }
  }

  enum RequiredAdded {
    struct TodoItem: Record, Equatable {
      var id = UUID()
      var creationDate = Date()
      var title: String
      var contents: String
      var tag: Tag?
      var isCompleted: Bool
      var newProperty: Double

      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .uuid)
        Field(name: "creationDate", type: .date)
        Field(name: "title", type: .string)
        Field(name: "contents", type: .string)
        Field(name: "tag", type: .transformable, optional: true)
        Field(name: "isCompleted", type: .boolean)

        if version > 1 {
          Field(name: "newProperty", type: .double, migrationInfo: .init(default: 10.5))
        }
      }
    }
  }

  enum Renamed {
    struct TodoItem: Record, Equatable {
      var id = UUID()
      var creationDate = Date()
      var name: String
      var contents: String
      var tag: Tag?
      var isCompleted: Bool

      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .uuid)
        Field(name: "creationDate", type: .date)
        Field(name: "contents", type: .string)
        Field(name: "tag", type: .transformable, optional: true)
        Field(name: "isCompleted", type: .boolean)

        if version < 2 {
          Field(name: "title", type: .string)
        } else if version > 1 {
          Field(name: "name", type: .string, migrationInfo: .init(renamingID: "title"))
        }
      }
    }
  }
}

@Suite("The first declarations")
struct SeedStoreTests {
  @Test(
    arguments: [
      OptionalAdded.TodoItem.self, RequiredAdded.TodoItem.self, Renamed.TodoItem.self,
    ] as [any Record.Type])
  func `as they stand, they are refused by the name of the field that is no date`(
    type: any Record.Type
  ) throws {
    let error = storeError {
      try PersistentStore(inMemory: StoreModel(version: 2, records: [type]))
    }
    guard case .invalidDescription("TodoItem", "creationDate", 2, let reason) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(reason.contains("Date") && reason.lowercased().contains("uuid"), "\(reason)")
  }

  /// Stores a record, and fetches it before and after the store was opened anew.
  private func keep<Item: Record & Equatable & Identifiable>(_ item: Item) throws
  where Item.ID: FieldValueConvertible, Item.KeyType == Item.ID {
    let directory = try TemporaryDirectory()
    let model = StoreModel(version: 2, records: [Item.self])
    for _ in 0..<3 {
      let store = try PersistentStore(at: directory.path + "/store", model: model)
      try store.save(item)
      #expect(try store.fetch(Item.self, key: item.id) == item)
      #expect(try store.fetch(Item.self) == [item])
      try store.expectSound()
      try store.close()
    }
  }

  @Test func `with a date they are stored and fetched`() throws {
    let url = URL(string: "https://example.org/a?b=c#d")
    try keep(
      Dated.OptionalAdded.TodoItem(
        title: "A", contents: "B", tag: Dated.Tag(name: "T"), isCompleted: true, newProperty: url))
    try keep(
      Dated.OptionalAdded.TodoItem(title: "", contents: "ü\u{0}𝄞", tag: nil, isCompleted: false))
    try keep(
      Dated.RequiredAdded.TodoItem(
        title: "A", contents: "B", tag: nil, isCompleted: false, newProperty: -0.0))
    try keep(
      Dated.Renamed.TodoItem(name: "A", contents: "B", tag: Dated.Tag(name: ""), isCompleted: true))
  }

  @Test func `ten lines store and read records`() throws {
    struct Item: Record {
      var id = UUID()
      var title: String
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .uuid)
        Field(name: "title", type: .string)
      }
    }
    let path = try TemporaryDirectory().path
    let store = try PersistentStore(at: path, model: StoreModel(records: [Item.self]))
    try store.save(Item(title: "Water the plants"))
    for item in try store.fetch(Item.self) { #expect(item.title == "Water the plants") }
    try store.close()
  }
}

extension Dated.OptionalAdded.TodoItem: Identifiable {}
extension Dated.RequiredAdded.TodoItem: Identifiable {}
extension Dated.Renamed.TodoItem: Identifiable {}
