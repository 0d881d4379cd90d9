import ArgumentParser

/// The secondary indexes of the stored records.
enum RecordIndexes: Int, CaseIterable, ExpressibleByArgument {
  case none = 0
  /// On a date and on a string.
  case two = 2
  /// Also on an integer that every update changes.
  case three = 3

  private var word: String {
    switch self {
    case .none: "none"
    case .two: "two"
    case .three: "three"
    }
  }

  init?(argument: String) {
    guard let indexes = Self.allCases.first(where: { $0.word == argument }) else { return nil }
    self = indexes
  }

  static var allValueStrings: [String] { allCases.map(\.word) }
  var defaultValueDescription: String { word }

  /// What a report calls them.
  var text: String { self == .none ? "no index" : "\(word) indexes" }
}
