import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

extension ExtremeCalls {
  /// None is a directory that exists, and all lie in the test's own.
  private static func paths(_ extremes: Extremes) -> [String] {
    Extremes.strings.filter { $0 != ".." && $0 != "" }.map { extremes.directory.path + "/x/" + $0 }
      + [extremes.directory.path + String(repeating: "/x", count: 5_000)]
  }

  private static func model(_ version: Int) -> StoreModel {
    StoreModel(version: version, records: [Photo.self])
  }

  /// Creates a store with each of the options, opens it again, writes to it and reads.
  private static func open(_ extremes: Extremes, _ options: [StoreOptions]) {
    for (number, options) in options.enumerated() {
      Extremes.attempt {
        let path = extremes.directory.path + "/options-\(number)"
        for id in [1, 2] {
          let store = try PersistentStore(at: path, model: Photo.model, options: options)
          try store.save(Photo(id, image: 500))
          _ = try store.fetch(Photo.self)
          try store.close()
        }
      }
    }
  }

  private static func open(_ extremes: Extremes, history: [HistoryOptions]) {
    open(
      extremes,
      history.map { history in
        var options = StoreOptions()
        options.history = history
        return options
      })
  }

  static let stores: [String: @Sendable (Extremes) throws -> Void] = [
    "PersistentStore.init(at:model:steps:migration:options:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try PersistentStore(at: path, model: Photo.model) }
      }
    },
    "PersistentStore.init(at:version:model:steps:migration:options:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try PersistentStore(at: path, version: 1, model: Photo.model) }
      }
      for version in Extremes.integers {
        Extremes.attempt {
          _ = try PersistentStore(
            at: extremes.directory.path + "/versions", version: version, model: Photo.model)
        }
      }
    },
    "PersistentStore.init(untypedAt:options:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try PersistentStore(untypedAt: path) }
      }
    },
    "PersistentStore.inspect(at:options:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try PersistentStore.inspect(at: path) }
      }
      for number in Extremes.integers {
        Extremes.attempt {
          _ = try PersistentStore.inspect(at: extremes.store.path, lastCommits: number)
        }
      }
    },
    "PersistentStore.check(at:_:options:progress:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try PersistentStore.check(at: path) }
      }
    },
    "PersistentStore.fence(movedTo:)": { extremes in
      for (number, text) in Extremes.strings.enumerated() {
        Extremes.attempt {
          let path = extremes.directory.path + "/fenced-\(number)"
          let store = try PersistentStore(at: path, model: Photo.model)
          try store.fence(movedTo: text)
          #expect(try store.snapshot().movedTo == text)
          try store.close()
        }
      }
    },
    "PersistentStore.liftFence(at:options:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try PersistentStore.liftFence(at: path) }
      }
    },
    "PersistentStore.delete(at:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { try PersistentStore.delete(at: path) }
      }
    },
    "PersistentStore.salvage(at:to:options:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try PersistentStore.salvage(at: path, to: path) }
        Extremes.attempt { _ = try PersistentStore.salvage(at: path, to: path + "-salvaged") }
        // The store is open, so that it is locked.
        Extremes.attempt { _ = try PersistentStore.salvage(at: extremes.store.path, to: path) }
      }
    },
    "QueryBudget.init(rows:duration:)": { _ in
      for rows in Extremes.integers {
        for duration in [nil] + Extremes.durations.map({ Optional($0) }) {
          var options = StoreOptions()
          options.queryBudget = QueryBudget(rows: rows, duration: duration)
          Extremes.attempt {
            let store = try PersistentStore(inMemory: Photo.model, options: options)
            try store.save(Photo(1, image: 10))
            Extremes.attempt { _ = try store.fetch(Query<Photo>()) }
            Extremes.attempt { _ = try store.count(Query<Photo>()) }
            try store.close()
          }
        }
      }
    },
    "PersistentStore.backUp(to:progress:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try extremes.store.backUp(to: path) }
      }
    },
    "PersistentStore.migration(at:to:steps:options:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try PersistentStore.migration(at: path, to: Photo.model) }
      }
      for count in Extremes.integers {
        var options = StoreOptions()
        options.migration.sliceCount = count
        options.migration.oldestVersion = count
        Extremes.attempt {
          let path = extremes.directory.path + "/migrated-\(count)"
          try PersistentStore(
            at: path, model: StoreModel(version: 1, records: [Extreme.self])
          ).close()
          let model = StoreModel(version: 2, records: [Extreme.self])
          let migration = try PersistentStore.migration(at: path, to: model, options: options)
          _ = try migration.rehearse()
          _ = try migration.run()
        }
      }
    },
    "PersistentStore.rollback(at:to:discardingCommits:options:)": { extremes in
      let path = extremes.directory.path + "/closed"
      try PersistentStore(at: path, model: Photo.model).close()
      for version in Extremes.integers {
        Extremes.attempt { try PersistentStore.rollback(at: path, to: version) }
      }
      for path in paths(extremes) {
        Extremes.attempt { try PersistentStore.rollback(at: path, to: 1) }
      }
    },
    "PersistentStore.dropKeptVersions(before:)": { extremes in
      for version in Extremes.integers {
        Extremes.attempt { try extremes.store.dropKeptVersions(before: version) }
      }
    },
    "HistoryOptions.kept(for:oldValues:)": { extremes in
      open(extremes, history: Extremes.durations.map { .kept(for: $0) })
    },
    "HistoryOptions.keptCommits(_:oldValues:)": { extremes in
      open(extremes, history: Extremes.integers.map { .keptCommits($0) })
    },
    "ModelVersion.init(_:label:records:describing:configurations:)": { _ in
      for number in Extremes.integers {
        Extremes.attempt {
          _ = try StoreModel([ModelVersion(number, records: [Photo.self])]).checked()
        }
      }
      for text in Extremes.strings {
        Extremes.attempt {
          let version = ModelVersion(
            1, label: text, records: [Photo.self],
            describing: [text: Photo.recordDescription(for: 1)], configurations: [text: []])
          _ = try StoreModel([version]).checked()
          _ = try StoreModel([version]).configuration(text).checked()
        }
      }
    },
    "StoreModel.configuration(_:)": { _ in
      for text in Extremes.strings {
        Extremes.attempt { _ = try Photo.model.configuration(text) }
      }
    },
    "StoreGroup.init(_:at:steps:migration:options:)": { extremes in
      for text in Extremes.strings {
        Extremes.attempt {
          let model = StoreModel(records: [Photo.self], configurations: [text: [Photo.self]])
          let stores = try StoreGroup(
            model, at: [text: extremes.directory.path + "/group"], steps: [text: []])
          try stores.close()
        }
        Extremes.attempt { _ = try StoreGroup(Photo.model, at: [text: text]) }
      }
    },
    "StoreGroup.subscript(name:)": { extremes in
      let model = StoreModel(records: [Photo.self], configurations: ["photos": [Photo.self]])
      let stores = try StoreGroup(model, at: ["photos": extremes.directory.path + "/group"])
      for text in Extremes.strings { Extremes.attempt { _ = try stores[text] } }
      try stores.close()
    },
    "StoreModel.init(version:label:records:removed:configurations:)": { extremes in
      for version in Extremes.integers {
        Extremes.attempt { _ = try PersistentStore(inMemory: model(version)) }
      }
      for label in Extremes.strings {
        let model = StoreModel(version: 1, label: label, records: [Photo.self])
        Extremes.attempt { _ = try PersistentStore(inMemory: model) }
      }
    },
    "StoreModel.changes(from:to:)": { _ in
      for version in Extremes.integers {
        Extremes.attempt { _ = try model(1).changes(from: version, to: 1) }
        Extremes.attempt { _ = try model(1).changes(from: 1, to: version) }
      }
    },
    "StoreModel.steps(contentsOf:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try Photo.model.steps(contentsOf: path) }
      }
    },
    "StoreModel.steps(parsing:)": { _ in
      for text in Extremes.strings {
        Extremes.attempt { _ = try Photo.model.steps(parsing: text) }
        Extremes.attempt {
          _ = try Photo.model.steps(
            parsing: #"[{"to": 1, "records": {\#(JSONValue.string(text)): {}}}]"#)
        }
      }
    },
    "SchemaLock.init(contentsOf:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { _ = try SchemaLock(contentsOf: path) }
      }
    },
    "PersistentStore.move(from:to:)": { extremes in
      for text in Extremes.strings {
        Extremes.attempt { try PersistentStore.move(from: text, to: text) }
        Extremes.attempt { try PersistentStore.move(from: extremes.store.path, to: text) }
      }
    },
    "PersistentStore.replace(at:with:)": { extremes in
      for text in Extremes.strings {
        Extremes.attempt { try PersistentStore.replace(at: text, with: extremes.store.path) }
        Extremes.attempt { try PersistentStore.replace(at: extremes.store.path, with: text) }
      }
    },
    "SchemaLock.init(parsing:)": { _ in
      for text in Extremes.strings { Extremes.attempt { _ = try SchemaLock(parsing: text) } }
    },
    "SchemaLock.check(_:steps:at:allowsUnreleased:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { try SchemaLock.check(Photo.model, at: path) }
        Extremes.attempt { try SchemaLock.check(Photo.model, steps: [], at: path) }
      }
    },
    "SchemaLock.write(_:steps:at:)": { extremes in
      for path in paths(extremes) {
        Extremes.attempt { try SchemaLock.write(Photo.model, at: path) }
        Extremes.attempt { try SchemaLock.write(Photo.model, steps: [], at: path) }
      }
    },
    "Schema.record(named:)": { extremes in
      for name in Extremes.strings { _ = extremes.store.schema.record(named: name) }
    },
    "RecordSchema.field(named:)": { extremes in
      for name in Extremes.strings {
        _ = extremes.store.schema.record(named: "Photo")?.field(named: name)
      }
    },
    "RecordSchema.isAbstract(kind:)": { extremes in
      for name in Extremes.strings {
        _ = extremes.store.schema.record(named: "Photo")?.isAbstract(kind: name)
      }
    },
  ]
}
