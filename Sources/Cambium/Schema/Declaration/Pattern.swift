@_spi(_Unicode) internal import Swift

/// A regular expression that is matched in one pass over the text, by an automaton, without backtracking, whatever pattern and
/// text are. Any number of threads may use it.
///
/// It has the meaning of Swift's `Regex`, whose own parts match single characters: classes, properties, escapes.
/// Whatever only backtracking can match is refused. Idea: Thompson's simulation, as in RE2.
struct Pattern: Sendable {
  private let steps: [Step]
  private let elements: [PatternElement]
  private let hasWordBoundaries: Bool

  private enum Step: Sendable {
    case element(Int)
    case assertion(Assertion)
    /// Continues at both steps.
    case fork(Int, Int)
    case jump(Int)
    case accept
  }

  fileprivate enum Assertion: Sendable {
    case start, end, endOrLastNewline, startOfLine, endOfLine, wordBoundary, noWordBoundary
  }

  /// The steps of a pattern: each is looked at once at most for each character.
  fileprivate static var stepsMax: Int { 10_000 }

  /// A pattern that is no regular expression, or that cannot be matched so.
  struct Fault: Error {
    let reason: String
  }

  /// - Throws: `Fault`.
  init(_ text: String) throws(Fault) {
    do { _ = try Regex(text) } catch { throw Fault(reason: "is no regular expression") }
    var parser = PatternParser(text)
    let node = try parser.whole()
    var compiler = Compiler()
    try compiler.add(node)
    compiler.steps.append(.accept)
    steps = compiler.steps
    elements = parser.elements
    hasWordBoundaries = compiler.steps.contains {
      if case .assertion(.wordBoundary) = $0 {
        true
      } else if case .assertion(.noWordBoundary) = $0 {
        true
      } else {
        false
      }
    }
  }

  private struct Compiler {
    var steps: [Step] = []

    mutating func add(_ node: PatternNode) throws(Fault) {
      guard steps.count < Pattern.stepsMax else {
        throw Fault(reason: "has more than \(Pattern.stepsMax) steps, counting each repetition")
      }
      switch node {
      case .element(let index): steps.append(.element(index))
      case .assertion(let assertion): steps.append(.assertion(assertion))
      case .sequence(let nodes): for node in nodes { try add(node) }
      case .alternatives(let nodes):
        var ends: [Int] = []
        for node in nodes.dropLast() {
          let fork = steps.count
          steps.append(.accept)
          try add(node)
          ends.append(steps.count)
          steps.append(.accept)
          steps[fork] = .fork(fork + 1, steps.count)
        }
        if let last = nodes.last { try add(last) }
        for end in ends { steps[end] = .jump(steps.count) }
      case .repeated(let node, let least, let most):
        for _ in 0..<least { try add(node) }
        guard let most else {
          let fork = steps.count
          steps.append(.accept)
          try add(node)
          steps.append(.jump(fork))
          steps[fork] = .fork(fork + 1, steps.count)
          return
        }
        var forks: [Int] = []
        for _ in least..<max(least, most) {
          forks.append(steps.count)
          steps.append(.accept)
          try add(node)
        }
        for fork in forks { steps[fork] = .fork(fork + 1, steps.count) }
      }
    }
  }
}

// MARK: - Matching

extension Pattern {
  /// Returns true if a part of the text matches.
  ///
  /// - Complexity: O(length × steps).
  func matches(_ text: String) -> Bool {
    var run = Run(self, text)
    return run.matches()
  }

  private struct Run {
    let pattern: Pattern
    let text: String
    /// The steps that wait for the next character, and those that were reached at the present one.
    var waiting: [Int] = []
    var next: [Int] = []
    var stack: [Int] = []
    /// By step, the place at which it was reached last.
    var reached: [Int]
    var place = 0
    var index: String.Index
    let boundaries: Set<String.Index>

    init(_ pattern: Pattern, _ text: String) {
      self.pattern = pattern
      self.text = text
      index = text.startIndex
      reached = [Int](repeating: -1, count: pattern.steps.count)
      boundaries = pattern.hasWordBoundaries ? text.wordBoundaries : []
    }

    mutating func matches() -> Bool {
      while true {
        // A match may begin anywhere.
        if follow(from: 0) { return true }
        swap(&waiting, &next)
        next.removeAll(keepingCapacity: true)
        guard index < text.endIndex else { return false }
        let character = text[index]
        index = text.index(after: index)
        place += 1
        let ascii = character.singleASCII
        for step in waiting {
          if case .element(let element) = pattern.steps[step],
            pattern.elements[element].matches(character, ascii), follow(from: step + 1)
          {
            return true
          }
        }
      }
    }

    /// Adds the steps that follow without a character. Returns true if the pattern has matched.
    mutating func follow(from step: Int) -> Bool {
      stack.append(step)
      while let step = stack.popLast() {
        guard reached[step] != place else { continue }
        reached[step] = place
        switch pattern.steps[step] {
        case .accept: return true
        case .element: next.append(step)
        case .jump(let other): stack.append(other)
        case .fork(let one, let other):
          stack.append(other)
          stack.append(one)
        case .assertion(let assertion): if holds(assertion) { stack.append(step + 1) }
        }
      }
      return false
    }

    private func holds(_ assertion: Assertion) -> Bool {
      switch assertion {
      case .start: index == text.startIndex
      case .end: index == text.endIndex
      case .endOrLastNewline:
        index == text.endIndex
          || text[index].isNewline && text.index(after: index) == text.endIndex
      case .startOfLine:
        index == text.startIndex || text[text.index(before: index)].isNewline
      case .endOfLine: index == text.endIndex || text[index].isNewline
      case .wordBoundary: boundaries.contains(index)
      case .noWordBoundary: !boundaries.contains(index)
      }
    }
  }
}

extension Character {
  /// The value of a character of one byte; nil for any other.
  fileprivate var singleASCII: UInt8? { utf8.count == 1 ? utf8.first : nil }
}

extension String {
  fileprivate var wordBoundaries: Set<Index> {
    var found: Set = [startIndex, endIndex]
    var index = startIndex
    while index < endIndex {
      index = _wordIndex(after: index)
      found.insert(index)
    }
    return found
  }
}

/// A matcher of one character: a part of a `Regex` that matches nothing else. Without closures in it, it may be used by
/// any thread.
private struct PatternElement: @unchecked Sendable {
  private let regex: Regex<AnyRegexOutput>
  /// A bit for each character of ASCII.
  private let ascii: (UInt64, UInt64)

  init(_ text: String) throws(Pattern.Fault) {
    guard let regex = try? Regex(text) else {
      throw Pattern.Fault(reason: "has a part that is not understood, \(text)")
    }
    self.regex = regex
    var ascii: (UInt64, UInt64) = (0, 0)
    for byte in 0..<128 as Range<UInt8> {
      let character = String(UnicodeScalar(byte))
      guard (try? regex.wholeMatch(in: character)) ?? nil != nil else { continue }
      if byte < 64 { ascii.0 |= 1 << UInt64(byte) } else { ascii.1 |= 1 << UInt64(byte - 64) }
    }
    self.ascii = ascii
  }

  func matches(_ character: Character, _ byte: UInt8?) -> Bool {
    if let byte {
      return (byte < 64 ? ascii.0 >> UInt64(byte) : ascii.1 >> UInt64(byte - 64)) & 1 == 1
    }
    return ((try? regex.wholeMatch(in: String(character))) ?? nil) != nil
  }
}

// MARK: - Parsing

private indirect enum PatternNode {
  case element(Int)
  case assertion(Pattern.Assertion)
  case sequence([PatternNode])
  case alternatives([PatternNode])
  case repeated(PatternNode, least: Int, most: Int?)
}

private struct PatternParser {
  private var rest: Substring
  private(set) var elements: [PatternElement] = []
  private var places: [String: Int] = [:]
  /// The options that apply here: of `i`, `s` and `m`.
  private var options: Set<Character> = []

  /// Swift's own parser, which sees each pattern first, refuses less deep nesting today; this bound does not rely on that.
  private static var depthMax: Int { 100 }

  init(_ text: String) { rest = text[...] }

  mutating func whole() throws(Pattern.Fault) -> PatternNode {
    let node = try alternatives(depth: Self.depthMax)
    guard rest.isEmpty else { throw Pattern.Fault(reason: "has a parenthesis too many") }
    return node
  }

  private mutating func take(_ text: String) -> Bool {
    guard rest.hasPrefix(text) else { return false }
    rest = rest.dropFirst(text.count)
    return true
  }

  private mutating func alternatives(depth: Int) throws(Pattern.Fault) -> PatternNode {
    guard depth > 0 else { throw Pattern.Fault(reason: "is nested over \(Self.depthMax) deep") }
    let outer = options
    defer { options = outer }
    var all: [PatternNode] = []
    repeat { all.append(try sequence(depth: depth)) } while take("|")
    return all.count == 1 ? all[0] : .alternatives(all)
  }

  private mutating func sequence(depth: Int) throws(Pattern.Fault) -> PatternNode {
    var nodes: [PatternNode] = []
    while let character = rest.first, character != "|", character != ")" {
      if take("\\Q") {
        while let character = rest.first, !take("\\E") {
          rest.removeFirst()
          nodes.append(try element(literal: character))
        }
      } else if let node = try atom(depth: depth) {
        nodes.append(try repeated(node))
      }
    }
    return .sequence(nodes)
  }

  /// Returns nil for parts that match nothing, as a comment.
  private mutating func atom(depth: Int) throws(Pattern.Fault) -> PatternNode? {
    switch rest.first {
    case "(": return try group(depth: depth)
    case "^":
      rest.removeFirst()
      return .assertion(options.contains("m") ? .startOfLine : .start)
    case "$":
      rest.removeFirst()
      return .assertion(options.contains("m") ? .endOfLine : .end)
    case "[": return try element(characterClass())
    case "\\": return try escape()
    case ".":
      rest.removeFirst()
      return try element(".")
    case let character?:
      rest.removeFirst()
      return try element(literal: character)
    case nil: return nil
    }
  }

  private mutating func element(literal character: Character) throws(Pattern.Fault) -> PatternNode {
    let scalars = character.unicodeScalars
    // Escaped, it means nothing else.
    return try element(scalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined())
  }

  private mutating func element(_ text: String) throws(Pattern.Fault) -> PatternNode {
    let letters = options.intersection(["i", "s"]).sortedRarely()
    let text = letters.isEmpty ? text : "(?\(String(letters)))" + text
    if let place = places[text] { return .element(place) }
    elements.append(try PatternElement(text))
    places[text] = elements.count - 1
    return .element(elements.count - 1)
  }

  private static func backtracks(_ what: String) -> Pattern.Fault {
    Pattern.Fault(
      reason: "has \(what), which only trying every way can match; patterns are matched in one pass"
    )
  }

  // MARK: Groups

  private mutating func group(depth: Int) throws(Pattern.Fault) -> PatternNode? {
    rest.removeFirst()
    if take("?#") {
      while let character = rest.popFirst(), character != ")" {}
      return nil
    }
    if rest.first == "*" { throw Self.backtracks("a directive") }
    if take("?") {
      if take(":") { return try inner(depth) }
      for sign in ["=", "!", "<=", "<!"] where rest.hasPrefix(sign) {
        throw Self.backtracks("a look ahead or behind")
      }
      if rest.first == ">" { throw Self.backtracks("an atomic group") }
      if take("P<") || take("<") {
        while let character = rest.popFirst(), character != ">" {}
        return try inner(depth)
      }
      if take("'") {
        while let character = rest.popFirst(), character != "'" {}
        return try inner(depth)
      }
      return try optionGroup(depth)
    }
    return try inner(depth)
  }

  private mutating func inner(_ depth: Int) throws(Pattern.Fault) -> PatternNode {
    let node = try alternatives(depth: depth - 1)
    guard take(")") else { throw Pattern.Fault(reason: "has a parenthesis too few") }
    return node
  }

  private mutating func optionGroup(_ depth: Int) throws(Pattern.Fault) -> PatternNode? {
    let outer = options
    var isOn = true
    while let character = rest.popFirst() {
      switch character {
      case "-": isOn = false
      case "i", "s", "m":
        if isOn { options.insert(character) } else { options.remove(character) }
      // They are in force up to the end of the group that they are in.
      case ")": return nil
      case ":":
        defer { options = outer }
        return try inner(depth)
      default: throw Self.backtracks("the option \(character)")
      }
    }
    throw Pattern.Fault(reason: "has a parenthesis too few")
  }

  // MARK: Repetitions

  private mutating func repeated(_ node: PatternNode) throws(Pattern.Fault) -> PatternNode {
    var node = node
    while let (least, most) = quantifier() {
      if take("+") { throw Self.backtracks("a possessive repetition") }
      _ = take("?")
      node = .repeated(node, least: least, most: most)
    }
    return node
  }

  private mutating func quantifier() -> (Int, Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    guard rest.first == "{", let end = rest.firstIndex(of: "}") else { return nil }
    let bounds = rest[..<end].dropFirst().split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.filter { $0 != " " } }
    guard (1...2).contains(bounds.count), bounds.contains(where: { !$0.isEmpty }),
      bounds.allSatisfy({ $0.isEmpty || Int($0) != nil })
    else { return nil }
    rest = rest[rest.index(after: end)...]
    let least = Int(bounds[0]) ?? 0
    return bounds.count == 1 ? (least, least) : (least, Int(bounds[1]))
  }

  // MARK: Classes and escapes

  private mutating func characterClass() -> String {
    var text = ""
    var depth = 0
    repeat {
      guard let character = rest.popFirst() else { return text }
      text.append(character)
      switch character {
      case "\\": if let escaped = rest.popFirst() { text.append(escaped) }
      case "[":
        depth += 1
        // Neither a `^` nor a bracket right after it ends the class.
        if rest.first == "^", let negation = rest.popFirst() { text.append(negation) }
        if rest.first == "]", let bracket = rest.popFirst() { text.append(bracket) }
      case "]": depth -= 1
      default: break
      }
    } while depth > 0
    return text
  }

  private mutating func escape() throws(Pattern.Fault) -> PatternNode {
    rest.removeFirst()
    guard let character = rest.popFirst() else { throw Pattern.Fault(reason: "ends with a \\") }
    switch character {
    case "A", "G": return .assertion(.start)
    case "z": return .assertion(.end)
    case "Z": return .assertion(.endOrLastNewline)
    case "b": return .assertion(.wordBoundary)
    case "B": return .assertion(.noWordBoundary)
    case "1"..."9", "k", "g": throw Self.backtracks("a reference to a group")
    case "K", "y", "Y": throw Self.backtracks("\\\(character)")
    case "u", "x", "p", "P", "N", "o":
      var text = "\\\(character)"
      if rest.first == "{" {
        while let next = rest.popFirst() {
          text.append(next)
          if next == "}" { break }
        }
        if character == "u", text.contains(" ") {
          throw Pattern.Fault(reason: "has several scalars in \(text)")
        }
      } else if character == "u" || character == "x" {
        text += digits(character == "u" ? 4 : 2)
      } else if character == "p" || character == "P" {
        if let next = rest.popFirst() { text.append(next) }
      }
      return try element(text)
    case "U": return try element("\\U" + digits(8))
    case "0": return try element("\\0" + digits(3))
    case "c": return try element("\\c" + String(rest.popFirst().map { [$0] } ?? []))
    default: return try element("\\\(character)")
    }
  }

  private mutating func digits(_ most: Int) -> String {
    let digits = rest.prefix(most).prefix { $0.isHexDigit }
    rest = rest.dropFirst(digits.count)
    return String(digits)
  }
}
