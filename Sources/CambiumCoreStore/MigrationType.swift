/// A step of a migration.
public enum MigrationType: Hashable, Sendable {
  case none(version: String)
  /// The step follows from the descriptions.
  case lightweight(sourceVersion: String, destinationVersion: String)
  /// A mapping provider states a part of the step.
  case heavyweight(sourceVersion: String, destinationVersion: String)

  public var sourceVersion: String {
    switch self {
    case .none(let version): version
    case .lightweight(let source, _), .heavyweight(let source, _): source
    }
  }

  public var destinationVersion: String {
    switch self {
    case .none(let version): version
    case .lightweight(_, let destination), .heavyweight(_, let destination): destination
    }
  }

  public var isLightweightMigration: Bool { if case .lightweight = self { true } else { false } }
  public var isHeavyweightMigration: Bool { if case .heavyweight = self { true } else { false } }
  public var hasMigration: Bool { if case .none = self { false } else { true } }
}

extension MigrationType: CustomStringConvertible {
  /// The step in CoreStore's form: `.heavyweight ("V1" → "V2")`.
  public var description: String {
    switch self {
    case .none(let version): ".none (\"\(version)\")"
    case .lightweight(let source, let destination):
      ".lightweight (\"\(source)\" → \"\(destination)\")"
    case .heavyweight(let source, let destination):
      ".heavyweight (\"\(source)\" → \"\(destination)\")"
    }
  }
}
