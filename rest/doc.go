// Package rest has class-style controllers for Go: structs whose methods are HTTP routes,
// with authentication, permissions, throttles, typed input and output, pagination,
// filtering and an OpenAPI 3.1 document that cannot say anything else than the code does.
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
// A handler is func(ctx context.Context, in In) (Out, error). In is a struct whose fields
// say by tag where they come from; what has no such tag is the JSON body. Plans for reading,
// checking and documenting are compiled once, when the API is built; a mistake in a
// registration panics then, and names the place.
//
// A request passes these stages in this order: authentication, throttles, permissions,
// reading and checking the input, the handler, writing the output. So 401 is answered
// before 429, that before 403, and that before 422.
//
// The packages below this one are page (paginators), query (lazy lists, filters, ordering,
// searching), permission, auth, throttle, crud (model controllers) and resttest.
package rest
