// Small pure helpers that keep the identity of what has not changed.

/** Whether two JSON values are equal. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((k) => same((a as Record<string, unknown>)[k], (b as Record<string, unknown>)[k]));
}

/** The list with the old object in the place of each one that is equal to it, or the old list if all are. */
export function shared<T extends object>(
  old: readonly T[],
  next: readonly T[],
  key: (value: T) => unknown,
): readonly T[] {
  if (old.length === 0) return next;
  const known = new Map(old.map((value) => [key(value), value]));
  let changed = old.length !== next.length;
  const out = next.map((value, i) => {
    const before = known.get(key(value));
    const kept = before && same(before, value) ? before : value;
    changed ||= kept !== old[i];
    return kept;
  });
  return changed ? out : old;
}

/** The list without some elements, or the same list if none of them goes. */
export function without<T>(list: readonly T[], goes: (value: T) => boolean): readonly T[] {
  return list.some(goes) ? list.filter((value) => !goes(value)) : list;
}

/** The list with an element in the place of the first that matches, or behind all others. */
export function put<T>(list: readonly T[], value: T, matches: (other: T) => boolean): readonly T[] {
  const at = list.findIndex(matches);
  return at < 0 ? [...list, value] : list.with(at, value);
}

/** The object with other fields, or the same object if it has them. */
export function having<T extends object>(value: T, fields: Partial<T>): T {
  return (Object.keys(fields) as (keyof T)[]).every((k) => value[k] === fields[k]) ? value : { ...value, ...fields };
}

/** The object with other fields. One that is undefined, null or "" goes. */
export function merged<T extends object>(value: T, fields: { [K in keyof T]?: T[K] | null | undefined | "" }): T {
  const out = { ...value } as Record<string, unknown>;
  for (const [name, field] of Object.entries(fields)) {
    if (field === undefined || field === null || field === "") delete out[name];
    else out[name] = field;
  }
  return out as T;
}
