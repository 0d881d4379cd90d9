/// The choice among files of the log that hold nothing that is needed.
enum LogRing {
  /// Returns the largest of `free`; of several, that of the oldest use.
  static func largest(of free: [Int], sizes: [UInt32], uses: [UInt64]) -> Int? {
    free.max { one, other in
      sizes[one] != sizes[other] ? sizes[one] < sizes[other] : uses[one] > uses[other]
    }
  }
}
