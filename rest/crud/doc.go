// Package crud provides controllers for models. From a struct type, a store and a
// configuration, it makes the routes that create, list, read, replace, change and delete rows.
//
//	type Books struct{ crud.Controller[Book, int64] }
//
//	func NewBooks(store crud.Store[Book, int64]) *Books {
//		return &Books{crud.New(store, crud.Config[Book]{
//			Pagination: crud.Pagination{
//				Paginator: page.Number(page.Size(20)),
//				Filter:    query.Filter[BookFilter](),
//			},
//		})}
//	}
//
//	api.Register(NewBooks(store), rest.Prefix("/books"))
//
// # Routes
//
// The name of a route is the name of its controller and one of the words below. Joined by an
// underscore, they are the operation id.
//
//	create   POST   /books       201, with Location     Books.create   Books_create
//	list     GET    /books       200, a page            Books.list     Books_list
//	find_one GET    /books/{id}  200                    Books.get      Books_get
//	update   PUT    /books/{id}  200                    Books.update   Books_update
//	patch    PATCH  /books/{id}  200                    Books.patch    Books_patch
//	delete   DELETE /books/{id}  204, without a body    Books.delete   Books_delete
//
// PUT replaces the row: an optional field that was not sent becomes its default, null or zero.
// PATCH changes only the fields that were sent. Null is not the same as absent; it is refused
// if the field has no null. Both write the value of a field as a whole. A list is always
// ordered: by [Pagination], or else by the key.
//
// # Fields
//
// What a client sends and gets are the JSON fields of the model, with the tags of package rest
// for limits. The store sets the key. Relations are shown but not written. A foreign key is a
// field like any other. The tag crud changes this:
//
//	ID      int64  `json:"id"`
//	Code    string `json:"code"    crud:"given"`     // a key that the client chooses
//	Created string `json:"created" crud:"readonly"`  // shown, and ignored if it is sent
//	Secret  string `json:"secret"  crud:"writeonly"` // may be sent, but is never shown
//	Version int64  `json:"version" crud:"version"`   // the row's version, see [Config.Versions]
//	OrgID   int64  `json:"org_id"  crud:"parent"`    // set from the path, see [Config.Path]
//
// If the model is a [rest.Validator], its Validate is called with each whole row before the
// row is stored, also for a patch.
//
// The tags apply only to fields of the model itself. A field that is a struct, such as the row
// of a relation or a document in one column, is shown and written as a whole. New panics if
// such a struct has a tag that would have no effect.
//
// A controller with its own types for input ([Input]) and output ([Output]) ignores these
// tags.
//
// # Permissions
//
// Object permissions check the row of find_one, update, patch and delete. A row that the
// caller's lists do not show, because of a list scope or of the path, is answered 404. The
// caller can neither create such a row nor change a row into one. Reading, checking and
// writing a row are one transaction of the store.
//
// # Errors
//
// A row that violates a constraint of its store is a [ConstraintError]. The answer is 409 if
// the row is not unique, or if it is deleted while others refer to it. Otherwise it is 422,
// with the field that the store has named.
package crud
