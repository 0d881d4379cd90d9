package import Cambium

/// The tables that a store becomes, and everything that does not go over exactly.
package struct PostgresPlan: Sendable {
  /// The version of the store's records, with its fingerprint.
  package let schema: Schema
  package let options: PlanOptions
  /// In the order of the records' names.
  package internal(set) var tables: [TablePlan] = []
  /// The features of the schema that the database does not keep as the store does.
  package internal(set) var notes: [PlanNote] = []
  /// The references to records of one kind that have a foreign key, which does not check the kind.
  var kindReferences: [KindReference] = []
}

/// A checked reference to records of one kind.
struct KindReference: Sendable {
  /// The stored names of the record that has it, and of the one that it leads to.
  let record: String
  let destination: String
  let field: FieldSchema
  let path: FieldPath
  /// The type of its value, or of its elements.
  let scalar: ScalarType
  let kindPath: FieldPath
  /// The column of the destination's table that is true for records of the kind.
  let presence: String
}

package struct PlanOptions: Sendable, Hashable, Codable {
  /// The schema of the database that gets the tables.
  package var schema = "public"
  package var names = NameStyle.snake
  package var dates = DateForm.timestamp
  package var lists = ListForm.join
  /// Nil if all tables are on the server of the address.
  package var division: Division?

  package init() {}
}

/// How lists of checked references go over.
package enum ListForm: String, CaseIterable, Sendable, Codable {
  /// As tables with a row for each element, so that foreign keys check them.
  case join
  /// As arrays, which nothing checks.
  case array
}

/// A sentence about a record or a field.
package struct PlanNote: Sendable, Hashable, Encodable {
  package let record: String
  /// Nil if it is about the whole record.
  package let field: String?
  package let text: String
}

/// A record's table.
package struct TablePlan: Sendable {
  package let record: RecordSchema
  package let name: String
  package internal(set) var columns: [ColumnPlan] = []
  /// The columns of the primary key, with the order of each.
  package internal(set) var key: [KeyColumn] = []
  package internal(set) var checks: [CheckPlan] = []
  package internal(set) var indexes: [IndexPlan] = []
  package internal(set) var foreignKeys: [ForeignKeyPlan] = []
  package internal(set) var lists: [ListPlan] = []
  /// Nil if it is on one server.
  package internal(set) var division: TableDivision?

  /// The columns that are copied: all that the server does not compute.
  package var copied: [ColumnPlan] { columns.filter { $0.generated == nil } }

  /// The column that is true for records of a kind; nil if the record has no such kind.
  func presence(ofKind kind: String) -> ColumnPlan? {
    columns.first { column in
      if case .isSet = column.source { return column.field == kind }
      return false
    }
  }

  /// The kinds of which a record is that meets a condition; nil if the condition says anything else.
  func kinds(requiredBy condition: FieldCondition) -> [FieldSchema]? {
    switch condition {
    case .comparison(let name, .notEqual, .null):
      guard record.kindNames.contains(name), let kind = record.field(named: name) else {
        return nil
      }
      return [kind]
    case .and(let terms):
      let found = terms.map { kinds(requiredBy: $0) }
      return found.contains { $0 == nil } ? nil : found.flatMap { $0 ?? [] }
    default: return nil
    }
  }
}

package struct KeyColumn: Sendable, Hashable {
  package let name: String
  package let isDescending: Bool
}

package struct ColumnPlan: Sendable {
  package let name: String
  package let type: SQLType
  package var isArray = false
  package var isNullable = false
  /// The literal of the default.
  package var defaultValue: String?
  /// The expression that the server computes it by.
  package var generated: String?
  /// The options of the sequence that gives new values.
  package var identity: SequenceSchema?
  package let source: ColumnSource
  /// The stored name of the field; nil if it is of no single one.
  package var field: String?

  package var typeText: String {
    isArray
      ? type.rawValue + "[]" + (type == .text ? " COLLATE \"C\"" : "")
      : type.columnText
  }
}

/// The part of a record that a column holds.
package enum ColumnSource: Sendable, Hashable {
  /// The value at a path: the name of a field, and those of parts of composites.
  case value(FieldPath, ScalarType)
  /// An array at a path.
  case array(FieldPath, ScalarType)
  /// True if there is a composite or list at a path.
  case isSet(FieldPath)
  /// The value of an external field, if it is no longer than a part; null otherwise.
  case short(FieldPath, ScalarType)
  /// The identity of the parts of a longer value.
  case parts(FieldPath)
  /// Computed by the server alone: the name of the record's kind.
  case kind
}

/// The name of a field, and below it those of parts of composites.
package struct FieldPath: Sendable, Hashable {
  package let names: [String]

  /// The path of a field of a record.
  init(_ field: FieldSchema, in record: RecordSchema) {
    var names: [String] = []
    var field = field
    while let outer = field.composite.flatMap({ record.field($0) }) {
      names.append(String(field.name.dropFirst(outer.name.count + 1)))
      field = outer
    }
    names.append(field.name)
    self.names = names.reversed()
  }

  /// Returns the value in a record; null within a composite that is null.
  package func value(in record: DynamicRecord) -> FieldValue {
    var value = record[names[0]]
    for name in names.dropFirst() {
      guard case .composite(let parts) = value else { return .null }
      value = parts[name] ?? .null
    }
    return value
  }
}

package struct CheckPlan: Sendable, Hashable {
  package let name: String
  package let condition: String
}

package struct IndexPlan: Sendable, Hashable {
  /// The number of the index in the schema; nil for that of a primary key's order.
  package let number: UInt32?
  package let name: String
  package let isUnique: Bool
  /// True if it can be a constraint of the table: it has no order and no condition.
  package let isConstraint: Bool
  /// `btree` or `gin`.
  package let method: String
  /// Each part with its order.
  package let parts: [String]
  package let condition: String?
}

package struct ForeignKeyPlan: Sendable, Hashable {
  package let name: String
  package let column: String
  package let table: String
  package let tableColumn: String
  /// `NO ACTION`, `CASCADE` or `SET NULL`.
  package let deletion: String
}

/// A table with a row for each element of a list.
package struct ListPlan: Sendable {
  package let name: String
  package let field: String
  package let path: FieldPath
  package let type: SQLType
  package let scalar: ScalarType
  /// The columns with the key of the record, in the order of the key.
  package let keyColumns: [(name: String, type: SQLType)]
  /// The place in the list, from 0.
  package let positionColumn: String
  package let elementColumn: String
  package let foreignKey: ForeignKeyPlan
  package let ownerKeyName: String
  package let keyName: String
  package let indexName: String
}
