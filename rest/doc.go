// Package rest has class-style controllers for Go: structs whose methods are HTTP routes,
// with authentication, permissions, throttles, typed input and output, pagination,
// filtering and an OpenAPI 3.1 document that is made of the values that answer requests.
//
//	type Books struct{ store *Store } // what it depends on are its fields
//
//	func (c *Books) Routes(r *rest.Routes) {
//		rest.List(r, "/", c.list, page.Number(page.Size(20)), query.Filter[BookFilter]())
//		rest.Get(r, "/{int:id}", c.get)
//		rest.Post(r, "/", c.create, rest.Status(http.StatusCreated))
//		rest.Delete(r, "/{int:id}", c.remove, rest.Permit(permission.IsAdmin))
//	}
//
//	api := rest.New(rest.Title("Shop"))
//	api.Register(&Books{store}, rest.Prefix("/books"))
//	err := http.ListenAndServe("127.0.0.1:8080", api)
//
// A handler is func(ctx context.Context, in In) (Out, error). In is a struct, or a pointer
// to one, and struct{} when there is nothing to read; Out is what is written as JSON, or a
// type that is an answer by itself: [NoContent], [Answer], [*Reply], [*File], [*Stream],
// [Lines], [Events]. Plans for reading, checking and documenting are compiled once, when the API is
// built; a mistake in a registration panics then, and names the place.
//
// # Stages
//
// A request passes these stages in this order: authentication, throttles, permissions,
// reading and checking the input, the handler, writing the output. So 401 is answered
// before 429, that before 403, and that before 422. Throttles that [ThrottlesFirst] names
// come before all of them.
//
// # Paths
//
// A parameter of a path is {id}, which takes any segment, or has a converter: {int:id},
// {str:name}, {slug:name}, {uuid:id}, and {path:rest} for all of the rest. What a converter
// does not take is 404; what does not fit the field of {id} is 422. A path that differs from
// a route's in slashes only leads there by a redirect, see [StrictSlashes]; [BasePath] puts
// the whole API below a path.
//
// # Input
//
// The fields of In say by tag where they come from: path:"id", query:"q", header:"X-Trace",
// cookie:"theme", form:"name", or file:"cover" for a *multipart.FileHeader. The JSON body is
// the field called Body, or else the fields with a json tag; a struct without any of these
// tags is the body as a whole. A parameter that may be absent is a pointer, an [Opt], has a
// default, or is its zero value then.
//
// Other tags are limits, which are enforced and documented: minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, enum,
// format, minItems, maxItems, uniqueItems, minProperties, maxProperties, default, required,
// nullable, and of files contentType and maxSize. The tags doc, example, deprecated and
// hidden are for the document. Tags of other libraries, such as validate or binding, mean
// nothing here, and neither do other spellings of these. What tags cannot say is said by
// [Validator] and [Check].
//
// # Packages
//
// The packages below this one are page (paginators), query (lazy lists, filters, ordering,
// searching), permission, auth, throttle, crud (model controllers) and resttest.
package rest
