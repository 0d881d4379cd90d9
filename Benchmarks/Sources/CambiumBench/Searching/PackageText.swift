/// A record with a text, as the index of packages has one for each.
struct PackageText: Codable, Hashable, Sendable {
  var id: Int
  var body: String
}

/// The vocabulary of the descriptions. The word of rank n occurs in proportion to 1 / (n + 1), as in natural languages.
struct Vocabulary {
  private let words: [String]
  /// The sum of the shares of all words up to each.
  private let sums: [Double]

  init(count: Int = 30_000) {
    words = (0..<count).map(Self.word)
    var sum = 0.0
    sums = (0..<count).map { rank in
      sum += 1 / Double(rank + 1)
      return sum
    }
  }

  subscript(rank: Int) -> String { words[rank] }

  /// A rank by its share.
  func rank(_ random: inout SplitMix64) -> Int {
    let sought = Double(random.next() >> 11) / Double(UInt64(1) << 53) * sums[sums.count - 1]
    var low = 0
    var high = sums.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sums[middle] <= sought { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// A description of 10 to 34 words, so of 150 bytes in the mean.
  func description(_ random: inout SplitMix64) -> String {
    let count = 10 + Int(random.next() % 25)
    var text = ""
    for place in 0..<count {
      let word = words[rank(&random)]
      if place > 0 { text += random.next() % 8 == 0 ? ", " : " " }
      text += place == 0 ? word.prefix(1).uppercased() + word.dropFirst() : word
    }
    return text + "."
  }

  /// Different for each rank, and the longer the rarer.
  private static func word(_ rank: Int) -> String {
    let (consonants, vowels) = (Array("bcdfghklmnprstvw"), Array("aeiou"))
    var word = ""
    // Ranks that follow one another do not begin alike.
    var left = rank &* 7_919 % 80
    var high = rank / 80
    word.append(consonants[left % 16])
    word.append(vowels[left / 16])
    while high > 0 {
      left = (high - 1) % 80
      word.append(consonants[left % 16])
      word.append(vowels[left / 16])
      high = (high - 1) / 80
    }
    return rank < 16 ? word : word + endings[rank % endings.count]
  }

  private static let endings = ["ning", "ter", "tion", "s", "nal", "ment", "ly", "ken"]
}
