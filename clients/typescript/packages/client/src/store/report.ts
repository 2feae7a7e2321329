/**
 * Calls a function of the application. What it throws is reported, as that of an event listener is, and does not end
 * what the caller is at.
 */
export function report(call: () => void): void {
  try {
    call();
  } catch (thrown) {
    if (typeof reportError === "function") reportError(thrown);
    else void Promise.reject(thrown);
  }
}
