import { readFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, test } from "vitest";

/** The names of the queries that `admin.ts` has types of, by their operations. */
const queries: Record<string, string> = {
  getOverview: "OverviewQuery",
  getRun: "RunQuery",
  listAudit: "AuditQuery",
  listJobs: "JobsQuery",
  listRevisions: "RevisionsQuery",
  listRuns: "RunsQuery",
};

interface Parameter {
  name: string;
  in: string;
  schema: Record<string, unknown>;
}

/** What the types are made of: the schemas, and the queries as if they were schemas too. Nothing has types for paths. */
function document() {
  const { openapi, info, paths, components } = JSON.parse(
    readFileSync(new URL("../../../../../spec/openapi.json", import.meta.url), "utf8"),
  );
  const { schemas } = components;
  const operations = Object.values<object>(paths).flatMap((path) => Object.values(path));
  for (const { operationId, parameters = [] } of operations) {
    const name = queries[operationId];
    if (name === undefined) continue;
    const properties: Record<string, unknown> = {};
    for (const parameter of parameters as Parameter[]) {
      // What has a default may be left out of a query.
      const { default: _, ...schema } = parameter.schema;
      if (parameter.in === "query") properties[parameter.name] = schema;
    }
    schemas[name] = { type: "object", properties };
  }
  return { openapi, info, paths: {}, components: { schemas } };
}

// `npm run generate` writes the file again.
test("types.gen.ts is that of spec/openapi.json", { timeout: 60_000 }, async () => {
  const made = astToString(await openapiTS(document()));
  await expect(`// Written by npm run generate, from spec/openapi.json.\n\n${made}`).toMatchFileSnapshot(
    "types.gen.ts",
  );
});
