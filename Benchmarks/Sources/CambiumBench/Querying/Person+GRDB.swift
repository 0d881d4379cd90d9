import GRDB

extension Person: FetchableRecord, PersistableRecord {
  static let databaseTableName = "person"
}
