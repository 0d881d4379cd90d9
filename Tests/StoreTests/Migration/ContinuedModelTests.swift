import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Models of versions that are described apart from the types of a program: by the store, or beside the types.
@Suite struct ContinuedModelTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws { directory = try TemporaryDirectory() }

  private struct Car: Record, Identifiable, Equatable {
    var id: Int
    var paintColor: String
    var doors: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "paintColor", type: .string)
      Field(name: "doors", type: .integer)
    }
  }

  @RecordDescription.ResultBuilder
  private static func vehicle(_ color: String) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: color, type: .string)
  }

  /// What the type does not say: its names before, and a default for what is new.
  @RecordDescription.ResultBuilder
  private static func origins() -> RecordDescription {
    RecordName("Car", renamingID: "Vehicle")
    Field(name: "paintColor", type: .string, migrationInfo: .init(renamingID: "color"))
    Field(name: "doors", type: .integer, migrationInfo: .init(default: 4))
  }

  private func make(_ model: StoreModel) throws {
    let store = try PersistentStore(at: path, model: model)
    try store.write { transaction in
      try transaction.save(DynamicRecord("Vehicle", ["id": 1, "color": "red"]))
    }
    try store.close()
  }

  @Test func `types take names and defaults of the version before from descriptions beside them`()
    throws
  {
    let first = ModelVersion(1, describing: ["Vehicle": Self.vehicle("color")])
    try make(StoreModel([first]))
    let bare = StoreModel([first, ModelVersion(2, records: [Car.self])])
    #expect(try bare.changes(from: 1, to: 2).map(\.record) == ["Vehicle", "Car"])
    let second = ModelVersion(2, records: [Car.self], describing: ["Car": Self.origins()])
    let store = try PersistentStore(at: path, model: StoreModel([first, second]))
    #expect(try store.fetch(Car.self) == [Car(id: 1, paintColor: "red", doors: 4)])
    try store.expectSound()
    try store.close()
  }

  @Test func `a model continues the versions of a store that it does not know`() throws {
    // The store has the versions 2 and 3 only.
    let known = [1, 2, 3].map { number in
      ModelVersion(number, describing: ["Vehicle": Self.vehicle("color")])
    }
    try make(StoreModel(Array(known.prefix(2))))
    try PersistentStore(at: path, model: StoreModel(known)).close()
    let schemas = try PersistentStore.inspect(at: path).schemas
    #expect(schemas.map(\.version) == [2, 3])
    let newer = ModelVersion(4, records: [Car.self], describing: ["Car": Self.origins()])
    let model = try StoreModel(continuing: schemas, with: [newer])
    let store = try PersistentStore(at: path, model: model)
    #expect(try store.fetch(Car.self) == [Car(id: 1, paintColor: "red", doors: 4)])
    try store.close()
    // The program may go on stating what the version before was called, and may stand for the store's last version.
    let now = try PersistentStore.inspect(at: path).schemas
    let next = ModelVersion(5, records: [Car.self], describing: ["Car": Self.origins()])
    try PersistentStore(at: path, model: try StoreModel(continuing: now, with: [next])).close()
    let last = try StoreModel(
      continuing: try PersistentStore.inspect(at: path).schemas,
      with: [ModelVersion(5, records: [Car.self])])
    let again = try PersistentStore(at: path, model: last, migration: .refuse)
    #expect(try again.fetch(Car.self) == [Car(id: 1, paintColor: "red", doors: 4)])
    try again.expectSound()
    try again.close()
  }

  @Test func `a model does not continue versions in disorder`() throws {
    let schemas = try StoreModel([
      ModelVersion(1, describing: ["Vehicle": Self.vehicle("color")]),
      ModelVersion(2, describing: ["Vehicle": Self.vehicle("color")]),
    ]).schemas()
    for wrong in [Array(schemas.reversed()), [schemas[0], schemas[0]]] {
      #expect(storeError { try StoreModel(continuing: wrong, with: []) } != nil)
    }
    let skipping = try StoreModel(
      continuing: schemas, with: [ModelVersion(4, records: [Car.self])])
    #expect(storeError { try skipping.checked() } != nil)
  }

  @Test func `descriptions without a type are in every configuration`() throws {
    let model = StoreModel([
      ModelVersion(
        1, records: [Car.self], describing: ["Vehicle": Self.vehicle("color")],
        configurations: ["cars": [Car.self], "others": []])
    ])
    #expect(
      try model.configuration("cars").schemas()[0].records.map(\.name) == ["Car", "Vehicle"])
    #expect(try model.configuration("others").schemas()[0].records.map(\.name) == ["Vehicle"])
  }
}
