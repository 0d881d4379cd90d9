/// The change that a command made to a record.
enum RecordOutcome: String {
  case inserted, updated, unchanged, deleted
}
