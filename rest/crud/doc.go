// Package crud makes controllers of models. From a struct type, a store of its rows and a
// configuration it makes the routes that create, list, show, replace, change and delete rows.
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
// The name of a route is that of its controller and one of these words; with an underscore
// between them it is the operation id.
//
//	create   POST   /books       201, with Location     Books.create   Books_create
//	list     GET    /books       200, a page            Books.list     Books_list
//	find_one GET    /books/{id}  200                    Books.get      Books_get
//	update   PUT    /books/{id}  200                    Books.update   Books_update
//	patch    PATCH  /books/{id}  200                    Books.patch    Books_patch
//	delete   DELETE /books/{id}  204, without a body    Books.delete   Books_delete
//
// PUT replaces: an optional field that was not sent becomes its default, null or zero. PATCH
// changes the fields that were sent. Null is not the same as absent, and is refused where null is
// not a value. Both replace the value of a field as a whole. A list always has an order: the one
// of [Pagination], or else the key.
//
// # Fields
//
// What a client sends and gets follows from the model: its JSON fields, with the tags of
// package rest for limits. The key is the store's business, relations are only shown, and a
// foreign key is a field like any other. The tag crud says more:
//
//	ID      int64  `json:"id"`
//	Code    string `json:"code"    crud:"given"`     // a key that the client chooses
//	Created string `json:"created" crud:"readonly"`  // shown, and ignored when it is sent
//	Secret  string `json:"secret"  crud:"writeonly"` // sent, and never shown
//	Version int64  `json:"version" crud:"version"`   // of the row, see [Config.Versions]
//	OrgID   int64  `json:"org_id"  crud:"parent"`    // from the path, see [Config.Path]
//
// A model that is a [rest.Validator] is asked about each row before that is stored, whole, also
// when a patch has sent a part of it.
//
// Marks hold for the fields of the model itself. What stands in a field, such as the row of a
// relation or a document in one column, is shown and written as a whole: New panics where a
// mark in there would not hold.
//
// A controller with types of its own for input ([Input]) and output ([Output]) ignores these marks.
//
// # Guards
//
// Object permissions judge the row of find_one, update, patch and delete. A row that a list does not
// show to a caller, because of a list scope or of the path, is 404 for that caller, who can neither
// create such a row nor move one there. Reading a row, judging it and writing it are one transaction
// of the store.
//
// # Errors
//
// A row that breaks a constraint of its store is a [ConstraintError]: 409 when it is not unique
// or when it is deleted while others refer to it, and 422 otherwise, with the field that the
// store named.
package crud
