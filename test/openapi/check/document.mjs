// Reading a document and finding one's way in it.
import { parseDocument as parseYAML } from "yaml";

/**
 * Parses a document. JSON is read as YAML, which it is, because the parser of JSON would
 * let the last of two equal keys win without a word.
 *
 * @param {string} text
 * @returns {{ document: unknown, problems: { at: string, text: string }[] }}
 */
export function parseDocument(text) {
  const parsed = parseYAML(text, { uniqueKeys: true, prettyErrors: true });
  const problems = [...parsed.errors, ...parsed.warnings].map((problem) => ({
    at: "#",
    text: problem.message.split("\n")[0],
  }));
  if (problems.length > 0) {
    return { document: undefined, problems };
  }
  return { document: parsed.toJS(), problems };
}

/** Returns the pointer of a member of what is at a pointer. */
export function join(at, ...names) {
  const escaped = names.map((name) => String(name).replaceAll("~", "~0").replaceAll("/", "~1"));
  return [at, ...escaped].join("/");
}

/** Returns what a reference within the document points to, or undefined. */
export function lookUp(document, reference) {
  if (reference === "#") {
    return document;
  }
  if (!reference.startsWith("#/")) {
    return undefined;
  }
  let found = document;
  for (const part of reference.slice(2).split("/")) {
    let name;
    try {
      name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    } catch {
      return undefined;
    }
    if (found === null || typeof found !== "object" || !Object.hasOwn(found, name)) {
      return undefined;
    }
    found = found[name];
  }
  return found;
}

/** Follows references from a value to what they mean. Circles and dead ends are undefined. */
export function resolve(document, value) {
  const seen = new Set();
  while (typeof value?.$ref === "string") {
    if (seen.has(value.$ref)) {
      return undefined;
    }
    seen.add(value.$ref);
    value = lookUp(document, value.$ref);
  }
  return value;
}

const isObject = (value) => value !== null && typeof value === "object";

// What is below these is data and has no references, whatever it looks like.
const data = new Set(["const", "default", "enum", "example", "value"]);

// The names below these are the author's, so that one of them may be "default" or "$ref".
const maps = new Set([
  "$defs", "callbacks", "content", "dependentSchemas", "encoding", "examples", "headers",
  "links", "mapping", "pathItems", "paths", "patternProperties", "properties",
  "requestBodies", "responses", "schemas", "scopes", "securitySchemes", "variables",
  "webhooks",
]);

/**
 * Yields all objects of the document that OpenAPI gives a meaning to, with their pointers
 * and the key that they are under, and leaves out examples and extensions.
 */
export function* objectsOf(value, at = "#", key = "", isMap = false) {
  if (!isObject(value)) {
    return;
  }
  if (!Array.isArray(value) && !isMap) {
    yield { value, at, key };
  }
  for (const [name, member] of Object.entries(value)) {
    if (isMap || Array.isArray(value)) {
      yield* objectsOf(member, join(at, name), key);
      continue;
    }
    const examples = name === "examples" && Array.isArray(member);
    if (data.has(name) || examples || name.startsWith("x-")) {
      continue;
    }
    // The parameters of an operation are a list, those of the components have names.
    const named = maps.has(name) || (name === "parameters" && !Array.isArray(member));
    yield* objectsOf(member, join(at, name), name, named && !Array.isArray(member));
  }
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** Yields the operations of the document: those of its paths, webhooks and callbacks. */
export function* operationsOf(document) {
  for (const under of ["paths", "webhooks"]) {
    yield* operationsIn(document, document[under], join("#", under), under === "webhooks");
  }
  const { callbacks, pathItems } = document.components ?? {};
  for (const [name, callback] of Object.entries(callbacks ?? {})) {
    yield* operationsIn(document, callback, join("#/components/callbacks", name), true);
  }
  yield* operationsIn(document, pathItems, "#/components/pathItems", true);
}

function* operationsIn(document, items, at, isFree) {
  for (const [path, item] of Object.entries(items ?? {})) {
    // What is referred to is seen where it is defined.
    if (!isObject(item) || item.$ref !== undefined) {
      continue;
    }
    for (const method of methods.filter((name) => isObject(item[name]))) {
      const operation = item[method];
      const place = join(at, path, method);
      // The path of a callback is an expression, that of a path item is not known.
      yield { path: isFree ? undefined : path, item, itemAt: join(at, path), method, operation, at: place };
      for (const [name, callback] of Object.entries(operation.callbacks ?? {})) {
        yield* operationsIn(document, callback, join(place, "callbacks", name), true);
      }
    }
  }
}
