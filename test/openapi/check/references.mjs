// What refers to something else has to find it.
import { join, lookUp, objectsOf, operationsOf } from "./document.mjs";

export function checkReferences(document, report) {
  for (const { value, at } of objectsOf(document)) {
    for (const keyword of ["$ref", "$dynamicRef", "operationRef"]) {
      if (typeof value[keyword] === "string" && lookUp(document, value[keyword]) === undefined) {
        report(join(at, keyword), `${JSON.stringify(value[keyword])} is not in the document`);
      }
    }
    checkMapping(document, value, at, report);
    checkLink(document, value, at, report);
  }
}

// A discriminator may map to names of components too, which generators take for files.
function checkMapping(document, { discriminator }, at, report) {
  for (const [name, target] of Object.entries(discriminator?.mapping ?? {})) {
    if (lookUp(document, target) === undefined) {
      report(join(at, "discriminator", "mapping", name), `${JSON.stringify(target)} is not in the document`);
    }
  }
}

function checkLink(document, { links }, at, report) {
  if (links === null || typeof links !== "object") {
    return;
  }
  const known = new Set();
  for (const { operation } of operationsOf(document)) {
    known.add(operation.operationId);
  }
  for (const [name, link] of Object.entries(links)) {
    if (typeof link?.operationId === "string" && !known.has(link.operationId)) {
      report(join(at, "links", name, "operationId"), `no operation is ${JSON.stringify(link.operationId)}`);
    }
  }
}
