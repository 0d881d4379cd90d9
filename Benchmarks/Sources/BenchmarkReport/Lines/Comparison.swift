/// The lines that are compared with each other: one workload in one setting, by several engines.
struct Comparison: Equatable {
  /// The common values of its lines.
  struct Key: Hashable {
    let part: String
    let workload: String
    let setting: String
    let durability: String

    init(_ line: ResultLine) {
      part = line.part
      workload = line.workload
      setting = line.setting
      durability = line.durability
    }
  }

  let key: Key
  /// In the order in which they were measured, each engine once.
  private(set) var lines: [ResultLine] = []

  init(_ key: Key) {
    self.key = key
  }

  /// Puts a line in, in place of an earlier one of its engine.
  mutating func put(_ line: ResultLine) {
    if let index = lines.firstIndex(where: { $0.engine == line.engine }) {
      lines[index] = line
    } else {
      lines.append(line)
    }
  }

  /// Cambium, which the others are compared with.
  var own: ResultLine? { lines.first { $0.role == .own } }
  var peers: [ResultLine] { lines.filter { $0.role == .peer } }

  func line(of engine: String) -> ResultLine? {
    lines.first { $0.engine == engine }
  }

  /// How many times as good Cambium's figure is as another's; nil if they are not comparable.
  func ratio(to other: ResultLine) -> Double? {
    guard let own, own.unit == other.unit, other.engine != own.engine else { return nil }
    let ratio = own.unit.ratio(of: own.figure, to: other.figure)
    return ratio.isFinite && ratio > 0 ? ratio : nil
  }

  /// Another's figure with the ratio, for a cell of a table; bold if a peer's is better than Cambium's.
  func cell(_ other: ResultLine, _ figure: String) -> String {
    guard let ratio = ratio(to: other) else { return figure }
    let text = "\(figure) (\(Figures.short(ratio)) ×)"
    return other.role == .peer && ratio < 1 ? "**\(text)**" : text
  }

  /// Cambium's line with its ratios, the others as they are.
  var linesWithRatios: [ResultLine] {
    lines.map { line in
      guard line.engine == own?.engine else { return line }
      var line = line
      line.ratios = Dictionary(
        peers.compactMap { peer in ratio(to: peer).map { (peer.engine, $0) } },
        uniquingKeysWith: { first, _ in first })
      return line
    }
  }
}
