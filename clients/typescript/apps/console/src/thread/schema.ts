// The form of a JSON value, from its schema: as much of JSON Schema as forms for people need. Everything else is JSON text.

/** A field of a form. */
export type Shape =
  | { kind: "text"; long: boolean; format?: string }
  | { kind: "number"; whole: boolean; min?: number; max?: number }
  | { kind: "flag" }
  | { kind: "choice"; options: readonly unknown[]; names?: readonly string[] }
  | { kind: "list"; of: Shape }
  | { kind: "object"; fields: readonly ShapeField[] }
  | { kind: "json" };

/** A field of an object. */
export interface ShapeField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly required: boolean;
  /** The value that the schema proposes. */
  readonly initial?: unknown;
  readonly shape: Shape;
}

type Schema = Record<string, unknown>;

const deepest = 4;

/** Returns the shape of a value. A value that does not have it is shown as JSON, so that a form never drops a part. */
export function shapeOf(schema: unknown, value: unknown, depth = 0): Shape {
  const s = isObject(schema) ? schema : {};
  const shape = depth > deepest ? ({ kind: "json" } as Shape) : bySchema(s, value, depth);
  return value === undefined || fits(shape, value) ? shape : { kind: "json" };
}

function bySchema(s: Schema, value: unknown, depth: number): Shape {
  if (Array.isArray(s.enum) && s.enum.length > 0) {
    return { kind: "choice", options: s.enum };
  }
  if (Array.isArray(s.oneOf) && s.oneOf.every((one) => isObject(one) && "const" in one)) {
    const named = s.oneOf as Schema[];
    return {
      kind: "choice",
      options: named.map((one) => one.const),
      names: named.map((one) => String(one.title ?? one.const)),
    };
  }
  switch (s.type) {
    case "string": {
      const long =
        typeof value === "string" ? value.length > 80 || value.includes("\n") : Number(s.maxLength ?? 0) > 200;
      return { kind: "text", long, ...(typeof s.format === "string" && { format: s.format }) };
    }
    case "number":
    case "integer":
      return {
        kind: "number",
        whole: s.type === "integer",
        ...(typeof s.minimum === "number" && { min: s.minimum }),
        ...(typeof s.maximum === "number" && { max: s.maximum }),
      };
    case "boolean":
      return { kind: "flag" };
    case "array": {
      const of = shapeOf(s.items, Array.isArray(value) ? value[0] : undefined, depth + 1);
      const simple = of.kind === "text" || of.kind === "number" || of.kind === "choice";
      return simple && (!Array.isArray(value) || value.every((one) => fits(of, one)))
        ? { kind: "list", of }
        : { kind: "json" };
    }
    case "object":
      return objectOf(s, value, depth);
    default:
      return { kind: "json" };
  }
}

function objectOf(s: Schema, value: unknown, depth: number): Shape {
  if (!isObject(s.properties)) {
    return { kind: "json" };
  }
  const required = Array.isArray(s.required) ? s.required : [];
  const given = isObject(value) ? value : {};
  // Servers send the fields of a schema in any order. That of the value is how its author thought of it.
  const rank = (name: string) => (name in given ? 0 : required.includes(name) ? 1 : 2);
  const order = [...new Set([...Object.keys(given), ...Object.keys(s.properties)])].filter(
    (name) => name in (s.properties as Schema),
  );
  order.sort((a, b) => rank(a) - rank(b));
  const properties = s.properties;
  const fields = order.map((name): ShapeField => {
    const inner = properties[name];
    const about = isObject(inner) ? inner : {};
    const shape = shapeOf(inner, given[name], depth + 1);
    return {
      name,
      label: typeof about.title === "string" ? about.title : name,
      ...(typeof about.description === "string" && { hint: about.description }),
      required: required.includes(name),
      ...(about.default !== undefined && fits(shape, about.default) && { initial: about.default }),
      shape,
    };
  });
  // A field that the schema does not name would be lost.
  const unknown = Object.keys(given).some((name) => !fields.some((field) => field.name === name));
  return unknown || fields.length === 0 ? { kind: "json" } : { kind: "object", fields };
}

function fits(shape: Shape, value: unknown): boolean {
  switch (shape.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "flag":
      return typeof value === "boolean";
    case "choice":
      return shape.options.some((one) => one === value);
    case "list":
      return Array.isArray(value) && value.every((one) => fits(shape.of, one));
    case "object":
      return isObject(value);
    case "json":
      return true;
  }
}

/** Reports whether a value is an object with fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A first value of a shape, with what is required. */
export function blankOf(shape: Shape): unknown {
  switch (shape.kind) {
    case "text":
      return "";
    case "number":
      return shape.min ?? 0;
    case "flag":
      return false;
    case "choice":
      return shape.options[0];
    case "list":
      return [];
    case "object":
      return Object.fromEntries(shape.fields.filter((f) => f.required).map((f) => [f.name, blankOf(f.shape)]));
    case "json":
      return null;
  }
}

/** The value with which a form begins: what the schema proposes, and "no" for what is required to be a yes or a no. */
export function startOf(shape: Shape): unknown {
  if (shape.kind !== "object") {
    return undefined;
  }
  const begun = shape.fields.map(({ name, required, initial, shape: inner }) => [
    name,
    initial ?? (required ? (inner.kind === "flag" ? false : startOf(inner)) : undefined),
  ]);
  return Object.fromEntries(begun.filter(([, value]) => value !== undefined));
}

/** Reports whether a value has what its shape requires. */
export function isComplete(shape: Shape, value: unknown): boolean {
  if (shape.kind !== "object" || value === undefined) {
    return true;
  }
  const given = isObject(value) ? value : {};
  return shape.fields.every(
    ({ name, required, shape: inner }) => (!required || given[name] !== undefined) && isComplete(inner, given[name]),
  );
}

/** Reports whether two JSON values are the same. The order of fields does not count. */
export function sameJSON(a: unknown, b: unknown): boolean {
  if (a === b) {
    return true;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, i) => sameJSON(one, b[i]));
  }
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => key in b && sameJSON(a[key], b[key]));
  }
  return false;
}
