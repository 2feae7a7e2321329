// What somebody has changed, line by line.

/** A line of a difference. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
}

/** More lines than this are not compared one by one. */
const most = 400;

/** Returns the lines of two texts, with those that are only in one of them. */
export function diff(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) {
    head++;
  }
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) {
    tail++;
  }
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

function middle(a: string[], b: string[]): DiffLine[] {
  if (a.length > most || b.length > most) {
    return [
      ...a.map((text) => ({ kind: "removed", text }) as DiffLine),
      ...b.map((text) => ({ kind: "added", text }) as DiffLine),
    ];
  }
  // longest[i][j] is the length of the longest common part of a from i and b from j.
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const at = (i: number, j: number) => longest[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      (longest[i] as Uint16Array)[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const out: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: "same", text: a[i++] ?? "" });
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      out.push({ kind: "removed", text: a[i++] ?? "" });
    } else {
      out.push({ kind: "added", text: b[j++] ?? "" });
    }
  }
  return out;
}
