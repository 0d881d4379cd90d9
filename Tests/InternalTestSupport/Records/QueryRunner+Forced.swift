@testable import Cambium

extension QueryRunner {
  /// The records of a query, found by the candidate at place `forced`, whatever it costs; by the best where nil.
  ///
  /// - Parameter way: The way in which all conditions across relations are decided; nil for the cheaper one of each.
  func find(
    _ query: FieldQuery, forced: Int?, _ way: RelatedPlan.Way? = nil
  ) throws(StoreError) -> FoundRecords {
    guard let forced else { return try find(query) }
    var planner = planner()
    planner.relatedWay = way
    let (planned, candidates) = try planner.candidates(query, for: .records)
    let plan = try planner.finish(candidates[forced], planned)
    return try FoundRecords(plan, query, of: record, in: trees, planner.encoder)
  }
}
