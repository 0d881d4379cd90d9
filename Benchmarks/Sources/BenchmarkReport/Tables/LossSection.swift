/// "Where we lose": every workload in which a peer is ahead, the worst first.
struct LossSection {
  let results: MeasuredResults

  var lines: [String] {
    let losses = results.comparisons.flatMap(\.losses)
    return ["## Where we lose", ""] + summary(losses)
      + Loss.Measure.allCases.flatMap { measure in
        section(measure, losses.filter { $0.measure == measure })
      }
  }

  private func summary(_ losses: [Loss]) -> [String] {
    let compared = results.comparisons.filter { $0.own != nil && !$0.peers.isEmpty }
    let slower = compared.filter { $0.losses.contains { $0.measure == .figure } }
    return [
      "Every workload in which a peer is ahead, by however little, the worst first. A peer is faster in"
        + " \(slower.count) of \(compared.count) comparisons.",
      "Memory of less than 1 MiB counts as 1 MiB.",
      "",
    ]
  }

  private func section(_ measure: Loss.Measure, _ losses: [Loss]) -> [String] {
    guard !losses.isEmpty else { return [] }
    var table = MarkdownTable(
      [
        "part", "workload", "setting", "durability", "peer", "Cambium", "the peer",
        "peer is ahead by",
      ],
      wordColumns: 5)
    for loss in losses.sorted(by: { $0.ratio > $1.ratio }) {
      table.append([
        loss.key.part, loss.key.workload, loss.key.setting, loss.key.durability,
        loss.peer.engine, loss.own, loss.other, "\(Figures.short(loss.ratio)) ×",
      ])
    }
    return ["### \(measure.rawValue)", ""] + table.lines + [""]
  }
}
