// What OpenAPI asks of operations in words only.
import { join, operationsOf, resolve } from "./document.mjs";

export function checkOperations(document, report) {
  checkPaths(document, report);
  checkSecurity(document, document.security, "#/security", report);

  const ids = new Map();
  for (const { path, item, itemAt, operation, at } of operationsOf(document)) {
    if (path !== undefined && operation.operationId === undefined) {
      // OpenAPI allows it; but the names that clients are generated with come from it.
      report(at, "has no operationId");
    }
    checkID(operation, at, ids, report);
    checkResponses(operation, at, report);
    checkSecurity(document, operation.security, join(at, "security"), report);

    const shared = parametersOf(document, item, itemAt);
    const own = parametersOf(document, operation, at);
    checkRepeated(shared, report);
    checkRepeated(own, report);
    if (path !== undefined) {
      checkPathParameters(path, [...shared, ...own], at, report);
    }
  }
}

// Two paths are the same one when only the names of their parameters differ.
function checkPaths({ paths }, report) {
  const seen = new Map();
  for (const path of Object.keys(paths ?? {})) {
    const shape = path.replace(/\{[^}]*\}/g, "{}");
    if (seen.has(shape)) {
      report(join("#/paths", path), `cannot be told from ${JSON.stringify(seen.get(shape))}`);
    }
    seen.set(shape, path);
    const names = namesIn(path);
    for (const name of new Set(names.filter((name, i) => names.indexOf(name) !== i))) {
      report(join("#/paths", path), `has {${name}} more than once`);
    }
  }
}

const namesIn = (path) => [...path.matchAll(/\{([^}]*)\}/g)].map((found) => found[1]);

function checkID({ operationId }, at, ids, report) {
  if (operationId === undefined) {
    return;
  }
  if (ids.has(operationId)) {
    report(join(at, "operationId"), `${JSON.stringify(operationId)} is that of ${ids.get(operationId)} too`);
    return;
  }
  ids.set(operationId, at);
}

function checkResponses({ responses }, at, report) {
  if (Object.keys(responses ?? {}).filter((status) => !status.startsWith("x-")).length === 0) {
    report(at, "has no response");
  }
}

function checkSecurity(document, requirements, at, report) {
  if (!Array.isArray(requirements)) {
    return;
  }
  const schemes = document.components?.securitySchemes ?? {};
  requirements.forEach((requirement, i) => {
    for (const name of Object.keys(requirement ?? {})) {
      if (!Object.hasOwn(schemes, name)) {
        report(join(at, i, name), "is not among the security schemes");
      }
    }
  });
}

function parametersOf(document, { parameters }, at) {
  if (!Array.isArray(parameters)) {
    return [];
  }
  return parameters.map((parameter, i) => ({
    ...resolve(document, parameter),
    at: join(at, "parameters", i),
  }));
}

function checkRepeated(parameters, report) {
  const seen = new Set();
  for (const { name, in: where, at } of parameters) {
    const key = JSON.stringify([where, where === "header" ? name?.toLowerCase() : name]);
    if (name !== undefined && seen.has(key)) {
      report(at, `is the second parameter ${JSON.stringify(name)} in ${where}`);
    }
    seen.add(key);
  }
}

function checkPathParameters(path, parameters, at, report) {
  const declared = parameters.filter((parameter) => parameter.in === "path");
  const wanted = new Set(namesIn(path));
  for (const name of wanted) {
    if (!declared.some((parameter) => parameter.name === name)) {
      report(at, `does not declare the path parameter ${JSON.stringify(name)}`);
    }
  }
  for (const parameter of declared.filter(({ name }) => !wanted.has(name))) {
    report(parameter.at, `is the path parameter ${JSON.stringify(parameter.name)}, which the path does not have`);
  }
}
