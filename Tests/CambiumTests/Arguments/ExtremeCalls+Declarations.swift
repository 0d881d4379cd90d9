import FoundationEssentials

@testable import Cambium
@testable import InternalTestSupport

/// A record whose field was another one before the last version.
private struct LaterNamed: Record {
  var id = 1

  static func recordDescription(for version: Int) -> RecordDescription {
    if version < 60_000 {
      Field("key", primaryKey: true)
    } else {
      Field("id", primaryKey: true, migrationInfo: .init(renamingID: "key"))
    }
  }
}

extension ExtremeCalls {
  private static func fields(_ make: @escaping @Sendable () -> Field) {
    Extremes.describe { _ in
      Field(primaryKey: true, name: "id", type: .integer)
      make()
    }
  }

  private static func indexes(_ make: @escaping @Sendable () -> Index) {
    Extremes.describe { _ in
      Field(primaryKey: true, name: "id", type: .integer)
      make()
    }
  }

  private static func migrate(_ make: (String) -> UpdateField) {
    for name in Extremes.strings {
      Extremes.migrate(MigrationStep(to: 2) { UpdateRecord("Extreme") { make(name) } })
    }
  }

  static let declarations: [String: @Sendable (Extremes) throws -> Void] = [
    "Field.init(primaryKey:name:type:storage:optional:property:unique:indexed:default:validation:modifier:migrationInfo:userInfo:derived:generated:)":
      { _ in
        for text in Extremes.strings {
          fields { Field(name: text, type: .string) }
          fields { Field(name: "name", type: .string, property: text) }
          fields { Field(name: "name", type: .string, modifier: text) }
          fields { Field(name: "name", type: .string, userInfo: [text: text]) }
        }
        for value in Extremes.values {
          fields { Field(name: "name", type: .string, default: value) }
          fields { Field(name: "name", type: .date, default: value) }
        }
      },
    "Field.init(primaryKey:name:type:storage:optional:property:unique:indexed:default:validation:modifier:migrationInfo:userInfo:)":
      { _ in
        for text in Extremes.strings {
          fields { Field(name: text, type: .url, default: URL(string: "a:b")) }
        }
      },
    "Field.init(_:primaryKey:type:storage:optional:property:unique:indexed:default:validation:modifier:migrationInfo:userInfo:derived:generated:)":
      { _ in
        for text in Extremes.strings {
          fields { Field(text) }
          fields { Field(text, type: .string) }
          fields { Field("name", property: text) }
          fields { Field("name", type: .string, modifier: text) }
          fields { Field("name", type: .string, userInfo: [text: text]) }
        }
        for value in Extremes.values { fields { Field("name", type: .date, default: value) } }
      },
    "Field.init(_:primaryKey:type:storage:optional:property:unique:indexed:default:validation:modifier:migrationInfo:userInfo:)":
      { _ in
        for text in Extremes.strings {
          fields { Field(text, type: .url, default: URL(string: "a:b")) }
        }
      },
    "Record.typedDescription(for:)": { _ in
      for version in Extremes.integers {
        _ = Photo.typedDescription(for: version)
        _ = LaterNamed.typedDescription(for: version)
      }
    },
    "Derivation.count(of:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .integer, derived: .count(of: text)) }
      }
    },
    "Derivation.sum(of:_:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .integer, derived: .sum(of: text, text)) }
      }
    },
    "Derivation.minimum(of:_:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .date, derived: .minimum(of: text, text)) }
      }
    },
    "Derivation.maximum(of:_:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .date, derived: .maximum(of: text, text)) }
      }
    },
    "Derivation.sum(of:value:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .integer, derived: .sum(of: text, value: text)) }
      }
    },
    "Derivation.minimum(of:value:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .date, derived: .minimum(of: text, value: text)) }
      }
    },
    "Derivation.maximum(of:value:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .date, derived: .maximum(of: text, value: text)) }
      }
    },
    "Derivation.value(_:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .integer, derived: .value(text)) }
      }
    },
    "Derivation.lowercased(_:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .string, derived: .lowercased(text)) }
      }
    },
    "Derivation.uppercased(_:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .string, derived: .uppercased(text)) }
      }
    },
    "Derivation.folded(_:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .string, derived: .folded(text)) }
      }
    },
    "Generation.sequence(from:by:withoutGaps:)": { _ in
      for number in Extremes.integers {
        for type in [FieldType.integer, .int8, .uint64] {
          fields {
            Field(name: "n", type: type, unique: true, generated: .sequence(from: number))
          }
          fields {
            Field(name: "n", type: type, unique: true, generated: .sequence(by: number))
          }
        }
      }
    },
    "Expiry.init(_:after:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Expiry(text)
        }
      }
      for delay in Extremes.integers.flatMap({ [Duration.seconds($0), .nanoseconds($0)] }) {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "date", type: .date, indexed: true)
          Expiry("date", after: delay)
        }
      }
    },
    "Computed.init(_:dependsOn:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          RecordDescription.Computed(text, dependsOn: text, "id")
        }
      }
    },
    "Record.recordName(in:)": { _ in
      for version in Extremes.integers { _ = Photo.recordName(in: version) }
    },
    "Fingerprint.init(_:)": { _ in
      for text in Extremes.strings { _ = Fingerprint(text) }
    },
    "FieldStorage.external(threshold:compression:deduplicated:)": { _ in
      for number in Extremes.integers {
        fields { Field(name: "data", type: .binaryData, storage: .external(threshold: number)) }
      }
    },
    "FieldRule.length(_:)": { _ in
      for number in Extremes.integers {
        rule(.length(number...))
        rule(.length(...number))
        rule(.length(number...number))
      }
    },
    "FieldRule.pattern(_:)": { _ in
      for pattern in Extremes.strings { rule(.pattern(pattern)) }
    },
    "FieldRule.predicate(_:_:)": { _ in
      for text in Extremes.strings { rule(.predicate(text) { _ in false }) }
    },
    "Index.init(_:named:where:)": { _ in
      for text in Extremes.strings {
        indexes { Index(KeyField(stringLiteral: text)) }
        indexes { Index("id", named: text) }
      }
      for condition in Extremes.conditions { indexes { Index("id", where: condition) } }
    },
    "Unique.init(_:named:where:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Unique("id", named: text)
        }
      }
    },
    "Unique.init(fields:named:where:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          RecordDescription.Unique(fields: [], named: text)
        }
      }
    },
    "KeyField.init(stringLiteral:)": { _ in
      for text in Extremes.strings { indexes { Index(KeyField(stringLiteral: text)) } }
    },
    "KeyField.ascending(_:)": { _ in
      for text in Extremes.strings { indexes { Index(.ascending(text)) } }
    },
    "KeyField.descending(_:)": { _ in
      for text in Extremes.strings { indexes { Index(.descending(text)) } }
    },
    "KeyField.caseInsensitive(_:descending:)": { _ in
      for text in Extremes.strings { indexes { Index(.caseInsensitive(text)) } }
    },
    "KeyField.collated(_:by:descending:)": { _ in
      for text in Extremes.strings {
        indexes { Index(.collated(text, by: Collation("c") { _ in [] })) }
      }
    },
    "Collation.init(_:version:sortKey:)": { _ in
      for text in Extremes.strings {
        for key: [UInt8] in [[], [0], [UInt8](repeating: 255, count: 5_000)] {
          let collation = Collation(text, version: text) { _ in key }
          Extremes.describe { _ in
            Field(primaryKey: true, name: "id", type: .integer)
            Field(name: "text", type: .string)
            Unique(.collated("text", by: collation))
          }
        }
      }
    },
    "KeyField.elements(_:)": { _ in
      for text in Extremes.strings { indexes { Index(.elements(text)) } }
    },
    "KeyField.words(_:)": { _ in
      for text in Extremes.strings { indexes { Index(.words(text)) } }
    },
    "FieldType.reference(to:deleteRule:checked:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "other", type: .reference(to: text), optional: true) }
      }
    },
    "FieldType.references(to:deleteRule:count:checked:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "others", type: .references(to: text)) }
      }
      for number in Extremes.integers {
        fields { Field(name: "others", type: .references(to: "Extreme", count: number...)) }
        fields { Field(name: "others", type: .references(to: "Extreme", count: ...number)) }
        fields { Field(name: "others", type: .references(to: "Extreme", count: ..<number)) }
        fields { Field(name: "others", type: .references(to: "Extreme", count: number...number)) }
      }
    },
    "Inverse.init(_:of:deleteRule:count:renamingID:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Inverse(text, of: \Linked.next, renamingID: text)
        }
      }
      for number in Extremes.integers {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Inverse("last", of: \Linked.next, count: number...)
        }
      }
    },
    "Inverse.init(_:deleteRule:count:renamingID:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Inverse<Linked, Linked>(text, renamingID: text)
        }
      }
      for number in Extremes.integers {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Inverse<Linked, Linked>("last", count: number...)
        }
      }
    },
    "Inverse.init(_:of:isList:deleteRule:count:renamingID:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Inverse<Linked, Linked>("last", of: text)
        }
      }
    },
    "UntypedInverse.init(_:of:in:deleteRule:count:renamingID:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          UntypedInverse(text, of: text, in: text, renamingID: text)
        }
      }
      for number in Extremes.integers {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          UntypedInverse("last", of: "next", in: "Linked", count: number...)
        }
      }
    },
    "MigrationInfo.init(renamingID:)": { _ in
      for text in Extremes.strings {
        fields { Field(name: "name", type: .string, migrationInfo: .init(renamingID: text)) }
      }
    },
    "MigrationInfo.init(default:renamingID:)": { _ in
      for value in Extremes.values {
        fields { Field(name: "name", type: .uint8, migrationInfo: .init(default: value)) }
      }
    },
    "MigrationInfo.init(choosing:default:renamingID:)": { _ in
      for text in Extremes.strings {
        for choice in [ElementChoice.least(by: text), .greatest(by: text), .all(in: text)] {
          fields {
            Field(name: "name", type: .string, migrationInfo: .init(choosing: choice))
          }
        }
      }
      for value in Extremes.values {
        fields {
          Field(
            name: "name", type: .uint8, migrationInfo: .init(choosing: .first, default: value))
        }
      }
    },
    "RecordName.init(_:renamingID:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          RecordName(text, renamingID: text)
          Field(primaryKey: true, name: "id", type: .integer)
        }
      }
    },
    "UserInfo.init(_:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          RecordDescription.UserInfo([text: text])
          Field(primaryKey: true, name: "id", type: .integer)
        }
      }
    },
    "RecordModifier.init(_:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          RecordModifier(text)
          Field(primaryKey: true, name: "id", type: .integer)
        }
      }
    },
    "Parent.init(_:property:storage:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          RecordDescription.Parent(Photo.self, property: text)
          Field(name: "name", type: .string)
        }
      }
    },
    "Parent.init(_:storage:)": { _ in
      for text in Extremes.strings {
        for storage in [KindStorage.shared, .copied] {
          Extremes.describe { _ in
            RecordDescription.Parent(text, storage: storage)
            Field(name: "name", type: .string)
          }
        }
      }
    },
    "Family.init(_:_:)": { extremes in
      for text in Extremes.strings {
        let family = Family<Photo>(text) { FamilyMember(Photo.self) { $0 } }
        _ = try extremes.store.fetch(Query<Photo>(), as: family)
      }
    },
    "RemovedRecord.init(_:configurations:description:)": { _ in
      for name in Extremes.strings {
        let model = StoreModel(
          records: [Photo.self],
          removed: [
            RemovedRecord(name) { _ in Field(primaryKey: true, name: "id", type: .integer) }
          ])
        Extremes.attempt { _ = try PersistentStore(inMemory: model) }
      }
    },
    "Transient.init(_:default:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Transient(text, default: 0)
        }
      }
    },
    "Transient.init(_:default:tracked:)": { _ in
      for text in Extremes.strings {
        for isTracked in [true, false] {
          Extremes.describe { _ in
            Field(primaryKey: true, name: "id", type: .integer)
            Transient(text, default: Double.nan, tracked: isTracked)
          }
        }
      }
    },
    "Validation.init(_:holds:)": { _ in
      for text in Extremes.strings {
        Extremes.describe { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Validation(text) { (_: Photo) in true }
        }
      }
    },
    "MigrationStep.init(to:label:revision:_:)": { _ in
      for version in Extremes.integers { Extremes.migrate(MigrationStep(to: version)) }
      for label in Extremes.strings { Extremes.migrate(MigrationStep(to: 2, label: label)) }
      for revision in Extremes.integers {
        Extremes.migrate(MigrationStep(to: 2, revision: revision))
      }
    },
    "MigrationStep.init(from:to:label:revision:_:)": { _ in
      for version in Extremes.integers {
        Extremes.migrate(MigrationStep(from: version, to: 2))
        Extremes.migrate(MigrationStep(from: 1, to: version))
      }
    },
    "MigrationStep.init(squashing:to:label:revision:_:)": { _ in
      for version in Extremes.integers {
        Extremes.migrate(MigrationStep(squashing: version...version, to: 2))
        Extremes.migrate(MigrationStep(squashing: 1...1, to: version))
      }
      Extremes.migrate(MigrationStep(squashing: Int.min...Int.max, to: 2))
    },
    "UpdateRecord.init(_:_:)": { _ in
      for name in Extremes.strings {
        Extremes.migrate(MigrationStep(to: 2) { UpdateRecord(name) {} })
      }
    },
    "UpdateField.init(_:by:)": { _ in migrate { UpdateField($0, by: { _ in 1 }) } },
    "UpdateField.init(_:from:)": { _ in
      migrate { UpdateField($0, from: { _ in 1 }) }
      migrate { UpdateField($0, from: { _, before in try before.count(record: "Extreme") }) }
    },
    "UpdateField.init(_:path:)": { _ in
      migrate { UpdateField($0, path: "id") }
      migrate { UpdateField("added", path: $0) }
      migrate { UpdateField("added", path: "id." + $0) }
    },
    "UpdateField.init(_:converting:)": { _ in
      migrate { UpdateField($0, converting: .refuse) }
      for value in Extremes.values {
        Extremes.migrate(
          MigrationStep(to: 2) {
            UpdateRecord("Extreme") { UpdateField("text", converting: .replace(value)) }
          }
        )
      }
    },
    "UpdateField.init(_:choosing:)": { _ in
      migrate { UpdateField($0, choosing: .first) }
      migrate { UpdateField("text", choosing: .least(by: $0)) }
      migrate { UpdateField("text", choosing: .all(in: $0)) }
    },
    "UpdateField.init(_:value:)": { _ in
      migrate { UpdateField($0, value: 1) }
      for value in Extremes.values {
        Extremes.migrate(
          MigrationStep(to: 2) { UpdateRecord("Extreme") { UpdateField("text", value: value) } })
      }
    },
    "TransformRecords.init(_:into:by:)": { _ in
      for name in Extremes.strings {
        Extremes.migrate(MigrationStep(to: 2) { TransformRecords(name) { _, _ in } })
        Extremes.migrate(
          MigrationStep(to: 2) { TransformRecords("Extreme", into: name) { _, _ in } })
        Extremes.migrate(
          MigrationStep(to: 2) { TransformRecords(name, into: [name]) { _, _ in } })
        Extremes.migrate(
          MigrationStep(to: 2) { TransformRecords("Extreme", into: name) { _, _, _ in } })
      }
    },
    "UUID.init(of:in:)": { _ in
      for name in Extremes.strings {
        for value in Extremes.values { _ = UUID(of: value, in: name) }
      }
    },
    "OldRecord.subscript(field:)": { _ in
      for name in Extremes.strings {
        Extremes.migrate(
          MigrationStep(to: 2) {
            UpdateRecord("Extreme") { UpdateField("text", from: { try $0[name] }) }
          })
      }
    },
    "OldRecord.subscript(field:as:)": { _ in
      for name in Extremes.strings {
        Extremes.migrate(
          MigrationStep(to: 2) {
            UpdateRecord("Extreme") { UpdateField("text", from: { try $0[name, as: String.self] }) }
          })
      }
    },
    "RecordEmitter.callAsFunction(_:)": { _ in
      emit { record, emit in try emit(record) }
    },
    "RecordEmitter.upsert(_:merging:)": { _ in
      emit { record, emit in try emit.upsert(record) { _, new in new } }
    },
    "CheckRecords.init(_:_:body:)": { _ in
      for text in Extremes.strings {
        Extremes.migrate(MigrationStep(to: 2) { CheckRecords(text, Extreme.self) { _ in } })
      }
    },
  ]

  private static func rule(_ rule: FieldRule) {
    fields { Field(name: "text", type: .string, validation: [rule]) }
  }

  private static func emit(
    _ body: @escaping @Sendable (DynamicRecord, RecordEmitter) throws -> Void
  ) {
    for value in Extremes.values {
      Extremes.migrate(
        MigrationStep(to: 2) {
          TransformRecords("Extreme") { _, emit in
            try body(DynamicRecord("Extreme", ["id": value, "added": value]), emit)
          }
        })
    }
    for name in Extremes.strings {
      Extremes.migrate(
        MigrationStep(to: 2) {
          TransformRecords("Extreme") { _, emit in
            try body(DynamicRecord(name, [name: 1]), emit)
          }
        })
    }
  }
}

/// A record that leads to another of its type.
struct Linked: Record, Identifiable {
  var id: Int
  var next: Reference<Linked>?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "next", type: .reference(to: Linked.self), optional: true)
  }
}
