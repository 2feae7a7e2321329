import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

// What a reader pastes compiles.
test("the blocks of the README compile", { timeout: 60_000 }, () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((m) => m[1] ?? "");
  expect(blocks.length).toBeGreaterThan(5);
  const folder = mkdtempSync(join(root, "readme-"));
  try {
    const files = blocks.map((code, i) => {
      const file = join(folder, `block${i}.mts`);
      writeFileSync(file, code);
      return file;
    });
    const program = ts.createProgram(files, {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      exactOptionalPropertyTypes: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
      types: ["node"],
      paths: {
        "@spool/client": [join(root, "src/index.ts")],
        "@spool/client/admin": [join(root, "src/admin.ts")],
        "@spool/client/record": [join(root, "src/record/index.ts")],
        "@spool/client/testing": [join(root, "src/testing/index.ts")],
      },
    });
    const problems = ts.getPreEmitDiagnostics(program).map((d) => ts.flattenDiagnosticMessageText(d.messageText, "\n"));
    expect(problems).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
