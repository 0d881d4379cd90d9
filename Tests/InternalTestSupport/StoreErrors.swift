@testable import Cambium

/// Returns the store's error that `body` throws, or nil if it throws none.
func storeError<Result, Failure: Error>(_ body: () throws(Failure) -> Result) -> StoreError? {
  do throws(Failure) {
    _ = try body()
    return nil
  } catch {
    return error as? StoreError
  }
}

extension StoreError {
  /// True if it is damage that breaks a rule.
  func breaks(_ invariant: Invariant) -> Bool {
    if case .corrupt(_, invariant, _) = self { true } else { false }
  }
}
