extension WriteTransaction {
  /// Continues the sequences of another store of the same model, whose records this transaction is about to write: no number is given
  /// that the other store has given, even to a record that is not written, and records of any of its numbers are taken.
  ///
  /// Types and fields are found by their names. If the last number of a sequence cannot be read, it begins with that of the records
  /// that are written.
  ///
  /// - Complexity: O(sequences · log records).
  /// - Throws: `StoreError.unknownRecord`.
  package mutating func continueSequences(of snapshot: StoreSnapshot) throws(StoreError) {
    let (other, trees) = (snapshot.entities, snapshot.trees)
    guard let theirs = other.derivations, let ours = entities.derivations else { return }
    for source in other.all {
      let destination = try entities.entity(named: source.record.name)
      for column in theirs.sequences(source) {
        let name = source.layout.columns[column.column].field.name
        let same = ours.sequences(destination).first { column in
          destination.layout.columns[column.column].field.name == name
        }
        guard let same else { continue }
        let kept = (try? SequenceNumbers.kept(column.identity, in: trees, other.sequences)) ?? 0
        let greatest = (try? column.greatest(of: source, in: trees)) ?? 0
        writer.numbers.note([same.identity: Swift.max(kept, greatest)])
      }
    }
  }
}
