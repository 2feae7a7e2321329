import { expect, test } from "vitest";
import { leadOf } from "./lead.js";

const asked = (args: unknown, toolName = "send_email") => ({ toolName, arguments: args });

test("a row begins with what others do not have", () => {
  const [one, two] = [asked({ text: "Hello.", to: "ann" }), asked({ text: "Hello.", to: "bob" })];
  const other = asked({ text: "Hello.", to: "ann" }, "post");
  expect(leadOf(two, [one, two, asked({ to: "cleo" })])).toBe('to: "bob", text: "Hello."');
  expect(leadOf(two, [one, two, other])).toBe('to: "bob", text: "Hello."');
  expect(leadOf(other, [one, two, other])).toBe('text: "Hello.", to: "ann"');
  expect(leadOf(asked([1]), [one])).toBe("[1]");
  expect(leadOf({ ...one, argumentsPreview: '{"to": "\u202e' }, [one])).toBe('{"to": "\\u202e');
});
