import ArgumentParser

/// The secondary indexes of the stored records. The raw value is the version of the model that has them.
enum RecordIndexes: Int, CaseIterable, ExpressibleByArgument {
  case none = 1
  /// On a date and on a string.
  case two
  /// Also on an integer that every update changes.
  case three

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

  /// Their name in reports.
  var text: String { self == .none ? "no index" : "\(word) indexes" }
}
