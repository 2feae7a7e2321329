// All checks of a document.
import { checkAgainstSpecification } from "./specification.mjs";
import { checkOperations } from "./operations.mjs";
import { checkReferences } from "./references.mjs";
import { checkSchemas } from "./schemas.mjs";

/**
 * Returns the problems of a document, each with its place. The checks of ours run on what
 * is at least shaped like a document.
 *
 * @param {unknown} document
 * @returns {Promise<{ at: string, text: string }[]>}
 */
export async function problemsOf(document) {
  const problems = [];
  const report = (at, text) => problems.push({ at, text });

  await checkAgainstSpecification(document, report);
  if (document !== null && typeof document === "object") {
    for (const check of [checkReferences, checkOperations, checkSchemas]) {
      check(document, report);
    }
  }
  return problems;
}
