import { expect, test } from "vitest";
import { safeLink } from "./links.js";

test.each([
  ["https://example.com/a?b#c", "https://example.com/a?b#c"],
  ["http://example.com", "http://example.com/"],
  ["mailto:ann@example.com", "mailto:ann@example.com"],
  ["HTTPS://EXAMPLE.com/", "https://example.com/"],
])("%s is followed", (href, want) => {
  expect(safeLink(href)).toBe(want);
});

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  "\u0001javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:https://example.com/1",
  "#/operations/jobs",
  "/api/threads",
  "//example.com",
  "./x",
  "",
  "https://user:secret@example.com/",
])("%s is not", (href) => {
  expect(safeLink(href)).toBeNull();
});
