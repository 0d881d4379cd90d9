import Cambium

extension PlanBuilder {
  mutating func addIndexes(to place: Int) {
    let table = plan.tables[place]
    addOrderOfKey(to: place)
    refuseNaN(in: place)
    for index in table.record.indexes {
      let kind = index.isUnique ? "unique constraint" : "index"
      switch made(index, table) {
      case .success(let index): update(place) { $0.indexes.append(index) }
      case .failure(.ofList): continue
      case .failure(.impossible(let reason)):
        note(
          table.record, nil,
          "its \(kind) \(index.name) is not made: \(reason)"
            + (index.isUnique ? "; programs have to see to it" : ""))
      }
    }
  }

  private enum Refusal: Error {
    case impossible(String)
    /// The list's table has it.
    case ofList
  }

  private mutating func made(
    _ index: IndexSchema, _ table: TablePlan
  ) -> Result<IndexPlan, Refusal> {
    do {
      return .success(try make(index, table))
    } catch {
      return .failure(error)
    }
  }

  private mutating func make(
    _ index: IndexSchema, _ table: TablePlan
  ) throws(Refusal) -> IndexPlan {
    var condition: String?
    if let stated = index.condition {
      condition = ConditionSQL(table, options).text(stated)
      // Without its condition an index has more entries, which only takes space.
      if condition == nil, index.isUnique {
        throw .impossible("SQL has no condition with the meaning of \(stated)")
      }
    }
    var parts: [String] = []
    var names: [String] = []
    for part in index.parts {
      let column = try column(of: part, index, table)
      names.append(column.name)
      guard part.expansion == .none else {
        parts.append(SQL.name(column.name))
        continue
      }
      parts.append(
        SQL.name(column.name)
          + SQL.order(isDescending: part.isDescending, isNullable: column.isNullable))
    }
    if index.isUnique, let division = table.division, !names.contains(division.column) {
      throw .impossible("each server sees the records of its own part alone")
    }
    let isExpanded = index.parts.contains { $0.expansion != .none }
    let isConstraint =
      index.isUnique && condition == nil && !index.parts.contains { $0.isDescending }
    return IndexPlan(
      number: index.number,
      name: relations.take(
        "\(table.name)_\(names.joined(separator: "_"))_\(index.isUnique ? "key" : "idx")"),
      isUnique: index.isUnique, isConstraint: isConstraint, method: isExpanded ? "gin" : "btree",
      parts: isConstraint ? names.map { SQL.name($0) } : parts, condition: condition)
  }

  private func column(
    of part: KeyPart, _ index: IndexSchema, _ table: TablePlan
  ) throws(Refusal) -> ColumnPlan {
    guard let field = table.record.field(part.field) else {
      throw .impossible("a field of it is unknown")
    }
    if part.isCaseInsensitive {
      throw .impossible(
        "it compares \(field.name) without case, by Unicode, where PostgreSQL's lower() goes by a locale"
      )
    }
    if let collation = part.collation {
      throw .impossible("it sorts \(field.name) by \(collation), which programs supply")
    }
    switch part.expansion {
    case .none: break
    case .elements:
      if table.lists.contains(where: { $0.field == field.name }) {
        if index.parts.count == 1, !index.isUnique { throw .ofList }
        throw .impossible("the elements of \(field.name) are in a table of their own")
      }
      guard index.parts.count == 1, !index.isUnique else {
        throw .impossible("PostgreSQL has no such index of the elements of \(field.name)")
      }
    default: throw .impossible("PostgreSQL divides the words of \(field.name) by other rules")
    }
    guard let column = column(of: field, in: table) else {
      throw .impossible("\(field.name) has no column of its own")
    }
    return column
  }

  /// An index in the order of the key, if parts of it descend and others do not: that of the primary key has no order.
  private mutating func addOrderOfKey(to place: Int) {
    let table = plan.tables[place]
    guard Set(table.key.map(\.isDescending)).count > 1 else { return }
    let index = IndexPlan(
      number: nil, name: relations.take("\(table.name)_key_idx"), isUnique: false,
      isConstraint: false,
      method: "btree",
      parts: table.key.map {
        SQL.name($0.name) + SQL.order(isDescending: $0.isDescending, isNullable: false)
      }, condition: nil)
    update(place) { $0.indexes.append(index) }
  }

  /// NaN has no place in a key or an index of the store, so a record with it is refused.
  private mutating func refuseNaN(in place: Int) {
    let table = plan.tables[place]
    var fields: Set<UInt32> = Set(table.record.primaryKey.map(\.field))
    for index in table.record.indexes where index.condition == nil {
      fields.formUnion(index.parts.filter { $0.expansion == .none }.map(\.field))
    }
    for field in table.record.declaredFields where fields.contains(field.number) {
      guard case .scalar(let scalar) = field.type, scalar.hasNaN,
        let column = column(of: field, in: table)
      else { continue }
      let check = CheckPlan(
        name: "\(table.name)_\(column.name)_number", condition: "\(SQL.name(column.name)) <> 'NaN'")
      update(place) { $0.checks.append(check) }
    }
  }
}
