// Package rest provides class-style controllers for Go: structs whose methods are HTTP routes.
// It includes authentication, permissions, throttles, typed input and output, pagination and
// filtering. The OpenAPI 3.1 document is built from the same compiled routes that answer
// requests.
//
//	type Books struct{ store *Store } // its fields are its dependencies
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
// A handler is func(ctx context.Context, in In) (Out, error). In is a struct or a pointer to
// one; use struct{} when there is nothing to read. Out is written as JSON, unless its type is
// an answer by itself: [NoContent], [Answer], [*Reply], [*File], [*Stream], [Lines], [Events].
// The code that reads, checks and documents each route is compiled once, when the route is
// registered. A mistake in a registration panics then, and the message names the route.
//
// # Stages
//
// A request passes these stages in this order: authentication, throttles, permissions, reading
// and checking the input, the handler, writing the output. So 401 comes before 429, 429 before
// 403, and 403 before 422. The throttles of [ThrottlesFirst] run before all these stages.
//
// # Paths
//
// A path parameter is {id}, which matches any segment, or has a converter: {int:id},
// {str:name}, {slug:name}, {uuid:id}, and {path:rest} for the whole rest of the path. A
// segment that its converter does not accept is answered 404. A segment that does not fit the
// input field of {id} is answered 422. A path that differs from a route's path only in slashes
// is redirected to it, see [StrictSlashes]. [BasePath] puts the whole API below a path.
//
// # Input
//
// The tags of In's fields name their sources: path:"id", query:"q", header:"X-Trace",
// cookie:"theme", form:"name", or file:"cover" for a *multipart.FileHeader. The JSON body is
// the field called Body, or else the fields with a json tag. A struct without any of these
// tags is the whole body. A Body of type [Upload] is a file that the handler reads as it
// comes. An absent parameter is its default or the zero value; to tell absent from zero, use a
// pointer or an [Opt]. The tag required:"true" refuses a request without it.
//
// Other tags are limits, which are enforced and documented: minimum, maximum,
// exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern, enum, format,
// minItems, maxItems, uniqueItems, minProperties, maxProperties, default, required, nullable,
// and for files contentType and maxSize. The tags doc, example, deprecated and hidden are for
// the document. Registering a route panics on other spellings of these names, and on tags that
// only other libraries check, such as validate or binding. Rules that tags cannot express go
// into a [Validator] or a [Check].
//
// # Packages
//
// The packages below this one are page (paginators), query (lazy lists, filters, ordering,
// searching), permission, auth, throttle, crud (model controllers) and resttest.
package rest
