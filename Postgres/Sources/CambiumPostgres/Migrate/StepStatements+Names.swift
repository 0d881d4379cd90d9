import Cambium

// MARK: - Renaming

/// An object of the database that gets another name.
private struct Renaming {
  let from: String
  let to: String
  /// The statement up to the old name, and between both names.
  let prefix: String
  var middle = " RENAME TO "
  /// True if names are qualified by their schema.
  var isQualified = true
}

extension StepStatements {
  mutating func addNames() {
    var relations: [Renaming] = []
    for change in changes {
      relations += change.tableRenamings
    }
    add(relations)
    for change in changes {
      add(change.columnRenamings(in: new))
      add(change.constraintRenamings(in: new))
      for list in change.keptLists {
        let renamings = listRenamings(list)
        add(renamings.columns)
        add(renamings.constraints)
      }
    }
  }

  /// Adds the renamings of one namespace. Where names are exchanged, all of them pass through names that nothing has.
  private mutating func add(_ renamings: [Renaming]) {
    let renamings = renamings.filter { $0.from != $0.to }
    let taken = Set(renamings.map(\.from))
    guard renamings.contains(where: { taken.contains($0.to) }) else {
      for renaming in renamings { add(renaming, from: renaming.from, to: renaming.to) }
      return
    }
    for (place, renaming) in renamings.enumerated() {
      add(renaming, from: renaming.from, to: "cambium_renamed_\(place)")
    }
    for (place, renaming) in renamings.enumerated() {
      add(renaming, from: "cambium_renamed_\(place)", to: renaming.to)
    }
  }

  private mutating func add(_ renaming: Renaming, from: String, to: String) {
    let name = renaming.isQualified ? old.qualified(from) : SQL.name(from)
    all.append(MigrationStatement(renaming.prefix + name + renaming.middle + SQL.name(to)))
  }
}

extension TableChange {
  /// Those of tables and indexes, which share a namespace.
  fileprivate var tableRenamings: [Renaming] {
    var all = [Renaming(from: old.name, to: new.name, prefix: "ALTER TABLE ")]
    // The server cuts longer names by rules of its own.
    if [old.name, new.name].allSatisfy({ $0.utf8.count <= 58 }) {
      all.append(Renaming(from: old.name + "_pkey", to: new.name + "_pkey", prefix: "ALTER INDEX "))
    }
    for (index, after) in indexPairs {
      guard let after, isKept(after) else { continue }
      all.append(Renaming(from: index.name, to: after.name, prefix: "ALTER INDEX "))
    }
    for list in keptLists {
      all.append(Renaming(from: list.old.name, to: list.new.name, prefix: "ALTER TABLE "))
      all.append(Renaming(from: list.old.keyName, to: list.new.keyName, prefix: "ALTER INDEX "))
      all.append(Renaming(from: list.old.indexName, to: list.new.indexName, prefix: "ALTER INDEX "))
    }
    return all
  }

  fileprivate func columnRenamings(in plan: PostgresPlan) -> [Renaming] {
    zip(old.columns, renamed.columns).filter { isKept($0.1) }.map { before, after in
      Renaming(
        from: before.name, to: after.name,
        prefix: "ALTER TABLE \(plan.qualified(new.name)) RENAME COLUMN ", middle: " TO ",
        isQualified: false)
    }
  }

  fileprivate func constraintRenamings(in plan: PostgresPlan) -> [Renaming] {
    let checks = zip(old.checks, renamed.checks).filter { isKept($0.1) }
      .map { ($0.name, $1.name) }
    let keys = zip(old.foreignKeys, renamed.foreignKeys)
      .filter { new.foreignKeys.contains($0.1) }.map { ($0.name, $1.name) }
    return (checks + keys).map { Renaming(from: $0, to: $1, in: plan.qualified(new.name)) }
  }
}

extension Renaming {
  fileprivate init(from: String, to: String, in table: String) {
    self.init(
      from: from, to: to, prefix: "ALTER TABLE \(table) RENAME CONSTRAINT ", middle: " TO ",
      isQualified: false)
  }
}

extension StepStatements {
  /// The renamings of the columns and constraints of a list's table.
  private func listRenamings(
    _ list: (old: ListPlan, renamed: ListPlan, new: ListPlan)
  ) -> (columns: [Renaming], constraints: [Renaming]) {
    let table = new.qualified(list.new.name)
    let (before, after) = (list.old, list.new)
    let names =
      zip(before.keyColumns, after.keyColumns).map { ($0.name, $1.name) } + [
        (before.positionColumn, after.positionColumn), (before.elementColumn, after.elementColumn),
      ]
    let columns = names.map { from, to in
      Renaming(
        from: from, to: to, prefix: "ALTER TABLE \(table) RENAME COLUMN ", middle: " TO ",
        isQualified: false)
    }
    var constraints = [Renaming(from: before.ownerKeyName, to: after.ownerKeyName, in: table)]
    if list.renamed.foreignKey == after.foreignKey {
      constraints.append(
        Renaming(from: before.foreignKey.name, to: after.foreignKey.name, in: table))
    }
    return (columns, constraints)
  }
}
