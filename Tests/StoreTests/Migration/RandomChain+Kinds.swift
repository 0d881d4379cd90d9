import TestSupport

@testable import Cambium

/// How the hierarchies of a random chain change.
extension RandomChain {
  mutating func changeHierarchy(of records: inout [RecordState], since old: [RecordState]) {
    let known = Set(old.map(\.identity))
    let (roots, kinds) = (
      records.filter { $0.parent == nil && known.contains($0.identity) },
      records.filter { $0.parent != nil && known.contains($0.identity) }
    )
    let kind = kinds.randomElement(using: &random)
    switch random.next() % 10 {
    case 0, 1:
      if let root = roots.randomElement(using: &random) { records.append(newKind(of: root)) }
    case 2, 3:
      let two = roots.shuffled(using: &random)
      if two.count > 1 { enter(two[0], two[1], &records, since: old) }
    case 4:
      // A parent is made over one or two records.
      var parent = newRecord()
      for place in parent.fields.indices.dropFirst() { complete(&parent.fields[place]) }
      records.append(parent)
      for root in roots.shuffled(using: &random).prefix(2) {
        moveUp(of: root, to: parent, &records, since: old)
        enter(root, records.state(parent.identity) ?? parent, &records, since: old)
      }
    case 5, 6: if let kind { leave(kind, &records, since: old) }
    case 7:
      if let kind { removeKind(kind, from: &records) }
    case 8:
      // A kind gets another parent.
      guard let kind else { return }
      let below = Set(records.line(below: kind))
      let others = (roots + kinds).filter {
        !below.contains($0.identity) && $0.identity != kind.parent
          && records.root(of: $0).identity == records.root(of: kind).identity
      }
      if let other = others.randomElement(using: &random) {
        enter(kind, other, &records, since: old)
      }
    default: if let kind { moveField(kind, &records, since: old) }
    }
  }

  /// Makes a field one that records without it can have.
  private mutating func complete(_ field: inout FieldState) {
    if field.isOptional || field.migrationDefault != nil || field.isList && field.isReference {
      return
    }
    field.migrationDefault = value(of: field.type)
    field.isShort = false
  }

  /// A record becomes a kind, or a kind one of another.
  private mutating func enter(
    _ record: RecordState, _ parent: RecordState, _ records: inout [RecordState],
    since old: [RecordState]
  ) {
    guard let place = records.firstIndex(where: { $0.identity == record.identity }),
      let before = old.state(record.identity)
    else { return }
    let line = records.line(from: parent).map(\.identity)
    let kept = Set(record.parent == nil ? [] : records.line(from: record).map(\.identity))
    let names = Set(old.line(below: before).flatMap { old.state($0)?.fields.map(\.name) ?? [] })
    for place in records.indices
    where line.contains(records[place].identity) && !kept.contains(records[place].identity) {
      let fields = records[place].fields.dropFirst(records[place].parent == nil ? 1 : 0)
      let canEnter = fields.allSatisfy { field in
        // Nothing but a key could be the default of what leads to records, and what has the name of another is that.
        (field.isOptional || field.destination == nil || field.isList && field.isReference)
          && !names.contains(field.name) && field.renamingID.map { !names.contains($0) } ?? true
      }
      if !canEnter { return }
    }
    for place in records.indices
    where line.contains(records[place].identity) && !kept.contains(records[place].identity) {
      let start = records[place].parent == nil ? 1 : 0
      for field in records[place].fields.indices.dropFirst(start) {
        complete(&records[place].fields[field])
      }
    }
    if record.parent == nil {
      records[place].fields.removeFirst()
      records[place].hasPair = false
    }
    records[place].parent = parent.identity
  }

  /// A field of a record is one of its new parent.
  private mutating func moveUp(
    of record: RecordState, to parent: RecordState, _ records: inout [RecordState],
    since old: [RecordState]
  ) {
    guard let place = records.firstIndex(where: { $0.identity == record.identity }),
      let target = records.firstIndex(where: { $0.identity == parent.identity }),
      let before = old.state(record.identity),
      let field = records[place].fields.indices.dropFirst().first(where: { index in
        records[place].isUntouched(index) && records[place].fields[index].destination == nil
      })
    else { return }
    var moved = records[place].fields.remove(at: field)
    moved.renamingID = "\(before.name).\(moved.name)"
    moved.name = "f\(identity())"
    moved.isOptional = true
    records[target].fields.append(moved)
  }

  /// A kind becomes a record.
  private mutating func leave(
    _ kind: RecordState, _ records: inout [RecordState], since old: [RecordState]
  ) {
    guard let place = records.firstIndex(where: { $0.identity == kind.identity }),
      let before = old.state(kind.identity)
    else { return }
    let line = old.line(from: before).dropFirst()
    guard let root = line.last, before.parent == kind.parent else { return }
    // What leads to its parents may lead to its records.
    for parent in line {
      for index in records.indices { records[index].lose(parent.identity) }
    }
    var key = FieldState(
      identity: identity(), name: "id\(identity())", type: .int64, isOptional: false)
    key.origin = root.fields[0].identity
    var fields = [key] + records[place].fields
    for parent in line {
      for field in parent.fields.dropFirst(parent.parent == nil ? 1 : 0)
      where field.destination == nil && random.next() % 2 == 0
        && !before.fields.contains(where: { $0.name == field.name })
        && !fields.contains(where: { $0.name == field.name })
      {
        var copy = FieldState(
          identity: identity(), name: field.name, type: field.type, isOptional: field.isOptional)
        copy.origin = field.identity
        if random.next() % 2 == 0 {
          copy.renamingID = field.name
          copy.name = "f\(copy.identity)"
        }
        fields.append(copy)
      }
    }
    records[place].fields = fields
    records[place].parent = nil
    if random.next() % 3 == 0, let state = records.state(root.identity) {
      remove(state, from: &records)
    }
  }

  /// The records of a kind without kinds are of its parent.
  private mutating func removeKind(_ kind: RecordState, from records: inout [RecordState]) {
    guard let parent = kind.parent, !records.contains(where: { $0.parent == kind.identity }) else {
      return
    }
    records.removeAll { $0.identity == kind.identity }
    for record in records.indices {
      for field in records[record].fields.indices
      where records[record].fields[field].destination == kind.identity {
        records[record].fields[field].destination = parent
      }
    }
  }

  /// A field moves from a record into a kind, or up.
  private mutating func moveField(
    _ kind: RecordState, _ records: inout [RecordState], since old: [RecordState]
  ) {
    guard let before = old.state(kind.identity), let parent = old.state(before.parent ?? 0),
      parent.parent == nil, kind.parent == parent.identity,
      let inner = records.firstIndex(where: { $0.identity == kind.identity }),
      let outer = records.firstIndex(where: { $0.identity == parent.identity })
    else { return }
    let isDown = Bool.random(using: &random)
    let (source, target) = isDown ? (outer, inner) : (inner, outer)
    guard
      let place = records[source].fields.indices.dropFirst(isDown ? 1 : 0).first(where: { index in
        records[source].isUntouched(index) && records[source].fields[index].destination == nil
      })
    else { return }
    var moved = records[source].fields.remove(at: place)
    moved.renamingID = isDown ? moved.name : "\(before.name).\(moved.name)"
    moved.name = "f\(identity())"
    moved.isIndexed = false
    if !isDown {
      if moved.isOptional || Bool.random(using: &random) {
        moved.isOptional = true
      } else {
        moved.migrationDefault = value(of: moved.type)
      }
    }
    records[target].fields.append(moved)
    records[target].hasPair = false
  }
}

extension RandomChain.RecordState {
  /// Returns true if the step so far leaves a field as it was.
  fileprivate func isUntouched(_ place: Int) -> Bool {
    let field = fields[place]
    return field.renamingID == nil && field.migrationDefault == nil && field.origin == nil
      && added.union(widened).union(reshaped).isDisjoint(with: [field.identity])
  }
}
