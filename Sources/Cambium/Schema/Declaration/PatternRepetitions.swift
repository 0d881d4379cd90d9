/// Looks in a regular expression for a repetition within a repeated group, as `(a+)+`: a text that nearly matches
/// can be divided among the two in exponentially many ways, and all of them are tried.
///
/// A group whose repetitions begin or end with a mark that nothing else in it matches, as `([a-z]+\.)+`, can be
/// divided in one way only.
struct PatternRepetitions {
  private var scalars: ArraySlice<Unicode.Scalar>
  private var groups: [Group] = [Group()]
  private(set) var hasNested = false

  /// The state of a group that is open.
  private struct Group {
    /// True if anything in it is repeated, and may be so again in another way.
    var hasRepetition = false
    var hasAlternatives = false
    /// True for groups that never backtrack: atomic ones, lookahead and lookbehind.
    var isAtomic = false
    var items: [Item] = []

    /// True if each repetition begins or ends with a mark that is nowhere else in it.
    var isSeparated: Bool {
      guard !hasAlternatives else { return false }
      return [items.first, items.last].contains { item in
        guard let mark = item?.mark, mark.isMark else { return false }
        return items.count { $0.matches(mark) } == 1
      }
    }
  }

  /// One element of a pattern: something that matches a character, or a group.
  private struct Item {
    /// If it is one character, and there is no way around it.
    var mark: Unicode.Scalar?
    /// Returns true if the element can match a mark.
    var matches: @Sendable (Unicode.Scalar) -> Bool
  }

  init(_ pattern: String) {
    scalars = Array(pattern.unicodeScalars)[...]
    while let scalar = scalars.popFirst() {
      switch scalar {
      case "(": begin()
      case ")": end()
      case "|": groups[groups.count - 1].hasAlternatives = true
      case "^", "$": break
      case "[": add(characterClass())
      case ".": add { _ in true }
      case "\\": addEscaped()
      default: add(scalar)
      }
    }
  }

  private mutating func begin() {
    var group = Group()
    if scalars.first == "?" {
      scalars.removeFirst()
      let kind = scalars.prefix(2)
      let isNamed = kind.first == "P" || kind.first == "<" && kind.last != "=" && kind.last != "!"
      group.isAtomic = !isNamed && kind.first.map { ">=!<".unicodeScalars.contains($0) } ?? false
      while let scalar = scalars.first, scalar != ")" {
        if !isNamed, scalar == "(" || scalar == "[" || scalar == "\\" { break }
        scalars.removeFirst()
        if scalar == ":" || (scalar == ">" && (isNamed || kind.first == ">")) { break }
        if scalar == "=" || scalar == "!" { break }
      }
    }
    groups.append(group)
  }

  private mutating func end() {
    guard groups.count > 1 else { return }
    let group = groups.removeLast()
    let isRepeated = takeQuantifier() == .repeated
    if isRepeated, group.hasRepetition, !group.isAtomic, !group.isSeparated { hasNested = true }
    let last = groups.count - 1
    if isRepeated || group.hasRepetition && !group.isAtomic { groups[last].hasRepetition = true }
    let items = group.items
    groups[last].items.append(Item { mark in items.contains { $0.matches(mark) } })
  }

  private mutating func add(_ scalar: Unicode.Scalar) {
    add(mark: scalar) { $0 == scalar }
  }

  private mutating func add(
    mark: Unicode.Scalar? = nil, _ matches: @escaping @Sendable (Unicode.Scalar) -> Bool
  ) {
    let quantifier = takeQuantifier()
    let last = groups.count - 1
    if quantifier == .repeated { groups[last].hasRepetition = true }
    groups[last].items.append(Item(mark: quantifier == .none ? mark : nil, matches: matches))
  }

  private mutating func addEscaped() {
    guard let scalar = scalars.popFirst() else { return }
    switch scalar {
    case "b", "B", "A", "Z", "z", "G": break
    case "w", "d", "s", "h", "v", "n", "t", "r": add { _ in false }
    case _ where scalar.properties.isAlphabetic || scalar.properties.numericType != nil:
      add { _ in true }
    default: add(scalar)
    }
  }

  // MARK: Quantifiers

  private enum Quantifier {
    case none
    /// A fixed number of times, or perhaps not; or for good.
    case definite
    case repeated
  }

  private mutating func takeQuantifier() -> Quantifier {
    var quantifier = Quantifier.none
    switch scalars.first {
    case "*", "+":
      scalars.removeFirst()
      quantifier = .repeated
    case "?":
      scalars.removeFirst()
      quantifier = .definite
    case "{":
      guard let end = scalars.firstIndex(of: "}") else { return .none }
      let bounds = scalars[scalars.startIndex..<end].dropFirst()
        .split(separator: ",", omittingEmptySubsequences: false)
        .map { bound in
          String(String.UnicodeScalarView(bound)).filter { $0 != " " }
        }
      guard bounds.count <= 2, bounds.allSatisfy({ $0.allSatisfy(\.isNumber) }) else {
        return .none
      }
      scalars = scalars[(end + 1)...]
      let isDefinite =
        bounds.count == 1 || bounds[0] == bounds[1] || ["0", "1"].contains(bounds[1])
      quantifier = isDefinite ? .definite : .repeated
    default: return .none
    }
    switch scalars.first {
    case "?": scalars.removeFirst()
    case "+":
      scalars.removeFirst()
      quantifier = .definite
    default: break
    }
    return quantifier
  }

  // MARK: Classes

  /// Returns true if a class has a mark in it; one within another, or a range of marks, may have any.
  private mutating func characterClass() -> @Sendable (Unicode.Scalar) -> Bool {
    var isNegated = false
    var members: Set<Unicode.Scalar> = []
    var isAnything = false
    var depth = 1
    if scalars.first == "^" {
      scalars.removeFirst()
      isNegated = true
    }
    var isFirst = true
    while depth > 0, let scalar = scalars.popFirst() {
      switch scalar {
      case "]" where !isFirst: depth -= 1
      case "[":
        depth += 1
        isAnything = true
      case "&", "~": isAnything = isAnything || scalars.first == scalar
      case "-" where scalars.first == "-": isAnything = true
      case "-" where !isFirst && scalars.first != "]":
        let isOfMarks = scalars.first.map { $0.isMark } ?? true
        if isOfMarks { isAnything = true }
      case "\\":
        guard let escaped = scalars.popFirst() else { break }
        if escaped.isMark {
          members.insert(escaped)
        } else if !"wdshvntr".unicodeScalars.contains(escaped) {
          isAnything = true
        }
      default: members.insert(scalar)
      }
      isFirst = false
    }
    if isAnything { return { _ in true } }
    let (found, given) = (!isNegated, members)
    return { given.contains($0) == found }
  }
}

extension Unicode.Scalar {
  /// True for punctuation: neither part of a word nor a space.
  fileprivate var isMark: Bool {
    isASCII && !properties.isAlphabetic && properties.numericType == nil && self != "_"
      && !properties.isWhitespace
  }
}
