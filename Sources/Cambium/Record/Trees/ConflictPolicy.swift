/// The treatment of another record that has the same values in unique fields as the one that is written.
public enum ConflictPolicy: Hashable, Sendable {
  /// Throws `StoreError.uniqueConflict`; nothing is written.
  case refuse
  /// Deletes the other record.
  case replaceOther
  /// Writes the record in the place of the other one, under the primary key of that, so that references to it remain.
  /// If a record with the written one's own primary key is stored, or several others have its values, it throws
  /// `StoreError.uniqueConflict`.
  case updateOther
  /// Keeps the other record, and writes nothing.
  case keepOther
}

extension RecordWriter.Conflicts {
  /// Returns the key of the only other record in the way of a new one, in whose place that is written.
  ///
  /// - Throws: `.uniqueConflict` if there are several, or the record is not new.
  func sole(isNew: Bool) throws(StoreError) -> [UInt8] {
    let keys = Set(others).union(moves.map(\.key))
    guard isNew, keys.count == 1, let key = keys.first else { throw refusal }
    return key
  }
}
