import CoreMetrics
import Synchronization

/// Keeps the newest values of all metrics of the process, and writes them in the text format of Prometheus.
///
/// It is enough for this example. Where swift-prometheus can be had, its factory and registry take the place of this file.
final class MetricsPage: MetricsFactory {
  private struct Key: Hashable {
    let label: String
    /// As they stand between the braces.
    let dimensions: String
  }

  private let series = Mutex<[Key: Series]>([:])

  /// One line for each value, sorted by name, each name with its type.
  var text: String {
    let series = series.withLock { $0 }
    let labels = Dictionary(grouping: series, by: \.key.label).sorted { $0.key < $1.key }
    var lines: [String] = []
    for (label, series) in labels {
      guard let kind = series.first?.value.kind else { continue }
      lines.append("# TYPE \(label) \(kind)")
      for (key, series) in series.sorted(by: { $0.key.dimensions < $1.key.dimensions }) {
        lines += series.lines(label, key.dimensions)
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The series of a label with some dimensions; the same whenever it is asked for.
  private func series(
    _ kind: Series.Kind, _ label: String, _ dimensions: [(String, String)]
  ) -> Series {
    let texts = dimensions.map { "\($0)=\"\(Self.escaped($1))\"" }
    let key = Key(label: label, dimensions: texts.joined(separator: ","))
    return series.withLock { all in
      if let series = all[key] { return series }
      let series = Series(kind)
      all[key] = series
      return series
    }
  }

  private static func escaped(_ text: String) -> String {
    String(
      text.flatMap { character -> String in
        switch character {
        case "\\": "\\\\"
        case "\"": "\\\""
        case "\n": "\\n"
        default: String(character)
        }
      })
  }
}

extension MetricsPage {
  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(.counter, label, dimensions)
  }

  func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    series(aggregate ? .summary : .gauge, label, dimensions)
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(.summary, label, dimensions)
  }

  // What was counted stays on the page: a counter that disappears looks to Prometheus like a process that ended.
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}

/// The values of one metric.
private final class Series: CounterHandler, RecorderHandler, TimerHandler {
  enum Kind: String {
    case counter, gauge, summary
  }

  private struct Values {
    var count = 0
    var sum = 0.0
    var last = 0.0
  }

  let kind: Kind
  private let values = Mutex(Values())

  init(_ kind: Kind) { self.kind = kind }

  func lines(_ label: String, _ dimensions: String) -> [String] {
    let values = values.withLock { $0 }
    let braces = dimensions.isEmpty ? "" : "{\(dimensions)}"
    switch kind {
    case .counter: return ["\(label)\(braces) \(Int(values.sum))"]
    case .gauge: return ["\(label)\(braces) \(Self.text(values.last))"]
    case .summary:
      return [
        "\(label)_sum\(braces) \(Self.text(values.sum))", "\(label)_count\(braces) \(values.count)",
      ]
    }
  }

  /// Whole numbers without a fraction, as a shell compares them.
  private static func text(_ value: Double) -> String {
    Int(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  func record(_ value: Double) {
    values.withLock { values in
      values.count += 1
      values.sum += value
      values.last = value
    }
  }

  func record(_ value: Int64) { record(Double(value)) }
  func increment(by amount: Int64) { record(Double(amount)) }
  func reset() { values.withLock { $0 = Values() } }
  /// Durations are in seconds, as their labels say.
  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
}
