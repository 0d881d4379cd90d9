/// A workload in which a peer is ahead of Cambium.
struct Loss {
  /// In what it is ahead.
  enum Measure: String, CaseIterable {
    case figure = "Slower than a peer"
    case size = "Larger on disk"
    case memory = "More memory asked for"
  }

  let measure: Measure
  let key: Comparison.Key
  let peer: ResultLine
  let own: String
  let other: String
  /// How many times as good the peer's is, above 1.
  let ratio: Double
}

extension Comparison {
  /// In the order of the peers.
  var losses: [Loss] {
    guard let own else { return [] }
    return peers.flatMap { peer in
      [figureLoss(own, peer)]
        + [
          loss(.size, own.bytesOnDisk, peer.bytesOnDisk, peer),
          loss(.memory, own.anonymousGrowth, peer.anonymousGrowth, peer),
        ]
    }.compactMap { $0 }
  }

  private func figureLoss(_ own: ResultLine, _ peer: ResultLine) -> Loss? {
    guard let ratio = ratio(to: peer), ratio < 1 else { return nil }
    return Loss(
      measure: .figure, key: key, peer: peer, own: own.figureText, other: peer.figureText,
      ratio: 1 / ratio)
  }

  /// Of bytes, of which fewer are better.
  private func loss(
    _ measure: Loss.Measure, _ own: Int?, _ other: Int?, _ peer: ResultLine
  ) -> Loss? {
    guard let own, let other, own > other else { return nil }
    return Loss(
      measure: measure, key: key, peer: peer, own: Figures.mebibytes(own),
      other: Figures.mebibytes(other), ratio: Double(own) / Double(max(other, 1)))
  }
}

extension ResultLine {
  var figureText: String { "\(Figures.short(figure)) \(unit.rawValue)" }
}
