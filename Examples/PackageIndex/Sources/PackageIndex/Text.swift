import Foundation

extension Int {
  /// As a size in bytes.
  var bytes: String {
    switch self {
    case ..<1024: "\(self) B"
    case ..<1_048_576: String(format: "%.1f KiB", Double(self) / 1024)
    default: String(format: "%.1f MiB", Double(self) / 1_048_576)
    }
  }

  /// With a comma after each three digits.
  var grouped: String {
    let digits = String(self)
    let parts = digits.indices.map { index in
      let left = digits.distance(from: index, to: digits.endIndex)
      return left % 3 == 0 && index != digits.startIndex ? ",\(digits[index])" : "\(digits[index])"
    }
    return parts.joined()
  }

  func perSecond(in elapsed: Duration) -> String {
    let rate = Double(self) / (elapsed / .seconds(1))
    return rate.isFinite ? Int(rate).grouped : "no"
  }
}

extension Duration {
  var text: String {
    let seconds = self / .seconds(1)
    return seconds < 1
      ? String(format: "%.1f ms", seconds * 1000) : String(format: "%.2f s", seconds)
  }
}

/// What the files of a directory take on disk.
enum DirectorySize {
  static func bytes(at path: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
      return sum + ((attributes[.size] as? NSNumber)?.intValue ?? 0)
    }
  }
}
