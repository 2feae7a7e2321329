// How numbers, times and JSON are written.
const number = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

export function count(value: number): string {
  return number.format(value);
}

/** 1234 is "1.2k". */
export function short(value: number): string {
  if (value < 1000) {
    return String(value);
  }
  const [size, unit] = value < 1e6 ? [1e3, "k"] : value < 1e9 ? [1e6, "M"] : [1e9, "G"];
  const scaled = value / size;
  return (scaled < 10 ? scaled.toFixed(1).replace(/\.0$/, "") : Math.floor(scaled)) + unit;
}

export function bytes(value: number): string {
  return value < 1000 ? `${value} B` : short(value).replace(/(\D)$/, " $1B");
}

/** Millionths of a currency. */
export function money(micros: number, currency = "USD"): string {
  const value = micros / 1e6;
  const digits = value !== 0 && Math.abs(value) < 0.01 ? 6 : 2;
  return `${value.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, "$1")} ${currency}`;
}

export function duration(ms: number): string {
  if (ms < 1000) {
    return `${Math.max(0, Math.round(ms))} ms`;
  }
  const s = ms / 1000;
  if (s < 60) {
    return `${s < 10 ? s.toFixed(1) : Math.floor(s)} s`;
  }
  const m = Math.floor(s / 60);
  if (m < 60) {
    return `${m} min ${Math.floor(s % 60)} s`;
  }
  const h = Math.floor(m / 60);
  return h < 48 ? `${h} h ${m % 60} min` : `${Math.floor(h / 24)} d ${h % 24} h`;
}

/** The time of today, or the day. */
export function moment(at: string, now = Date.now()): string {
  const when = new Date(at);
  return Math.abs(now - when.getTime()) < 20 * 3_600_000
    ? clock.format(when)
    : `${day.format(when)} ${clock.format(when).slice(0, 5)}`;
}

/** How long ago: "3 min". */
export function ago(at: string, now: number): string {
  const s = Math.max(0, (now - new Date(at).getTime()) / 1000);
  if (s < 60) {
    return s < 5 ? "now" : `${Math.floor(s)} s`;
  }
  if (s < 3600) {
    return `${Math.floor(s / 60)} min`;
  }
  return s < 86_400 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86_400)} d`;
}

/** "3 min ago". */
export function since(at: string, now: number): string {
  const long = ago(at, now);
  return long === "now" ? "just now" : `${long} ago`;
}

/** "in 3 min", or "3 min ago". */
export function due(at: string, now: number): string {
  const ms = new Date(at).getTime() - now;
  return ms > 0 ? `in ${ago(new Date(now - ms).toISOString(), now)}` : `${ago(at, now)} ago`;
}

/** A time in the zone of a schedule, so that nobody has to convert it. */
export function inZone(at: string, zone = "UTC"): string {
  const format = { dateStyle: "medium", timeStyle: "short" } as const;
  try {
    return `${new Intl.DateTimeFormat("en-GB", { ...format, timeZone: zone }).format(new Date(at))} ${zone}`;
  } catch {
    return at; // the browser does not know the zone
  }
}

/** JSON in several lines. Texts stay as they are. */
export function pretty(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

/** The beginning of a text in one line, in quotes. */
export function quoted(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return `“${line.length > 80 ? `${line.slice(0, 79)}…` : line}”`;
}

/** The names in what a server says about itself: "a (the default), b". */
export function namesOf(list = "none"): string[] {
  return list === "none" ? [] : list.replace(/ \([^)]*\)/g, "").split(", ");
}

/** Which attempt a run is at, or how many have failed, which is what `attempts` counts. */
export function attemptOf({ attempts, state }: { attempts: number; state: string }): string {
  if (["QUEUED", "RUNNING", "WAITING_FOR_INPUT"].includes(state)) {
    return `attempt ${attempts + 1}`;
  }
  return attempts === 1 ? "1 failed attempt" : `${attempts} failed attempts`;
}

/** Characters without a shape, and those that turn the direction of writing: with them a text reads as another one. */
const unseen = /[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Writes such characters as JSON escapes. In JSON it is the same value. */
export function visible(text: string): string {
  return text.replace(unseen, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The beginning of a value in one line. Its work does not grow with the value. */
export function glance(value: unknown, length = 120): string {
  let left = length;
  const text = (value: unknown): string => {
    if (left <= 0) {
      return "";
    }
    if (typeof value === "string") {
      const part = visible(JSON.stringify(value.length > left ? `${value.slice(0, left)}…` : value));
      left -= part.length;
      return part;
    }
    if (Array.isArray(value)) {
      return list(value.length, "[", "]", (i) => text(value[i]));
    }
    if (typeof value === "object" && value !== null) {
      const keys = Object.keys(value);
      return list(keys.length, "{", "}", (i) => {
        const name = keys[i] ?? "";
        left -= name.length + 2;
        return `${name}: ${text((value as Record<string, unknown>)[name])}`;
      });
    }
    const part = String(value);
    left -= part.length;
    return part;
  };
  const list = (size: number, open: string, close: string, item: (i: number) => string): string => {
    let out = "";
    for (let i = 0; i < size; i++) {
      if (left <= 0) {
        return `${open}${out}, …${close}`;
      }
      out += (i > 0 ? ", " : "") + item(i);
    }
    return open + out + close;
  };
  return text(value);
}
