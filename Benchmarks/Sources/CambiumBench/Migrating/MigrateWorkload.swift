import ArgumentParser

/// A change between two versions, or several.
enum MigrateWorkload: String, CaseIterable, Sendable, ExpressibleByArgument {
  /// A required field comes, with a default.
  case add
  case rename
  case remove
  /// An optional field is required, with a default for those without a value.
  case require
  /// An `Int32` becomes an `Int64`.
  case widen
  /// A value is made of another, by a closure or an expression.
  case transform
  /// Each record is made two, by a closure with the types of both versions.
  case split
  /// The conversion by a closure without types.
  case splitUntyped = "split-untyped"
  /// All of add, rename, remove, require and widen, in one version each.
  case chain
  /// Back to the version before, with every value that a migration has changed: of `require`, which is not timed.
  case rollback

  /// Times faster than SQLite's copy that it is to be.
  var goal: Double? {
    switch self {
    case .add, .remove, .require, .widen, .transform, .split, .splitUntyped: 5
    case .rename, .chain, .rollback: nil
    }
  }

  /// Records a second and core that it is to take.
  var rateGoal: Double {
    switch self {
    case .transform, .split, .splitUntyped: 500_000
    default: 2_000_000
    }
  }

  /// True if every row becomes another.
  var rewritesRows: Bool { ![.add, .rename, .rollback].contains(self) }

  var isSplit: Bool { self == .split || self == .splitUntyped }

  /// The version that its model has.
  var version: Int { self == .chain ? 6 : 2 }

  /// The version that the store has at its end.
  var lastVersion: Int { self == .rollback ? 1 : version }
}
