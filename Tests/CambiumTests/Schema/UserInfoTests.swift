import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Annotations of records and fields.
@Suite struct UserInfoTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private let model = StoreModel(records: [Parcel.self])

  private func open(
    _ info: ParcelInfo, options: StoreOptions = StoreOptions(),
    _ body: (PersistentStore) throws -> Void = { _ in }
  ) throws {
    try Parcel.$info.withValue(info) {
      let store = try PersistentStore(at: path, model: model, options: options)
      try body(store)
      try store.close()
    }
  }

  private func schema(_ info: ParcelInfo) throws -> Schema {
    try Parcel.$info.withValue(info) { try model.checked().schema }
  }

  private func stored() throws -> RecordSchema {
    let schema = try #require(try PersistentStore.inspect(at: path).schemas.last)
    return try #require(schema.record(named: "Parcel"))
  }

  @Test
  func `A24: annotations are kept, and follow the program that opens the store`()
    throws
  {
    try open(ParcelInfo(record: ["owner": "billing"], field: ["unit": "kg", "label": "Gewicht"])) {
      store in
      try store.save(Parcel(id: 1))
      #expect(store.schema.record(named: "Parcel")?.userInfo == ["owner": "billing"])
    }
    #expect(try stored().userInfo == ["owner": "billing"])
    #expect(try stored().field(named: "weight")?.userInfo == ["unit": "kg", "label": "Gewicht"])
    #expect(try stored().field(named: "size.width")?.userInfo == ["unit": "cm"])
    let untyped = try PersistentStore(untypedAt: path)
    #expect(untyped.schema.record(named: "Parcel")?.userInfo == ["owner": "billing"])
    try untyped.close()
    // A program without types has none of its own, so it changes none.
    #expect(try stored().userInfo == ["owner": "billing"])

    try open(ParcelInfo(record: ["owner": "shipping"]))
    #expect(try stored().userInfo == ["owner": "shipping"])
    #expect(try stored().field(named: "weight")?.userInfo == [:])
    try open(ParcelInfo()) { store in
      let count = try store.count(Parcel.self)
      #expect(count == 1)
    }
    #expect(try stored().userInfo == [:])
  }

  @Test func `a store that is only read, or whose annotations are the same, is not written`() throws
  {
    let info = ParcelInfo(record: ["owner": "billing"], field: ["unit": "kg"])
    try open(info)
    let sequence = try PersistentStore.inspect(at: path).sequence
    try open(info)
    var reading = StoreOptions()
    reading.access = .reading
    try open(ParcelInfo(record: ["owner": "shipping"]), options: reading) { store in
      #expect(store.schema.record(named: "Parcel")?.userInfo == ["owner": "shipping"])
    }
    #expect(try PersistentStore.inspect(at: path).sequence == sequence)
    #expect(try stored().userInfo == ["owner": "billing"])
  }

  @Test func `annotations are in no fingerprint, and a new version has its own`() throws {
    let (first, second) = (ParcelInfo(), ParcelInfo(record: ["a": "b"], field: ["c": "d"]))
    #expect(try schema(first).fingerprint == schema(second).fingerprint)
    #expect(try schema(first).differences(to: schema(second)) == [])
    try open(second)
    try Parcel.$info.withValue(ParcelInfo(record: ["e": "f"])) {
      let store = try PersistentStore(
        at: path, model: StoreModel(version: 2, records: [Parcel.self]))
      try store.close()
    }
    #expect(
      try PersistentStore.inspect(at: path).schemas.map { $0.records[0].userInfo } == [
        ["a": "b"], ["e": "f"],
      ])
  }

  @Test func `of two statements the later counts, and a kind has annotations of its own`() throws {
    let both = description {
      Field(primaryKey: true, name: "id", type: .integer)
      RecordDescription.UserInfo(["a": "1", "b": "1"])
      RecordDescription.UserInfo(["b": "2"])
    }
    let kind = description {
      RecordDescription.Parent("Parcel")
      RecordDescription.UserInfo(["kind": "yes"])
      Field(name: "days", type: .integer)
    }
    let copied = description {
      RecordDescription.Parent("Parcel", storage: .copied)
    }
    let model = untyped(("Parcel", both), ("Express", kind), ("Other", copied))
    let schema = try model.checked().schema
    let parcel = try #require(schema.record(named: "Parcel"))
    #expect(parcel.userInfo == ["a": "1", "b": "2"])
    #expect(parcel.field(named: "Express")?.userInfo == ["kind": "yes"])
    #expect(schema.record(named: "Other")?.userInfo == [:])
    #expect(try Schema(decoding: schema.encoded().rawSpan, version: 1, path: "") == schema)
    let lock = try SchemaLock(model)
    let again = try StoreModel(SchemaLock(parsing: "\(lock)")).checked().schema
    #expect(again.record(named: "Parcel")?.field(named: "Express")?.userInfo == ["kind": "yes"])
  }

  @Test func `a lock has annotations, and a change of them is harmless`() throws {
    let info = ParcelInfo(
      record: ["owner": "billing", "odd name": "a\n\"b\""], field: ["unit": "kg", "b": ""])
    try Parcel.$info.withValue(info) {
      let lock = try SchemaLock(model)
      let lines = "\(lock)".split(separator: "\n").map { String($0.drop { $0 == " " }) }
      #expect(
        lines.filter { $0.hasPrefix("info ") } == [
          #"info "odd name" "a\n\"b\"""#, #"info owner "billing""#,
        ])
      #expect(lines.contains(#"field weight double info b "" info unit "kg""#))
      #expect(try SchemaLock(parsing: "\(lock)") == lock)
      let described = try StoreModel(lock).checked().schema.records[0]
      #expect(described.userInfo == info.record)
      #expect(described.field(named: "weight")?.userInfo == info.field)
      let swift = described.swiftStatements(isNamed: false, in: try schema(info))
      #expect(swift.contains(#"UserInfo(["odd name": "a\n\"b\"", "owner": "billing"])"#))
      #expect(
        swift.contains(
          #"Field(name: "weight", type: .double, userInfo: ["b": "", "unit": "kg"])"#))

      let file = directory.path + "/Schema.lock"
      try SchemaLock.write(model, at: file)
      try SchemaLock.check(model, at: file)
      try Parcel.$info.withValue(ParcelInfo(field: ["unit": "g"])) {
        let error = #expect(throws: SchemaLockError.self) {
          try SchemaLock.check(model, at: file)
        }
        guard case .outdated(1, let differences, _)? = error else {
          Issue.record("\(error.map { "\($0)" } ?? "nothing")")
          return
        }
        #expect(
          differences.map { "\($0)" } == [
            #"Parcel: the user info was info "odd name" "a\n\"b\"", info owner "billing" and is none"#,
            #"Parcel.weight: the user info was info b "", info unit "kg" and is info unit "g""#,
          ])
        try SchemaLock.write(model, at: file)
        try SchemaLock.check(model, at: file)
      }
    }
  }

  @Test func `names of annotations are 1 to 255 bytes long`() throws {
    for name in ["", String(repeating: "n", count: 256)] {
      for info in [ParcelInfo(record: [name: "a"]), ParcelInfo(field: [name: "a"])] {
        let error = #expect(throws: StoreError.self) { try schema(info) }
        guard case .invalidDescription("Parcel", _, 1, let reason)? = error else {
          Issue.record("\(error.map { "\($0)" } ?? "nothing")")
          continue
        }
        #expect(reason == "the name of an annotation is empty or over 255 bytes long")
      }
    }
    _ = try schema(ParcelInfo(record: [String(repeating: "n", count: 255): ""]))
  }

  @Test func `the element is laid out as the table says, and one that is not is damage`() throws {
    let schema = try schema(ParcelInfo(record: ["b": "2", "a": "1"]))
    let bytes = schema.encoded()
    func text(_ text: String) -> Bytes { [UInt8(text.utf8.count), 0, 0, 0] + Bytes(text.utf8) }
    let payload = [2, 0, 0, 0] + text("a") + text("1") + text("b") + text("2")
    let element: Bytes = [12, 0, 0, 0, UInt8(payload.count), 0, 0, 0]
    let place = try #require(bytes.firstRange(of: element + payload))
    try ByteTable("User info element", in: FormatDocument()).verify(
      payload, ["count": [2, 0, 0, 0], "annotations": Bytes(payload.dropFirst(4))])
    for (old, new) in [("a", "b"), ("a", "c")] {
      var damaged = bytes
      let name = try #require(bytes[place].firstRange(of: Bytes(old.utf8)))
      damaged[name.lowerBound] = Bytes(new.utf8)[0]
      let error = #expect(throws: StoreError.self) {
        try Schema(decoding: damaged.rawSpan, version: 1, path: "")
      }
      guard case .corrupt(_, .schemaLayout, let reason)? = error else {
        Issue.record("\(error.map { "\($0)" } ?? "nothing")")
        continue
      }
      #expect(reason.contains("its annotations are out of order"))
    }
    // Those that do not know the element pass over it: its flag does not say that they must not.
    var unknown = bytes
    unknown[place.lowerBound] = 99
    var plain = schema
    plain.records[0].userInfo = [:]
    #expect(try Schema(decoding: unknown.rawSpan, version: 1, path: "") == plain)
  }
}

/// The annotations of `Parcel`.
private struct ParcelInfo: Sendable {
  var record: [String: String] = [:]
  var field: [String: String] = [:]
}

private struct Parcel: Record, Identifiable {
  var id: Int
  var weight = 1.0
  var size = Size()

  struct Size: Codable, Hashable, Sendable {
    var width = 1.0
  }

  @TaskLocal static var info = ParcelInfo()

  static func recordDescription(for version: Int) -> RecordDescription {
    UserInfo(info.record)
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "weight", type: .double, userInfo: info.field)
    Field(
      name: "size",
      type: .composite { Field(name: "width", type: .double, userInfo: ["unit": "cm"]) })
    if version > 1 { Index("weight") }
  }
}
