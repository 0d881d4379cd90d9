@testable import Cambium

extension [Schema] {
  /// The schemas with their fields in the order of others: a lock has them in the order of names.
  func ordered(as others: [Schema]) -> [Schema] {
    zip(self, others).map { schema, other in
      var schema = schema
      for (place, record) in other.records.enumerated() where place < schema.records.count {
        schema.records[place].order = record.order
      }
      return schema
    }
  }
}
