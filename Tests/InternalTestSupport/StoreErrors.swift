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
