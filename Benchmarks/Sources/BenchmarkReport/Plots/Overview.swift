/// The workloads of the overview: those in which Cambium is ahead, and those in which it is not.
enum Overview {
  struct Workload {
    let label: String
    let part: String
    let workload: String
    /// How its setting begins, if a certain one is meant; else the first.
    var setting = ""

    func comparison(in results: MeasuredResults) -> Comparison? {
      results.comparisons.first {
        $0.key.part == part && $0.key.workload == workload && $0.key.setting.hasPrefix(setting)
          && $0.own != nil
      }
    }
  }

  static let panels: [(title: String, workloads: [Workload])] = [
    (
      "Write",
      [
        Workload(label: "Commits, one thread", part: "commit", workload: "commit"),
        Workload(
          label: "Commits, 16 threads", part: "commit", workload: "commit", setting: "16 threads"),
        Workload(label: "Load, sorted", part: "load", workload: "load-sorted"),
        Workload(label: "Insert structs", part: "records", workload: "insert-batches"),
      ]
    ),
    (
      "Read",
      [
        Workload(label: "Point reads of raw keys", part: "tree", workload: "point-read-hits"),
        Workload(label: "Scan of raw keys", part: "tree", workload: "scan"),
        Workload(label: "Fetch structs by key", part: "records", workload: "fetch"),
        Workload(label: "Scan of structs", part: "records", workload: "scan"),
      ]
    ),
    (
      "Query",
      [
        Workload(label: "Equality, by index", part: "query", workload: "equality"),
        Workload(label: "Range, by index", part: "query", workload: "range"),
        Workload(label: "Count of a range", part: "query", workload: "count-range"),
        Workload(label: "Top 20, sorted in memory", part: "query", workload: "sorted-top-20"),
      ]
    ),
    (
      "Migrate",
      [
        Workload(label: "Add a required field", part: "migrate", workload: "add"),
        Workload(label: "Make a field required", part: "migrate", workload: "require"),
        Workload(label: "Split a record into two", part: "migrate", workload: "split"),
        Workload(label: "Roll a migration back", part: "migrate", workload: "rollback"),
      ]
    ),
  ]
}
