/// A mismatch between a model and a lock. Its `description` says what to write.
@nonexhaustive public enum SchemaLockError: Error, Hashable, Sendable {
  /// The file does not exist.
  case missing(path: String)
  /// The file is not a lock, from this place on. Lines and columns are counted from 1.
  case malformed(line: Int, column: Int, reason: String)
  /// The model describes a version of the lock differently. `advice` says what to write instead.
  case changed(version: Int, differences: [String], advice: String)
  /// The model has versions that are not in the lock.
  case notLocked(versions: [Int], path: String)
  /// The lock has a version that the model does not have.
  case newer(version: Int, model: Int)
  /// The lock differs in a part on which no store depends: a label, or a validation.
  case outdated(version: Int, differences: [String], path: String)
  /// The file cannot be read or written.
  case io(path: String, reason: String)
}

extension SchemaLockError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let path):
      "There is no \(path). Make it when the first version is released, and commit it:\n\n"
        + "  try SchemaLock.write(model, at: \(path.quoted))"
    case .malformed(let line, let column, let reason):
      "The lock is damaged in line \(line), column \(column): \(reason). Take it from the version control."
    case .changed(let version, let differences, let advice):
      "Version \(version) was released, and is described otherwise now:\n\n"
        + differences.map { "  \($0)\n" }.joined() + "\n" + advice
    case .notLocked(let versions, let path):
      "The lock has no version \(versions.map { "\($0)" }.joined(separator: ", ")). When that is released, add"
        + " it, and commit the file:\n\n  try SchemaLock.write(model, at: \(path.quoted))"
    case .newer(let version, let model):
      "The lock has version \(version), the model only versions up to \(model). Use the model that the lock"
        + " was written with, or a later one."
    case .outdated(let version, let differences, let path):
      "The lock is not up to date. No store depends on what it says otherwise of version \(version):\n\n"
        + differences.map { "  \($0)\n" }.joined() + "\nWrite it again, and commit the file:\n\n"
        + "  try SchemaLock.write(model, at: \(path.quoted))"
    case .io(let path, let reason): "\(path) cannot be read or written: \(reason)."
    }
  }
}
