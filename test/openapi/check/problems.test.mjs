import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { parseDocument } from "./document.mjs";
import { problemsOf } from "./problems.mjs";

const good = await readFile(new URL("../testdata/good.json", import.meta.url), "utf8");

test("a good document has no problems", async () => {
  const { document, problems } = parseDocument(good);
  assert.deepEqual([...problems, ...(await problemsOf(document))], []);
});

test("what is no document is said to be none", async () => {
  for (const document of [null, 1, "x", [], {}]) {
    const problems = await problemsOf(document);
    assert.equal(problems[0]?.at, "#/openapi", JSON.stringify(document));
  }
});

// Each spoils the good document in one way and says what is to be found, and where.
const list = (d) => d.paths["/books"].get;
const get = (d) => d.paths["/books/{id}"].get;
const spoilt = {
  "version 3.0": [(d) => (d.openapi = "3.0.3"), "#/openapi", /not a version 3\.1/],
  "version 3.2": [(d) => (d.openapi = "3.2.0"), "#/openapi", /not a version 3\.1/],
  "no title": [(d) => delete d.info.title, "#/info", /'title'/],
  "unknown member": [(d) => (list(d).nickname = "x"), "#/paths/~1books/get", /"nickname"/],
  "optional path parameter": [(d) => (d.components.parameters.id.required = false), "#/components/parameters/id/required", /constant/],
  "component name with a slash": [(d) => (d.components.schemas["Page[a/b]"] = {}), "#/components/schemas", /./],
  "security scheme without a place": [(d) => delete d.components.securitySchemes.key.in, "#/components/securitySchemes/key", /'in'/],

  "operation id twice": [(d) => (list(d).operationId = "books_get"), "#/paths/~1books~1{id}/get/operationId", /too/],
  "operation id of a callback": [(d) => (list(d).operationId = "books_sold"), "#/paths/~1books/post/callbacks/sold/{$request.query.url}/post/operationId", /too/],
  "no operation id": [(d) => delete list(d).operationId, "#/paths/~1books/get", /no operationId/],
  "no responses": [(d) => delete list(d).responses, "#/paths/~1books/get", /no response/],
  "empty responses": [(d) => (list(d).responses = { "x-a": 1 }), "#/paths/~1books/get", /no response/],
  "undeclared path parameter": [(d) => delete d.paths["/books/{id}"].parameters, "#/paths/~1books~1{id}/get", /"id"/],
  "parameter that the path lacks": [(d) => (d.paths["/books"].parameters = [{ $ref: "#/components/parameters/id" }]), "#/paths/~1books/parameters/0", /path does not have/],
  "path parameter twice": [(d) => ((d.paths["/a/{id}/{id}"] = { ...d.paths["/books/{id}"] }), delete d.paths["/books/{id}"]), "#/paths/~1a~1{id}~1{id}", /more than once/],
  "paths that are one": [(d) => (d.paths["/books/{key}"] = {}), "#/paths/~1books~1{key}", /cannot be told from/],
  "parameter twice": [(d) => list(d).parameters.push({ name: "page", in: "query", schema: {} }), "#/paths/~1books/get/parameters/3", /second parameter "page" in query/],
  "header twice": [(d) => (list(d).parameters = [{ name: "X-A", in: "header", schema: {} }, { name: "x-a", in: "header", schema: {} }]), "#/paths/~1books/get/parameters/1", /in header/],
  "unknown security scheme": [(d) => (list(d).security = [{ key: [] }, { none: [] }]), "#/paths/~1books/get/security/1/none", /security schemes/],
  "unknown security scheme for all": [(d) => (d.security = [{ none: [] }]), "#/security/0/none", /security schemes/],

  "reference to nothing": [(d) => (d.components.schemas.Book.properties.id = { $ref: "#/components/schemas/None" }), "#/components/schemas/Book/properties/id/$ref", /not in the document/],
  "reference to a file": [(d) => (get(d).responses["404"] = { $ref: "other.json#/a" }), "#/paths/~1books~1{id}/get/responses/404/$ref", /not in the document/],
  "reference in a property named like data": [(d) => (d.components.schemas.Book.properties.example.$ref = "#/none"), "#/components/schemas/Book/properties/example/$ref", /not in the document/],
  "discriminator to nothing": [(d) => (d.components.schemas.Thing.discriminator.mapping.book = "Book"), "#/components/schemas/Thing/discriminator/mapping/book", /not in the document/],
  "link to no operation": [(d) => (d.paths["/books"].post.responses["201"].links.self.operationId = "none"), "#/paths/~1books/post/responses/201/links/self/operationId", /"none"/],

  "unknown type": [(d) => (d.components.schemas.Genre.type = "text"), "#/components/schemas/Genre/type", /allowed values/],
  "limit of 3.0": [(d) => (d.components.schemas.Book.properties.price.exclusiveMinimum = true), "#/components/schemas/Book/properties/price/exclusiveMinimum", /number/],
  "schema of a parameter": [(d) => (list(d).parameters[0].schema.minimum = "1"), "#/paths/~1books/get/parameters/0/schema/minimum", /number/],
  "nullable": [(d) => (d.components.schemas.Book.properties.id.nullable = true), "#/components/schemas/Book/properties/id/nullable", /nothing/],
  "pattern that is none": [(d) => (d.components.schemas.Book.properties.title.pattern = "("), "#/components/schemas/Book/properties/title/pattern", /Invalid regular/],
  "default of another type": [(d) => (list(d).parameters[0].schema.default = "one"), "#/paths/~1books/get/parameters/0/schema/default", /integer/],
  "default out of bounds": [(d) => (d.components.schemas.Book.properties.price.default = 0), "#/components/schemas/Book/properties/price/default", /> 0/],
  "example of a schema": [(d) => (d.components.schemas.Book.properties.title.examples = ["A", ""]), "#/components/schemas/Book/properties/title/examples/1", /1 char/],
  "example of a parameter": [(d) => (list(d).parameters[1].example = ["title"]), "#/paths/~1books/get/parameters/1/example", /allowed values/],
  "example of a body": [(d) => (d.paths["/books"].post.requestBody.content["application/json"].examples.short.value.genre = "essay"), "#/paths/~1books/post/requestBody/content/application~1json/examples/short", /genre/],
};

for (const [name, [spoil, at, text]] of Object.entries(spoilt)) {
  test(`finds: ${name}`, async () => {
    const document = JSON.parse(good);
    spoil(document);
    const problems = await problemsOf(document);
    assert.ok(
      problems.some((problem) => problem.at === at && text.test(problem.text)),
      `nothing at ${at} like ${text} among ${JSON.stringify(problems, null, 1)}`,
    );
  });
}

test("finds all problems, not the first", async () => {
  const document = JSON.parse(good);
  delete document.info.title;
  delete list(document).operationId;
  delete get(document).responses;
  document.components.schemas.Genre.type = "text";
  const places = new Set((await problemsOf(document)).map(({ at }) => at));
  for (const at of ["#/info", "#/paths/~1books/get", "#/paths/~1books~1{id}/get", "#/components/schemas/Genre/type"]) {
    assert.ok(places.has(at), `nothing at ${at}`);
  }
});

test("refuses a key that is there twice", () => {
  const { document, problems } = parseDocument('{"openapi": "3.1.0", "paths": {"/a": {}, "/a": {}}}');
  assert.equal(document, undefined);
  assert.match(problems[0].text, /unique/);
});
