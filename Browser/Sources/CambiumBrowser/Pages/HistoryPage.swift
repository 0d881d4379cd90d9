import Cambium
import FoundationEssentials

/// The commits that the history keeps, the newest first: of the store, of a type or of one record.
struct HistoryPage {
  private let state: StoreSnapshot
  private let request: BrowserRequest
  private let type: String?
  private let key: [FieldValue]?
  /// The commits of the page, newest first.
  private let commits: [ShownCommit]
  /// The number of newer commits that were passed over.
  private let offset: Int
  private let isEnd: Bool

  /// A commit without the changes that the page does not show, of which there may be millions.
  private struct ShownCommit {
    let sequence: UInt64
    let date: Date
    let author: String?
    /// The first changes that are to be shown.
    let changes: [HistoryChange]
    /// The number of all changes that are to be shown.
    let changeCount: Int

    init(_ commit: HistoryCommit, _ isShown: (HistoryChange) -> Bool) {
      (sequence, date, author) = (commit.sequence, commit.date, commit.author)
      changes = Array(commit.changes.lazy.filter(isShown).prefix(HistoryPage.changesMax))
      changeCount = commit.changes.count(where: isShown)
    }
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
    let (type, key) = (type, key)
    var found: [ShownCommit] = []
    if let oldest = shown.last, let newest = shown.first {
      let history = try state.history(since: oldest.start)
      while let commit = try history.next(), commit.sequence <= newest.sequence {
        let shown = ShownCommit(commit) { change in
          (type == nil || change.record == type) && (key == nil || change.key == key)
        }
        if type == nil || shown.changeCount > 0 { found.append(shown) }
      }
    }
    commits = found.reversed()
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
    let left = shown.changeCount - shown.changes.count
    return element(.section, [.kind: "commit"]) {
      element(.h3) {
        element(
          .a, to: Self.address(of: shown.sequence), "Commit \(Figures.count(shown.sequence))")
        " "
        element(.small) {
          FieldValue.date(shown.date).plainText
          if let author = shown.author { " · " + author }
        }
      }
      element(.ul) {
        for change in shown.changes { line(of: change) }
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
