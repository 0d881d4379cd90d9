/// A workload in which a peer is ahead of Cambium.
struct Loss {
  /// The figure in which it is ahead.
  enum Measure: String, CaseIterable {
    case figure = "Slower than a peer"
    case latency = "Slower in one of a hundred"
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
      [
        figureLoss(own, peer), latencyLoss(own, peer),
        loss(.size, own.bytesOnDisk, peer.bytesOnDisk, peer),
        loss(.memory, own.anonymousGrowth, peer.anonymousGrowth, peer, from: 1 << 20),
      ]
    }.compactMap { $0 }
  }

  private func figureLoss(_ own: ResultLine, _ peer: ResultLine) -> Loss? {
    guard let ratio = ratio(to: peer), ratio < 1 else { return nil }
    return Loss(
      measure: .figure, key: key, peer: peer, own: own.figureText, other: peer.figureText,
      ratio: 1 / ratio)
  }

  /// Where 99 of 100 operations take longer.
  private func latencyLoss(_ own: ResultLine, _ peer: ResultLine) -> Loss? {
    guard let mine = own.latency?.p99, let other = peer.latency?.p99, mine > other else {
      return nil
    }
    return Loss(
      measure: .latency, key: key, peer: peer, own: "\(Figures.short(mine / 1_000)) µs",
      other: "\(Figures.short(other / 1_000)) µs", ratio: mine / max(other, 1))
  }

  /// Of bytes, of which fewer are better.
  ///
  /// - Parameter least: The least difference; below, it is noise.
  private func loss(
    _ measure: Loss.Measure, _ own: Int?, _ other: Int?, _ peer: ResultLine, from least: Int = 1
  ) -> Loss? {
    guard let own, let other, max(own, least) > max(other, least) else { return nil }
    return Loss(
      measure: measure, key: key, peer: peer, own: Figures.mebibytes(own),
      other: Figures.mebibytes(other), ratio: Double(max(own, least)) / Double(max(other, least)))
  }
}

extension ResultLine {
  var figureText: String { "\(Figures.short(figure)) \(unit.rawValue)" }
}
