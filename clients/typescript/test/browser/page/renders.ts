/** How often each message has rendered, for tests. */
export const renders: Record<string, number> = {};

export function rendered(id: string): void {
  renders[id] = (renders[id] ?? 0) + 1;
}
