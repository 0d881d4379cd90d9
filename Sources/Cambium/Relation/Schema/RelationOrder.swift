extension Schema {
  /// The records, those that references lead to before those with the references, and else in the order of their names.
  /// Of records that lead to each other in a ring, the first by name comes first.
  package var inOrderOfReferences: [RecordSchema] {
    var left = records.sortedRarely { $0.name.precedes($1.name) }
    var ordered: [RecordSchema] = []
    while !left.isEmpty {
      let missing = Set(left.map(\.name))
      let place = left.firstIndex {
        $0.destinations.subtracting([$0.name]).isDisjoint(with: missing)
      }
      ordered.append(left.remove(at: place ?? 0))
    }
    return ordered
  }
}

extension RecordSchema {
  /// The names of the records that its checked references lead to.
  fileprivate var destinations: Set<String> {
    Set(
      fields.compactMap { field in
        field.reference.flatMap { $0.isChecked ? $0.destination : nil }
      })
  }
}
