import Cambium

/// The commits that the history keeps, the newest first: of the store, of a type or of one record.
struct HistoryPage {
  private let state: StoreSnapshot
  private let request: BrowserRequest
  private let type: String?
  private let key: [FieldValue]?
  /// The commits of the page, newest first, with the changes to be shown alone.
  private let commits: [ShownCommit]
  /// The number of newer commits that were passed over.
  private let offset: Int
  private let isEnd: Bool

  private struct ShownCommit {
    let commit: HistoryCommit
    let changes: [HistoryChange]
  }

  /// The commits of a page.
  private static let count = 50
  /// The commits among which those of a type or record are looked for.
  private static let filteredCount = 2000
  /// The most changes of a commit that are shown.
  private static let changesMax = 100

  /// Returns the address of the page that begins with a commit.
  static func address(of sequence: UInt64) -> Address {
    Address(.history, ["commit": "\(sequence)"])
  }

  /// - Throws: `PageFault` if the store keeps no history; `StoreError.corrupt`, `.io`.
  init(_ state: StoreSnapshot, _ request: BrowserRequest) throws {
    guard try state.historyExtent != nil else {
      throw PageFault(
        404,
        "The store keeps no history. The program that writes it has to open it with StoreOptions.history."
      )
    }
    self.state = state
    self.request = request
    type = request.value("type")
    key =
      try request.values("key").isEmpty ? nil : RecordKey(request, in: state.schema).parts
    let first = request.value("commit").flatMap { UInt64($0) }
    let span = type == nil ? Self.count : Self.filteredCount
    let offset = request.number("offset", atLeast: 0)
    // One commit alone is looked for among as many as a type is.
    let reach = first == nil ? offset + span : Self.filteredCount
    let summaries = try state.lastCommits(reach)
    let shown = summaries.dropFirst(offset).filter { first == nil || $0.sequence == first }
    self.offset = offset
    isEnd = first != nil || summaries.count < reach
    var found: [HistoryCommit] = []
    if let oldest = shown.last, let newest = shown.first {
      let history = try state.history(since: oldest.start)
      while let commit = try history.next(), commit.sequence <= newest.sequence {
        found.append(commit)
      }
    }
    let (type, key) = (type, key)
    commits = found.reversed().compactMap { commit in
      let changes = commit.changes.filter { change in
        (type == nil || change.record == type) && (key == nil || change.key == key)
      }
      return type != nil && changes.isEmpty ? nil : ShownCommit(commit: commit, changes: changes)
    }
  }

  var page: Page {
    let subject = key.map { "\(type ?? "") \($0.map(\.plainText).joined(separator: ", "))" } ?? type
    return Page(
      subject.map { "History of \($0)" } ?? "History",
      type == nil ? "" : "Among the newest \(Figures.count(Self.filteredCount)) commits",
      type: type
    ) {
      if commits.isEmpty { element(.p, [.kind: "notice"], "No such commit is kept.") }
      for commit in commits { section(of: commit) }
      if type == nil {
        element(.nav, [.kind: "pager", .label: "Pages of commits"]) {
          if offset > 0 { element(.a, to: address(max(0, offset - Self.count)), "← Newer") }
          if !isEnd { element(.a, to: address(offset + Self.count), "Older →") }
        }
      }
    }
  }

  private func address(_ offset: Int) -> Address { Address(.history, ["offset": "\(offset)"]) }

  private func section(of shown: ShownCommit) -> HTML {
    let left = shown.changes.count - Self.changesMax
    return element(.section, [.kind: "commit"]) {
      element(.h3) {
        element(
          .a, to: Self.address(of: shown.commit.sequence),
          "Commit \(Figures.count(shown.commit.sequence))")
        " "
        element(.small) {
          FieldValue.date(shown.commit.date).plainText
          if let author = shown.commit.author { " · " + author }
        }
      }
      element(.ul) {
        for change in shown.changes.prefix(Self.changesMax) { line(of: change) }
        if left > 0 { element(.li, "and \(Figures.count(left)) more") }
      }
    }
  }

  private func line(of change: HistoryChange) -> HTML {
    let key = RecordKey(type: change.record, parts: change.key)
    return element(.li) {
      element(
        .span,
        [
          .kind: change.kind == .inserted
            ? "added" : change.kind == .deleted ? "removed" : "changed"
        ], "\(change.kind)")
      " "
      element(.a, to: key.address(), "\(change.record) \(key.text.shortened(to: 80))")
      if let old = change.old {
        element(.small, [.kind: "was"]) {
          "was "
          old.fields.map { "\($0.key) \($0.value.plainText.shortened(to: 60))" }
            .joined(separator: ", ").shortened(to: 400)
        }
      }
    }
  }
}
