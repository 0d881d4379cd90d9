import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A store in memory whose records are described version by version and have no Swift types. Each migration is of a
/// copy.
struct DescribedStore {
  private let model: StoreModel
  private let image: StoreImage

  /// - Parameters:
  ///   - count: How many versions there are.
  ///   - first: The version of the store.
  ///   - records: Each record that it holds.
  init(
    versions count: Int, from first: Int = 1, holding records: [DynamicRecord],
    @RecordDescription.ResultBuilder _ describe: @escaping @Sendable (Int) -> RecordDescription
  ) throws {
    model = StoreModel(version: count, untyped: [RemovedRecord("R", description: describe)])
    image = StoreImage()
    let store = try image.open(model.dynamic(version: first))
    try store.write { transaction in
      for record in records { try transaction.save(record) }
    }
    try store.close()
  }

  /// Opens a copy with the model of each version in turn, and returns the records of the last.
  func records(
    through versions: Int..., steps: [MigrationStep] = [], migration: MigrationMode = .automatic
  ) throws -> [DynamicRecord] {
    let image = image.copy()
    var records: [DynamicRecord] = []
    for version in versions {
      let store = try image.open(
        model.dynamic(version: version),
        steps: steps.filter { $0.to <= version || $0.to < $0.from.lowerBound },
        migration: migration)
      records = try store.allRecords()
      try store.expectSound()
      while try store.finishMigration(budget: WorkBudget(records: 1)) {}
      #expect(try store.allRecords() == records)
      try store.close()
    }
    return records
  }

  func plan(to version: Int, steps: [MigrationStep]) throws -> MigrationRoute {
    let schemas = try model.schemas()
    return try MigrationRoute(
      from: schemas[0], history: [schemas[0]], to: model.dynamic(version: version), steps,
      MigrationOptions())
  }
}
