// Notices that a device was asleep, or is back on the network.

/** How often a timer looks whether it was frozen, and how late it must be for that. */
const beatMs = 5_000;
const lateMs = 10_000;

/**
 * Calls a function when a connection may be dead without knowing it: the page comes back, the network comes back, or
 * the process was frozen. `cut`: the network was gone, so the connection is over, however short that was. Returns what
 * ends that.
 */
export function onWake(wake: (cut: boolean) => void): () => void {
  let last = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    if (now - last > beatMs + lateMs) wake(false);
    last = now;
  }, beatMs);
  (timer as { unref?: () => void }).unref?.();

  const target = globalThis as unknown as Partial<Window>;
  const page = target.document;
  const shown = () => page?.visibilityState === "visible" && wake(false);
  const back = () => wake(false);
  const online = () => wake(true);
  page?.addEventListener("visibilitychange", shown);
  target.addEventListener?.("online", online);
  target.addEventListener?.("pageshow", back);
  return () => {
    clearInterval(timer);
    page?.removeEventListener("visibilitychange", shown);
    target.removeEventListener?.("online", online);
    target.removeEventListener?.("pageshow", back);
  };
}
