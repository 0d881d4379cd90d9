/// A way from one version of a store to another. All must lead to the same records.
@nonexhaustive public enum MigrationPath: Hashable, Sendable {
  /// All steps at once.
  case direct
  /// Opened with the model of each version in turn, and closed in between.
  case stepwise
  /// Opened with the models of some of the versions between, ascending.
  case through([Int])
  /// All steps at once, with a power cut in the middle, and then resumed.
  case resumed
  /// Steps that cannot fail published before they are done, read so, and then finished.
  case deferred

  /// Every way of stopping at some of the versions between, and all at once resumed and deferred. 2 to the power of
  /// their number; of more than six, only those with one stop, and all.
  public static func all(from: Int, to: Int) -> [MigrationPath] {
    let between = Array((from + 1)..<max(from + 1, to))
    let whole: [MigrationPath] = [.direct, .resumed, .deferred]
    guard !between.isEmpty else { return whole }
    if between.count > 6 {
      return whole + between.map { .through([$0]) } + [.stepwise]
    }
    let some = (1..<(1 << between.count) - 1).map { set in
      MigrationPath.through(
        between.enumerated().filter { set >> $0.offset & 1 == 1 }.map(\.element))
    }
    return whole + some + [.stepwise]
  }

  /// The versions whose models the store is opened with, the last of them `to`.
  func stops(from: Int, to: Int) -> [Int] {
    switch self {
    case .direct, .resumed, .deferred: [to]
    case .stepwise: Array((from + 1)...to)
    case .through(let versions): versions + [to]
    }
  }
}
