import GRDB

// A Codable record. Of GRDB's encodings for a date it has the one that is exact and the fastest; a UUID is its
// sixteen bytes, as by default.
extension Item: FetchableRecord, PersistableRecord {
  static let databaseTableName = "item"

  static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    .timeIntervalSinceReferenceDate
  }

  static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
    .timeIntervalSinceReferenceDate
  }
}
