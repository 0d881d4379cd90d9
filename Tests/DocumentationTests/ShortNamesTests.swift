import Cambium
import Testing

/// A record that is described by a function of the program's own.
private struct Stamp: Record {
  var id: Int
  var code: String
  var isSelected = true
  var text: String { code }

  static func recordDescription(for version: Int) -> RecordDescription {
    stamps()
  }
}

private struct RareStamp: Record {
  var stamp: Stamp

  static func recordDescription(for version: Int) -> RecordDescription {
    rareStamps()
  }
}

@RecordDescription.ResultBuilder
private func stamps() -> RecordDescription {
  Field(name: "id", type: .integer)
  Field(name: "code", type: .string)
  PrimaryKey("id")
  Index("code", named: "by code")
  Unique("code", named: "once")
  Transient("isSelected", default: false)
  Computed("text", dependsOn: "code")
  UserInfo(["owner": "post"])
  Validation("it has a code") { (stamp: Stamp) in !stamp.code.isEmpty }
  Abstract()
}

@RecordDescription.ResultBuilder
private func rareStamps() -> RecordDescription {
  Parent(Stamp.self, property: "stamp")
}

@Suite struct ShortNamesTests {
  @Test func `the parts of a description have short names wherever a field has`() throws {
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Stamp.self, RareStamp.self]))
    let record = try #require(store.schema.record(named: "Stamp"))
    #expect(record.isAbstract && record.userInfo == ["owner": "post"])
    #expect(record.indexes.map(\.name).sorted() == ["by code", "once"])
    #expect(throws: StoreError.self) {
      try store.save(RareStamp(stamp: Stamp(id: 1, code: "")))
    }
    try store.save(RareStamp(stamp: Stamp(id: 1, code: "a")))
    #expect(try store.fetch(RareStamp.self, key: 1)?.stamp.isSelected == false)
    try store.close()
  }
}
