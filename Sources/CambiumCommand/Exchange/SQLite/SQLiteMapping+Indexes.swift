import Cambium

extension SQLiteMapping {
  mutating func addIndexes(to place: Int) {
    let record = records[place]
    var seen: Set<[KeyField]> = [record.key.map { .ascending($0) }]
    for index in record.table.indexes {
      guard !index.isPartial, let parts = index.parts else {
        let kind = index.isPartial ? "of some of the rows" : "of expressions"
        note(record.table.name, "the index \(index.name) \(kind) is left out")
        continue
      }
      let fields = parts.compactMap { part in
        record.fields.first { $0.isOf(part.column) }.map { (part, $0) }
      }
      guard fields.count == parts.count, !fields.contains(where: { $0.1.isExternal }) else {
        note(record.table.name, "the index \(index.name) is left out: its values are too long")
        continue
      }
      guard Set(fields.map(\.1.name)).count == fields.count else {
        note(record.table.name, "the index \(index.name) is left out: a column is in it twice")
        continue
      }
      // Parents come before their kinds, so the last kind is the innermost one.
      let kinds = fields.compactMap { $0.1.kind }
      let kind = kinds.max()
      guard Set(kinds).isSubset(of: record.line(of: kind)) else {
        note(
          record.table.name, "the index \(index.name) is left out: no row has all of its columns")
        continue
      }
      let key = fields.map { part, field in part.keyField(field) }
      // A reference that is checked has an index of its own.
      let isOfReference =
        fields.count == 1 && !index.isUnique && fields[0].1.destination?.isChecked == true
      guard !isOfReference else { continue }
      guard seen.insert(key).inserted else {
        let known = records[place].indexes.firstIndex { $0.parts == key }
        if let known, index.isUnique { records[place].indexes[known].isUnique = true }
        continue
      }
      let isLong = key.text.utf8.count > StoreError.Limit.nameLength.bound
      // Otherwise the names of the kind would be part of its name, which errors state.
      let name = isLong ? index.name.cut : kind == nil ? nil : key.text
      records[place].indexes.append(
        Index(name: name, parts: key, isUnique: index.isUnique, kind: kind))
    }
  }
}

extension SQLiteMapping {
  /// Makes a unique constraint one of the rows that may be equal: those of the database break it by the rules of a store.
  ///
  /// - Parameters:
  ///   - constraint: Its name in errors.
  ///   - record: The name of its record.
  /// - Returns: False if there is none.
  mutating func leaveOut(_ constraint: String, of record: String) -> Bool {
    guard let place = records.firstIndex(where: { $0.name == record }),
      let number = records[place].indexes.firstIndex(where: {
        $0.isUnique && ($0.name ?? $0.parts.text) == constraint
      })
    else { return false }
    records[place].indexes[number].isUnique = false
    note(
      records[place].table.name,
      "UNIQUE of \(constraint) is left out, and an index kept: rows that differ in SQLite are equal here"
    )
    return true
  }
}

extension SQLiteTable.Index.Part {
  fileprivate func keyField(_ field: SQLiteMapping.Field) -> KeyField {
    if isCaseInsensitive, field.type == .string {
      return .caseInsensitive(field.name, descending: isDescending)
    }
    return isDescending ? .descending(field.name) : .ascending(field.name)
  }
}
