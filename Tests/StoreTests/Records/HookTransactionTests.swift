import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A folder whose hooks take what is in it with it.
private struct Folder: Record, Equatable {
  var id: Int
  var parent: Int?
  var name: String
  var count = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "parent", type: .integer, optional: true, indexed: true)
    Field(name: "name", type: .string, unique: true, validation: [.length(1...20)])
    Field(name: "count", type: .integer)
  }

  static var hooks: RecordHooks<Folder> {
    RecordHooks(
      beforeInsert: { folder, transaction in
        try transaction.save(Line(text: "insert \(folder.id)"))
        if folder.name == "refused" { throw Refusal() }
        if folder.name == "copied" {
          try transaction.insert(Folder(id: folder.id + 1, parent: nil, name: "copied"))
        }
        if folder.name == "twin" {
          try transaction.insert(Folder(id: folder.id, parent: nil, name: "first twin"))
        }
        guard let parent = folder.parent,
          var above = try transaction.fetch(Folder.self, key: parent)
        else { return }
        above.count += 1
        try transaction.update(above)
      },
      beforeUpdate: { folder, old, transaction in
        try transaction.save(Line(text: "update \(folder.id) \(old.count)"))
        if folder.name == "refused" { throw Refusal() }
      },
      beforeDelete: { folder, transaction in
        try transaction.save(Line(text: "delete \(folder.id)"))
        try transaction.delete(Folder.where { $0.parent == folder.id })
        if folder.name == "kept" { throw Refusal() }
        if folder.name == "returning" {
          try transaction.insert(Folder(id: folder.id + 100, parent: nil, name: "new"))
        }
      })
  }

  struct Refusal: Error {}
}

private struct Line: Record {
  var text: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "text", type: .string)
  }
}

@Suite("Hooks that change other records")
struct HookTransactionTests {
  private func withFolders(
    history: Bool = false, _ body: (PersistentStore) throws -> Void
  ) throws {
    var options = StoreOptions()
    if history { options.history = HistoryOptions() }
    let model = StoreModel(records: [Folder.self, Line.self])
    try withStore(model, options, body)
  }

  /// Folders without hooks' lines: 1 has 2 and 3, 2 has 4.
  private func fill(_ store: PersistentStore) throws {
    try store.write { transaction in
      for (id, parent) in [(1, nil), (2, 1), (3, 1), (4, 2)] {
        try transaction.save(Folder(id: id, parent: parent, name: "folder \(id)"))
      }
      try transaction.deleteAll(Line.self)
    }
  }

  private func lines(_ store: PersistentStore) throws -> [String] {
    try store.fetch(Line.self).map(\.text)
  }

  @Test func `a hook reads and changes other records in its transaction, A21`() throws {
    try withFolders { store in
      try fill(store)
      #expect(try store.fetch(Folder.self).map(\.count) == [2, 1, 0, 0])
      try store.save(Folder(id: 5, parent: 4, name: "five"))
      #expect(try store.fetch(Folder.self, key: 4)?.count == 1)
      #expect(try lines(store) == ["insert 5", "update 4 0"])
    }
  }

  @Test func `deletions go on through hooks, A21`() throws {
    try withFolders { store in
      try fill(store)
      #expect(try store.write { try $0.delete(Folder.self, key: 1) })
      #expect(try store.count(Folder.self) == 0)
      #expect(try lines(store) == ["delete 1", "delete 2", "delete 3", "delete 4"])
      #expect(try store.snapshot().check().isEmpty)
    }
  }

  @Test func `many are deleted with what their hooks delete, A21`() throws {
    try withFolders { store in
      try fill(store)
      let count = try store.write { transaction in
        try transaction.delete(Folder.where { $0.name == "folder 2" })
      }
      #expect(count == 1)
      #expect(try store.fetch(Folder.self).map(\.id) == [1, 3])
      try fill(store)
      try store.write { transaction in
        let some = try transaction.fetch(Folder.self).filter { $0.id != 1 }
        // 4 goes with 2.
        #expect(try transaction.delete(contentsOf: some) == 2)
      }
      #expect(try store.fetch(Folder.self).map(\.id) == [1])
      try store.write { try $0.deleteAll(Line.self) }
      try fill(store)
      try store.write { try $0.deleteAll(Folder.self) }
      #expect(try store.count(Folder.self) == 0)
      #expect(try lines(store) == ["delete 1", "delete 2", "delete 3", "delete 4"])
      #expect(try store.snapshot().check().isEmpty)
    }
  }

  @Test func `a hook that adds records while all are deleted comes to an end, A21`() throws {
    try withFolders { store in
      try store.save(Folder(id: 1, parent: nil, name: "returning"))
      try store.write { try $0.deleteAll(Folder.self) }
      #expect(try store.count(Folder.self) == 0)
      #expect(try store.snapshot().check().isEmpty)
    }
  }

  @Test func `what a hook did is undone where it throws, A20 A21`() throws {
    try withFolders(history: true) { store in
      try fill(store)
      let before = try store.fetch(Folder.self)
      try store.write { transaction in
        transaction.keepChanges()
        try transaction.save(Folder(id: 9, parent: nil, name: "kept"))
        try transaction.save(Folder(id: 10, parent: 9, name: "ten"))
        try transaction.deleteAll(Line.self)
        #expect(throws: Folder.Refusal.self) { try transaction.delete(Folder.self, key: 9) }
        #expect(throws: Folder.Refusal.self) { try transaction.deleteAll(Folder.self) }
        #expect(throws: Folder.Refusal.self) {
          try transaction.save(Folder(id: 11, parent: 9, name: "refused"))
        }
        #expect(throws: Folder.Refusal.self) {
          try transaction.save(Folder(id: 9, parent: 9, name: "refused"))
        }
        #expect(try transaction.fetch(Folder.self).map(\.id) == [1, 2, 3, 4, 9, 10])
        #expect(try transaction.count(Line.self) == 0)
        #expect(try transaction.changes(of: Folder.self).inserted.map(\.id) == [9, 10])
        #expect(try transaction.changes(of: Folder.self).deleted.isEmpty)
      }
      #expect(try store.fetch(Folder.self).prefix(4) == before[...])
      #expect(try store.snapshot().check().isEmpty)
    }
  }

  @Test func `what a hook did is undone where the write fails after it, A20 A21`() throws {
    try withFolders { store in
      try fill(store)
      let before = try store.fetch(Folder.self)
      try store.write { transaction in
        // The name is taken, it is too long, and the hook has written the key.
        #expect(throws: StoreError.self) {
          try transaction.save(Folder(id: 5, parent: 1, name: "folder 1"))
        }
        #expect(throws: StoreError.self) {
          try transaction.save(Folder(id: 5, parent: 1, name: String(repeating: "x", count: 30)))
        }
        #expect(throws: StoreError.self) {
          try transaction.insert(Folder(id: 5, parent: 1, name: "twin"))
        }
        #expect(try transaction.fetch(Folder.self) == before)
        #expect(try transaction.count(Line.self) == 0)
        try transaction.save(Folder(id: 6, parent: nil, name: "six"))
      }
      #expect(try store.fetch(Folder.self).map(\.id) == [1, 2, 3, 4, 6])
      #expect(try store.snapshot().check().isEmpty)
    }
  }

  @Test func `a record that takes the place of others does so after their hooks, A21 E4`() throws {
    try withFolders { store in
      try fill(store)
      try store.save(Folder(id: 7, parent: nil, name: "folder 2"), onConflict: .replaceOther)
      #expect(try store.fetch(Folder.self).map(\.id) == [1, 3, 7])
      #expect(try lines(store) == ["delete 2", "delete 4", "insert 7"])
      // What the hook of the other adds is in the way itself.
      try store.save(Folder(id: 8, parent: nil, name: "returning"))
      let before = try store.fetch(Folder.self)
      let error = storeError {
        try store.save(Folder(id: 8, parent: nil, name: "new"))
        try store.save(Folder(id: 9, parent: nil, name: "returning"))
        try store.save(Folder(id: 10, parent: nil, name: "returning"), onConflict: .replaceOther)
      }
      guard case .uniqueConflict = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try store.fetch(Folder.self).map(\.id) == before.map(\.id) + [9])
      #expect(try store.snapshot().check().isEmpty)
    }
  }

  @Test func `hooks that lead back to themselves end with an error, A21 Z3`() throws {
    try withFolders { store in
      try fill(store)
      try store.write { transaction in
        // 1 is in 4 now, which is in it.
        try transaction.save(Folder(id: 1, parent: 4, name: "folder 1"))
        try transaction.deleteAll(Line.self)
      }
      let before = try store.fetch(Folder.self)
      for attempt in 0..<2 {
        let error = storeError {
          if attempt == 0 { _ = try store.write { try $0.delete(Folder.self, key: 1) } }
          try store.save(Folder(id: 50, parent: nil, name: "copied"))
        }
        guard case .limitExceeded(.hookDepth, let found) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(found == StoreError.Limit.hookDepth.bound + 1)
      }
      #expect(try store.fetch(Folder.self) == before)
      #expect(try lines(store) == [])
      #expect(try store.snapshot().check().isEmpty)
    }
  }

  @Test func `a hundred hooks within one another are not too many for a thread, Z3`() async throws {
    try await Task.detached {
      try withFolders { store in
        try store.write { transaction in
          for id in 1...StoreError.Limit.hookDepth.bound {
            try transaction.save(Folder(id: id, parent: id == 1 ? nil : id - 1, name: "f\(id)"))
          }
        }
        try store.write { _ = try $0.delete(Folder.self, key: 1) }
        #expect(try store.count(Folder.self) == 0)
      }
    }.value
  }
}
