// The schemas of the document, which the schema of OpenAPI leaves to JSON Schema.
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

import { join, objectsOf } from "./document.mjs";

// Words of OpenAPI 3.0 that mean nothing in 3.1, where they would be passed over silently.
const gone = ["nullable"];

// Formats of OpenAPI that are no assertions on text.
const quiet = ["binary", "byte", "decimal", "double", "float", "int32", "int64", "password"];

export function checkSchemas(document, report) {
  const ajv = new Ajv2020.default({ allErrors: true, strict: false, logger: false });
  addFormats.default(ajv);
  for (const format of quiet) {
    ajv.addFormat(format, true);
  }
  const samples = newSamples(ajv, document);

  for (const { value, at, key } of objectsOf(document)) {
    if (!isSchema(key)) {
      checkExamples(value, at, samples, report);
      continue;
    }
    for (const word of gone.filter((word) => Object.hasOwn(value, word))) {
      report(join(at, word), "means nothing in OpenAPI 3.1");
    }
    if (isOutermost(key)) {
      checkSchema(ajv, value, at, report);
    }
    checkPattern(value, at, report);
    samples(join(at, "default"), value.default, at, report);
    samples(join(at, "example"), value.example, at, report);
    (Array.isArray(value.examples) ? value.examples : []).forEach((example, i) => {
      samples(join(at, "examples", i), example, at, report);
    });
  }
}

// A schema is among the components or what stands under "schema"; the others are within
// one. Members of a map are under the key of the map, so that names do not mislead.
const isOutermost = (key) => key === "schema" || key === "schemas";

const inSchema = new Set([
  "$defs", "additionalProperties", "allOf", "anyOf", "contains", "dependentSchemas", "else",
  "if", "items", "not", "oneOf", "patternProperties", "prefixItems", "properties",
  "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
]);

const isSchema = (key) => inSchema.has(key) || isOutermost(key);

function checkSchema(ajv, schema, at, report) {
  if (ajv.validateSchema(schema)) {
    return;
  }
  for (const { instancePath, message, params } of ajv.errors) {
    const allowed = params?.allowedValues ? `: ${JSON.stringify(params.allowedValues)}` : "";
    report(`${at}${instancePath}`, `${message}${allowed}`);
  }
}

// The schema of JSON Schema says that a pattern is one, but not so that it is checked.
function checkPattern({ pattern }, at, report) {
  if (typeof pattern !== "string") {
    return;
  }
  try {
    new RegExp(pattern, "u");
  } catch (error) {
    report(join(at, "pattern"), error.message);
  }
}

// A parameter, a header and a content may have examples of their schema.
function checkExamples(value, at, samples, report) {
  if (value.schema === undefined) {
    return;
  }
  const schema = join(at, "schema");
  samples(join(at, "example"), value.example, schema, report);
  for (const [name, example] of Object.entries(value.examples ?? {})) {
    samples(join(at, "examples", name), example?.value, schema, report);
  }
}

// newSamples returns a check that a value is one of a schema of the document.
function newSamples(ajv, document) {
  const root = "urn:openapi:document";
  ajv.addSchema({ ...document, $id: root }, undefined, undefined, false);
  return (place, value, at, report) => {
    if (value === undefined) {
      return;
    }
    let valid;
    try {
      valid = ajv.compile({ $ref: `${root}${encodeURI(at)}` });
    } catch (error) {
      report(place, `has a schema that is of no use: ${error.message}`);
      return;
    }
    if (!valid(value)) {
      report(place, `is not as its schema says: ${ajv.errorsText(valid.errors, { dataVar: "it" })}`);
    }
  };
}
