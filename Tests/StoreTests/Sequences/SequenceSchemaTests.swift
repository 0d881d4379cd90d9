import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Sequences in descriptions, schemas and locks.
@Suite struct SequenceSchemaTests {
  private static func model(_ field: Field, key: Field? = nil) -> StoreModel {
    var elements: [RecordDescription.Element] = [
      .init(kind: .field(key ?? Field(primaryKey: true, name: "id", type: .integer)))
    ]
    elements.append(.init(kind: .field(field)))
    return untyped(("R", RecordDescription(elements)))
  }

  @Test func `A25: what cannot be numbered is refused, and the error has the line to write`() throws
  {
    let refused: [(String, Field)] = [
      (
        #"Field(name: "n", type: .int16, unique: true, generated: .sequence(from: 3))"#,
        Field(name: "n", type: .int16, generated: .sequence(from: 3))
      ),
      (
        #"Field(name: "n", type: .integer, unique: true, generated: .sequence)"#,
        Field(name: "n", type: .integer, indexed: true, generated: .sequence)
      ),
      ("are integers", Field(name: "n", type: .string, unique: true, generated: .sequence)),
      ("are integers", Field(name: "n", type: .double, unique: true, generated: .sequence)),
      (
        "are integers",
        Field(name: "n", type: .array(of: .integer), unique: true, generated: .sequence)
      ),
      (
        "at least 1", Field(name: "n", type: .integer, unique: true, generated: .sequence(from: 0))
      ),
      ("at least 1", Field(name: "n", type: .integer, unique: true, generated: .sequence(by: -2))),
      (
        "no default",
        Field(name: "n", type: .integer, unique: true, default: 4, generated: .sequence)
      ),
      (
        "state one of both",
        Field(
          name: "n", type: .string, unique: true, derived: .folded("id"), generated: .sequence)
      ),
      (
        "part of a composite",
        Field(
          name: "c",
          type: .composite {
            Field(name: "n", type: .integer, unique: true, generated: .sequence)
          })
      ),
    ]
    for (sentence, field) in refused {
      let error = storeError { try Self.model(field).schemas() }
      guard case .invalidDescription("R", _, 1, let reason)? = error else {
        Issue.record("\(sentence): \(String(describing: error))")
        continue
      }
      #expect(reason.contains(sentence), "\(reason)")
    }
  }

  private static let generations: [Generation] = [
    .sequence, .sequence(from: 7), .sequence(by: 10), .sequence(withoutGaps: true),
    .sequence(from: 1_000, by: 5, withoutGaps: true),
  ]

  @Test func `a sequence is in the fingerprint, the lock, the schema's bytes and the Swift form`()
    throws
  {
    var fingerprints: Set<Fingerprint> = []
    for generation in Self.generations {
      let model = Self.model(
        Field(name: "n", type: .uint32, unique: true, generated: generation))
      let schema = try model.checked().schema
      fingerprints.insert(schema.fingerprint)
      let bytes = try schema.published()
      let decoded = try Schema(decoding: bytes.rawSpan, version: 1, path: "")
      #expect(
        decoded.record(named: "R")?.field(named: "n")?.derivation?.sequence == generation.sequence)
      let lock = try SchemaLock(model)
      #expect(try SchemaLock(parsing: "\(lock)") == lock)
      #expect("\(lock)".contains("field n uint32 derived \(generation.sequence)"))
      #expect(try StoreModel(lock).checked().schema.fingerprint == schema.fingerprint)
      let record = try #require(schema.record(named: "R"))
      let swift = record.swiftStatements(isNamed: false, in: schema)
      #expect(
        swift.contains { $0.contains("generated: \(generation.sequence.swift))") }, "\(swift)")
    }
    fingerprints.insert(
      try Self.model(Field(name: "n", type: .uint32, unique: true)).checked().schema.fingerprint)
    #expect(fingerprints.count == Self.generations.count + 1)
  }

  @Test func `a sequence in a damaged schema is refused`() throws {
    let schema = try Self.model(
      Field(name: "n", type: .uint32, unique: true, generated: .sequence(from: 3))
    ).checked().schema
    func refuses(_ change: (inout FieldSchema) -> Void) -> Bool {
      var damaged = schema
      change(&damaged.records[0].fields[1])
      let error = storeError { () throws(StoreError) in
        try Schema(decoding: damaged.encoded().rawSpan, version: 1, path: "")
      }
      return error?.breaks(.schemaContents) ?? false || error?.breaks(.schemaLayout) ?? false
    }
    #expect(!refuses { _ in })
    #expect(refuses { $0.derivation?.sequence?.first = 0 })
    #expect(refuses { $0.derivation?.sequence?.step = -1 })
    #expect(refuses { $0.derivation?.sequence = nil })
    #expect(refuses { $0.derivation?.sourceNumber = 1 })
    #expect(refuses { $0.type = .scalar(.string) })
  }
}
