// The official JSON Schema of OpenAPI 3.1.
import { Validator } from "@seriousme/openapi-schema-validator";

export async function checkAgainstSpecification(document, report) {
  if (!/^3\.1\.\d+$/.test(document?.openapi)) {
    report("#/openapi", `is ${JSON.stringify(document?.openapi)}, not a version 3.1`);
    return;
  }
  // The validator resolves references into the document that it is given.
  const validator = new Validator({ allErrors: true });
  let result;
  try {
    result = await validator.validate(structuredClone(document));
  } catch (error) {
    report("#", `cannot be validated: ${error.message}`);
    return;
  }
  if (result.valid) {
    return;
  }
  if (typeof result.errors === "string") {
    report("#", result.errors);
    return;
  }
  // What went before a failed condition is told as well: "if" adds nothing to it.
  for (const error of result.errors.filter(({ keyword }) => keyword !== "if")) {
    report(`#${error.instancePath ?? ""}`, textOf(error));
  }
}

function textOf({ message, params }) {
  const name = params?.unevaluatedProperty ?? params?.additionalProperty ?? params?.propertyName;
  return name === undefined ? String(message) : `${message}: ${JSON.stringify(name)}`;
}
