import TestSupport

@testable import Cambium

typealias Describing = @Sendable (Int) -> RecordDescription

/// A record type whose description a test says.
struct Item: Record {
  static let describing = PerThread<Describing>({ _ in RecordDescription() })

  static func recordDescription(for version: Int) -> RecordDescription {
    describing.value(version)
  }
}

/// Another one.
struct Other: Record {
  static let describing = PerThread<Describing>({ _ in RecordDescription() })

  static func recordDescription(for version: Int) -> RecordDescription {
    describing.value(version)
  }
}

/// The result of a model of these descriptions.
func checked(
  version: Int = 1, after previous: Schema? = nil, removed: [RemovedRecord] = [],
  other: @escaping Describing = { _ in RecordDescription() },
  @RecordDescription.ResultBuilder _ item: @escaping Describing
) -> Result<CheckedModel, StoreError> {
  Item.describing.withValue(item) {
    Other.describing.withValue(other) {
      let model = StoreModel(
        version: version, records: [Item.self, Other.self], removed: removed)
      return Result { () throws(StoreError) in try model.checked(after: previous) }
    }
  }
}

func schema(
  version: Int = 1, after previous: Schema? = nil, removed: [RemovedRecord] = [],
  other: @escaping Describing = { _ in RecordDescription() },
  @RecordDescription.ResultBuilder _ item: @escaping Describing
) throws(StoreError) -> Schema {
  try checked(version: version, after: previous, removed: removed, other: other, item).get().schema
}

/// A description, so that tables can have them.
func description(
  @RecordDescription.ResultBuilder _ statements: () -> RecordDescription
) -> RecordDescription {
  statements()
}

extension RecordSchema {
  /// The numbers of the fields by their names.
  var numbers: [String: UInt32] {
    Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.number) })
  }
}
