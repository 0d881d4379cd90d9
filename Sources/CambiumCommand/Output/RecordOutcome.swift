/// What became of a record.
enum RecordOutcome: String {
  case inserted, updated, unchanged, deleted
}
