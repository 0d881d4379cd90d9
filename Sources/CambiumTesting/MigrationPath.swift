/// A way from one version of a store to another. All must lead to the same records.
@nonexhaustive public enum MigrationPath: Hashable, Sendable {
  /// All steps at once.
  case direct
  /// Opened with the model of each version in turn, and closed in between.
  case stepwise
  /// Opened with the models of some of the versions between, ascending.
  case through([Int])

  /// Every way of stopping at some of the versions between. 2 to the power of their number; of more than six, only
  /// those with one stop, and all.
  public static func all(from: Int, to: Int) -> [MigrationPath] {
    let between = Array((from + 1)..<max(from + 1, to))
    guard !between.isEmpty else { return [.direct] }
    if between.count > 6 {
      return [.direct] + between.map { .through([$0]) } + [.stepwise]
    }
    let some = (1..<(1 << between.count) - 1).map { set in
      MigrationPath.through(
        between.enumerated().filter { set >> $0.offset & 1 == 1 }.map(\.element))
    }
    return [.direct] + some + [.stepwise]
  }

  /// The versions whose models the store is opened with, the last of them `to`.
  func stops(from: Int, to: Int) -> [Int] {
    switch self {
    case .direct: [to]
    case .stepwise: Array((from + 1)...to)
    case .through(let versions): versions + [to]
    }
  }
}
