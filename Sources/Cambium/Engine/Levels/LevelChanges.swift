/// The changes of one tree that a fold puts into the level over it.
enum LevelChanges {
  case overlay(OverlayTree)
  case spilled(SpilledChanges)

  var isEmpty: Bool {
    switch self {
    case .overlay(let changes): changes.isEmpty
    case .spilled(let changes): changes.effects.isEmpty
    }
  }

  /// By how many they change the count of level and tree together.
  var countChange: Int {
    switch self {
    case .overlay(let changes): changes.countChange
    case .spilled(let changes): changes.countChange
    }
  }

  /// The changes within an interval, for a merge into the tree.
  func input(within interval: KeyInterval) -> SpillInput {
    switch self {
    case .overlay(let changes): .overlay(OverlayRunInput(changes, within: interval))
    case .spilled(let changes): .changes(SpilledChangesInput(changes, within: interval))
    }
  }

  /// Where the merge reads values that have pages of their own.
  var largeValues: PageReader? {
    switch self {
    case .overlay: nil
    case .spilled(let changes): changes.largeValues
    }
  }
}
