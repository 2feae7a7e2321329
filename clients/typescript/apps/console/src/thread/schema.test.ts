import { expect, test } from "vitest";
import { blankOf, isComplete, sameJSON, shapeOf, startOf } from "./schema.js";

const email = {
  type: "object",
  properties: {
    to: { type: "string", format: "email", description: "Who gets it" },
    copies: { type: "array", items: { type: "string" } },
    priority: { enum: ["low", "high"] },
    count: { type: "integer", minimum: 1 },
    html: { type: "boolean" },
    meta: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
    any: {},
  },
  required: ["to"],
};

test("a schema becomes a form", () => {
  const shape = shapeOf(email, { to: "ann@example.com" });
  expect(shape.kind).toBe("object");
  expect(shape.kind === "object" && shape.fields.map((f) => [f.name, f.shape.kind, f.required])).toEqual([
    ["to", "text", true],
    ["copies", "list", false],
    ["priority", "choice", false],
    ["count", "number", false],
    ["html", "flag", false],
    ["meta", "object", false],
    ["any", "json", false],
  ]);
  expect(blankOf(shape)).toEqual({ to: "" });
});

test("the fields come in the order of the value, then those that are required", () => {
  const schema = {
    properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "string" } },
    type: "object",
    required: ["c"],
  };
  const names = (value: unknown) => {
    const shape = shapeOf(schema, value);
    return shape.kind === "object" && shape.fields.map((field) => field.name);
  };
  expect(names({ c: "1", a: "2" })).toEqual(["c", "a", "b"]);
  expect(names(undefined)).toEqual(["c", "a", "b"]);
});

test("what a form would lose or cannot show is JSON", () => {
  expect(shapeOf(email, { to: "a", bcc: "b" }).kind, "a field that the schema does not name").toBe("json");
  expect(shapeOf(email, "text").kind, "a value of another type").toBe("json");
  expect(shapeOf(null, { a: 1 }).kind, "no schema").toBe("json");
  expect(shapeOf({ type: "object" }, {}).kind, "no fields").toBe("json");
  expect(shapeOf({ anyOf: [{ type: "string" }] }, "a").kind, "a word that is not known").toBe("json");
  const inner = shapeOf(email, { to: "a", copies: ["b", 1] });
  expect(inner.kind === "object" && inner.fields[1]?.shape.kind, "a list of several types").toBe("json");
  expect(shapeOf({ enum: ["a"] }, "b").kind, "a choice that is none").toBe("json");
});

test("a schema without end ends", () => {
  const endless: Record<string, unknown> = { type: "object", required: ["in"] };
  endless.properties = { in: endless };
  expect(() => blankOf(shapeOf(endless, undefined))).not.toThrow();
});

test("the order of fields does not make a difference", () => {
  expect(sameJSON({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 })).toBe(true);
  expect(sameJSON({ a: 1 }, { a: 1, b: undefined })).toBe(false);
  expect(sameJSON([1, 2], [2, 1])).toBe(false);
  expect(sameJSON({ a: null }, { a: 0 })).toBe(false);
});

test("an answer begins with what the schema proposes, and waits for what it requires", () => {
  const shape = shapeOf(
    {
      type: "object",
      properties: {
        why: { oneOf: [{ const: "late", title: "It came late" }, { const: "broken" }] },
        sure: { type: "boolean" },
        copies: { type: "integer", default: 2 },
        to: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
      required: ["why", "sure"],
    },
    undefined,
  );
  expect(shape.kind === "object" && shape.fields[0]?.shape).toEqual({
    kind: "choice",
    options: ["late", "broken"],
    names: ["It came late", "broken"],
  });
  expect(startOf(shape)).toEqual({ sure: false, copies: 2 });
  expect(isComplete(shape, startOf(shape))).toBe(false);
  expect(isComplete(shape, { why: "late", sure: false })).toBe(true);
  expect(isComplete(shape, { why: "late", sure: false, to: {} })).toBe(false);
});
