import Cambium
import Testing

/// The texts of errors name the failure, its place, and the next thing to do.
@Suite struct ErrorTextTests {
  private static let texts: [(StoreError, String)] = [
    (
      .full(path: "shop/log-1"),
      "No space left to write shop/log-1. Free some and try again; nothing was lost, and a store that is there can be"
        + " opened for reading meanwhile."
    ),
    (
      .corrupt(.log(file: 1, block: 0), invariant: .logHeader, reason: "the file is too short"),
      "Block 0 of log-1 is damaged (invariant L1): the file is too short. Restore the store from a backup, or copy its readable"
        + " part with `cambium backup --skip-damaged`, or with `cambium salvage` if it cannot be opened."
    ),
    (
      .missing(path: "a blob that was deleted"),
      "The content of a blob was deleted: neither a record nor an old value that is kept has it any more. Fetch the record"
        + " again."
    ),
    (
      .invalidValue(record: "Item", field: "price", reason: "must be at least 0"),
      "Item.price is not valid: must be at least 0. The record was not saved."
    ),
    (
      .invalidQuery(record: "Trip", field: "nam", reason: "there is no such field"),
      "Trip.nam cannot be queried: there is no such field. Correct the query."
    ),
    (
      .stepFailed(version: 2, source: "Step", reason: "One. Two."),
      "The step to version 2 failed at Step: One. Two. Nothing was changed. Correct the record or the step, and"
        + " migrate again."
    ),
    (
      .limitExceeded(.valueLength, found: 104_857_678),
      "valueLength is 104857678, more than the 16777216 allowed. Store large fields outside of the record, with"
        + " `storage: .external()`."
    ),
  ]

  @Test func `errors say what failed, on what, and what to do`() {
    for (error, text) in Self.texts { #expect("\(error)" == text) }
  }

  @Test func `no text ends in two stops`() {
    let errors: [StoreError] = [
      .cannotMigrate(from: 1, to: 2, reasons: ["It is so.", "so it is"]),
      .invalidDescription(record: "R", field: nil, version: 1, reason: "It is so."),
      .stepFailed(version: 1, source: "R", reason: "It is so."),
      .invalidValue(record: "R", field: nil, reason: "It is so."),
      .invalidQuery(record: "R", field: nil, reason: "It is so."),
      .unreadableRecord(record: "R", key: "1", field: nil, reason: "It is so."),
    ]
    for error in errors { #expect(!"\(error)".contains(".."), "\(error)") }
    #expect(
      "\(StoreError.schemaMismatch(version: 2, differences: [SchemaDifference(.removed, of: "E")]))"
        .contains("RemovedRecord"))
  }
}
