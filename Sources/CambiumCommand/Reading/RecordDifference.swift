import Cambium

/// A record as it is in two states; nil if there is none.
struct RecordDifference {
  private let shape: RecordShape
  private let old: DynamicRecord?
  private let new: DynamicRecord?

  init(_ shape: RecordShape, _ old: DynamicRecord?, _ new: DynamicRecord?) {
    self.shape = shape
    self.old = old
    self.new = new
  }

  /// Writes a change: an object in a line, or a line and one for each field.
  ///
  /// - Parameter sequence: The commit of the new state, if it is to be shown.
  func write(asJSON: Bool, commit sequence: UInt64? = nil) {
    guard let record = new ?? old else { return }
    let key = shape.key.map { record[$0.name] }
    let change: RecordOutcome = old == nil ? .inserted : new == nil ? .deleted : .updated
    if asJSON {
      let commit = sequence.map { [JSONValue.Member(name: "commit", value: JSONValue($0))] } ?? []
      let members = [
        JSONValue.Member(name: "record", value: .string(shape.name)),
        JSONValue.Member(name: "key", value: .array(key.map(\.json))),
        JSONValue.Member(name: "change", value: .string(change.rawValue)),
        JSONValue.Member(name: "old", value: old?.json ?? .null),
        JSONValue.Member(name: "new", value: new?.json ?? .null),
      ]
      return StandardOutput.line("\(JSONValue.object(commit + members))")
    }
    let commit = sequence.map { Style.faint("  commit \(Figures.count($0))") } ?? ""
    StandardOutput.line(
      Style.bold("\(shape.name.inOneLine) \(key.text) \(change.rawValue)") + commit)
    for field in shape.columns {
      let (before, after) = (old?[field.name], new?[field.name])
      if let before, let after, before.isSame(as: after) { continue }
      let cells = [before, after].compactMap { $0?.cell }
      StandardOutput.line("  \(field.name.inOneLine)  \(cells.joined(separator: " → "))")
    }
  }
}

extension DynamicRecord {
  /// Returns true if both have the same fields, with values that are stored alike.
  func isSame(as other: DynamicRecord) -> Bool {
    fields.count == other.fields.count
      && fields.allSatisfy { field in
        other.fields[field.key]?.isSame(as: field.value) ?? false
      }
  }
}
