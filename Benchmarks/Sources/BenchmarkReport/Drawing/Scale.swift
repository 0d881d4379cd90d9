/// Where values lie on an axis.
struct Scale {
  enum Kind {
    case linear
    case logarithmic
  }

  let kind: Kind
  let values: ClosedRange<Double>
  /// Where the least and the greatest value are, in pixels: the second may be the smaller one.
  let pixels: (from: Double, to: Double)

  /// - Parameter values: Above zero, for a logarithmic scale.
  init(_ kind: Kind, _ values: ClosedRange<Double>, from: Double, to: Double) {
    self.kind = kind
    self.values = values
    pixels = (from, to)
  }

  func position(_ value: Double) -> Double {
    let (low, high) = (place(values.lowerBound), place(values.upperBound))
    guard high > low else { return pixels.from }
    return pixels.from + (place(value) - low) / (high - low) * (pixels.to - pixels.from)
  }

  private func place(_ value: Double) -> Double {
    switch kind {
    case .linear: value
    case .logarithmic: logarithm(max(value, .leastNormalMagnitude))
    }
  }

  /// Round values within the range.
  var ticks: [Double] {
    switch kind {
    case .linear: linearTicks
    case .logarithmic: logarithmicTicks
    }
  }

  /// About six steps of 1, 2 or 5 times a power of ten.
  private var linearTicks: [Double] {
    let extent = values.upperBound - values.lowerBound
    guard extent > 0 else { return [values.lowerBound] }
    let rough = extent / 6
    let power = powerOfTen(Int(logarithm(rough).rounded(.down)))
    let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough
    let first = (values.lowerBound / step).rounded(.up)
    let last = (values.upperBound / step).rounded(.down)
    return stride(from: first, through: last, by: 1).map { $0 * step }
  }

  /// Powers of ten, and within few of them 2 and 5 times these.
  private var logarithmicTicks: [Double] {
    let low = Int(logarithm(values.lowerBound).rounded(.down))
    let high = Int(logarithm(values.upperBound).rounded(.up))
    let factors: [Double] = high - low <= 3 ? [1, 2, 5] : [1]
    return (low...max(low, high)).flatMap { power in factors.map { $0 * powerOfTen(power) } }
      .filter { values.contains($0) }
  }
}

/// Exact for the exponents of an axis, where `pow` may be off by a bit.
private func powerOfTen(_ exponent: Int) -> Double {
  let power = (0..<abs(exponent)).reduce(1.0) { power, _ in power * 10 }
  return exponent < 0 ? 1 / power : power
}

extension ClosedRange<Double> {
  /// All values and a margin, for a logarithmic scale.
  static func around(_ values: [Double], margin: Double) -> ClosedRange {
    let positive = values.filter { $0 > 0 && $0.isFinite }
    let (low, high) = (positive.min() ?? 1, positive.max() ?? 1)
    return low / margin...high * margin
  }
}
