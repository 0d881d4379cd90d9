@testable import Cambium

extension QueryRunner {
  /// The records of a query, found by the candidate at place `forced`, whatever it costs; by the best where nil.
  func find(_ query: FieldQuery, forced: Int?) throws(StoreError) -> FoundRecords {
    guard let forced else { return try find(query) }
    let planner = QueryPlanner(record, in: trees)
    let (planned, candidates) = try planner.candidates(query, for: .records)
    let plan = try planner.finish(candidates[forced], planned)
    return try FoundRecords(plan, query, of: record, in: trees, planner.encoder)
  }
}
