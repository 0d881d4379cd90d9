import BenchmarkReport

/// The steps of a report, in this order: each step a command with its arguments, in a process of its own.
///
/// The whole run has stores of at least a million records where figures are about the disk or the caches, so that
/// writes go through folds, checkpoints and compactions. The quick one shows that everything works.
enum BenchmarkPlan {
  static func steps(isQuick: Bool) -> [PlannedStep] { isQuick ? quick : whole }

  private static let relaxedEngines = "cambium,lmdb-nosync,sqlite,rocksdb"
  private static let recordWrites =
    "insert-each,save-each,insert-once,insert-batches,update,delete"

  // LMDB's relaxed commits that lose no more than the last one flush too, and would take minutes for work that others
  // do in seconds: there, only those without any flush take part. SQLite is not asked for ten million random keys in
  // batches, for the same reason.
  private static let whole: [PlannedStep] = [
    step("tree", "tree --records 1000000 --rounds 3"),
    step("tree-large", "tree --records 10000000 --key random16 --rounds 1"),
    step("commit-durable", "commit --records 10000 --threads 1,16 --rounds 3"),
    step(
      "commit-relaxed-ascending",
      "commit --durability relaxed --records 1000000 --keys ascending --rounds 3 --engines "
        + relaxedEngines),
    step(
      "commit-relaxed-random",
      "commit --durability relaxed --records 500000 --preload 1000000 --rounds 3 --engines "
        + relaxedEngines),
    step("load-one", "load --records 1000000 --rounds 3"),
    step("load-batches", "load --records 1000000 --transactions batches --rounds 3"),
    step("load-removal", "load --records 1000000 --removal --rounds 3"),
    step("scale", "scale --records 100000,1000000 --rounds 3"),
    step(
      "scale-large", "scale --records 10000000 --rounds 1 --engines cambium,lmdb,rocksdb"),
    step(
      "records-durable",
      "records --records 100000 --durability durable --singles 2000 --folder-max 5000 --rounds 3"),
    step(
      "records-relaxed",
      "records --records 100000 --durability relaxed --folder-max 5000 --rounds 3 --workloads "
        + recordWrites),
    step(
      "records-ascending",
      "records --records 100000 --singles 100000 --durability relaxed --indexes none --keys ascending"
        + " --engines cambium,grdb --workloads save-each --rounds 3"),
    step(
      "records-large",
      "records --records 1000000 --durability relaxed --indexes none --engines cambium,grdb,grdb-rowid"
        + " --workloads insert-batches,fetch,fetch-each,scan,update,delete --rounds 3"),
    step("import", "import --records 100000 --rounds 3"),
    step("convert", "convert --rounds 3"),
    step("query", "query --records 1000000 --rounds 3"),
    step("questions", "questions --rounds 5"),
    step("text", "text --records 100000 --rounds 3"),
    step("relate", "relate --records 1000000 --rounds 3"),
    step("observe", "observe --records 1000000 --rounds 3"),
    step("migrate", "migrate --records 1000000 --rounds 3"),
    step(
      "migrate-sizes",
      "migrate --records 10000,100000,10000000 --workloads require --rounds 1"),
    step("blobs", "blobs --rounds 3"),
    step("compact", "compact --records 1000000 --rounds 3"),
    step("engine", "engine --records 1000000 --rounds 3"),
  ]

  private static let quick: [PlannedStep] = [
    step("tree", "tree --records 100000 --reads 100000 --rounds 1"),
    step("commit-durable", "commit --records 1000 --threads 1,16 --rounds 1"),
    step(
      "commit-relaxed",
      "commit --durability relaxed --records 50000 --rounds 1 --engines " + relaxedEngines),
    step("load-one", "load --records 100000 --rounds 1"),
    step("load-batches", "load --records 100000 --transactions batches --rounds 1"),
    step("load-removal", "load --records 100000 --removal --rounds 1"),
    step("scale", "scale --records 10000,100000 --rounds 1"),
    step(
      "records-durable",
      "records --records 10000 --durability durable --singles 500 --fetches 10000 --folder-max 500"
        + " --rounds 1"),
    step(
      "records-relaxed",
      "records --records 10000 --durability relaxed --singles 2000 --fetches 10000 --folder-max 500"
        + " --rounds 1 --workloads " + recordWrites),
    step("import", "import --records 20000 --rounds 1"),
    step("convert", "convert --rows 102000 --lines 50000 --rounds 1"),
    step("query", "query --records 100000 --rounds 1"),
    step("questions", "questions --share 0.05 --rounds 1"),
    step("text", "text --records 10000 --rounds 1"),
    step("relate", "relate --records 20000 --rounds 1"),
    step("observe", "observe --records 100000 --commits 10000 --rounds 1"),
    step("migrate", "migrate --records 100000 --rounds 1"),
    step("migrate-sizes", "migrate --records 10000,1000000 --workloads require --rounds 1"),
    step(
      "blobs",
      "blobs --mebibytes 16 --blobs 500 --stream-mebibytes 64 --ranges 200 --rounds 1"),
    step("compact", "compact --records 100000 --commits 2000 --rounds 1"),
    step("engine", "engine --records 100000 --commits 10000 --level-records 0 --rounds 1"),
  ]

  private static func step(_ name: String, _ arguments: String) -> PlannedStep {
    PlannedStep(name, arguments.split(separator: " ").map(String.init))
  }
}
