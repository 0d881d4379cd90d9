/// A view of a table with other names.
struct CoreDataView {
  /// The view, described as a table for the import.
  var table: SQLiteTable
  private let original: SQLiteTable
  private var names: Set<String> = []
  private var columns: [String] = []
  /// The names of columns by those that the table has, in lowercase.
  private var renamed: [String: String] = [:]

  init(_ original: SQLiteTable, named name: String) {
    self.original = original
    table = original
    table.name = name
    table.columns = []
    table.foreignKeys = []
  }

  /// Keeps names for columns that come later.
  mutating func reserve(_ names: [String]) { self.names.formUnion(names) }

  /// Adds a column, as a field of a kind or of all rows. Returns its name.
  mutating func add(_ column: SQLiteTable.Column, of kind: Int?) -> String {
    let base = column.name.coreDataName
    var (name, number) = (base, 2)
    while !names.insert(name).inserted {
      name = "\(base)_\(number)"
      number += 1
    }
    add(column, as: name, of: kind)
    return name
  }

  /// Adds a column with a name that was reserved.
  mutating func add(_ column: SQLiteTable.Column, as name: String, of kind: Int? = nil) {
    columns.append("\(column.name.sqlName) AS \(name.sqlName)")
    renamed[column.name.lowercased()] = name
    var column = column
    column.name = name
    column.kind = kind
    table.columns.append(column)
  }

  mutating func addKinds(
    _ kinds: [(entity: CoreDataEntities.Entity, parent: Int?)], _ expression: String
  ) {
    columns.append("\(expression) AS \(SQLiteTable.kindColumn.sqlName)")
    table.kinds = kinds.map { SQLiteTable.Kind(name: $0.entity.name, parent: $0.parent) }
  }

  /// Renames the columns of the key and of the indexes. Indexes of columns that are left out are left out, too.
  mutating func renameKeys() {
    table.primaryKey = table.columns.indices.filter { table.columns[$0].name == "id" }
    table.indexes = original.indexes.compactMap { index in
      guard let parts = index.parts else { return index }
      var new = index
      new.parts = parts.compactMap { part in
        guard let name = renamed[part.column.lowercased()] else { return nil }
        var part = part
        part.column = name
        return part
      }
      return new.parts?.count == parts.count ? new : nil
    }
  }

  var statement: String {
    "CREATE TEMP VIEW \(table.name.sqlName) AS SELECT \(columns.joined(separator: ", "))"
      + " FROM main.\(original.name.sqlName)"
  }
}

extension String {
  /// The name of an attribute or relation whose column is called so, as far as it is known: in lowercase.
  fileprivate var coreDataName: String {
    let rest = hasPrefix("Z_") ? dropFirst(2) : hasPrefix("Z") ? dropFirst() : self[...]
    let isName = rest.first?.isLetter ?? false
    return (isName ? String(rest) : self).lowercased()
  }
}
