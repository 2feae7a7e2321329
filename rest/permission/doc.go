// Package permission has permissions: rules that decide whether a request may go on, which
// objects it may touch and what it may see of a list.
//
//	rest.Permit(permission.IsAuthenticated, permission.Any(
//		permission.IsAdmin,
//		permission.Owner(func(b *Book) string { return b.OwnerID }),
//	))
//
// # What a permission judges
//
// Every permission judges the request. An [Object] or [Owner] also judges the object that a
// handler loads (rest.CheckObjectPermission, rest.GetOrNotFound), and a [ListScope] narrows
// lists. [All], [Any] and [Not] combine all three alike:
//
//	         All                  Any                     Not(p)
//	request  every member allows  one member allows       p refuses
//	object   every member allows  one allows both it and  p refuses it, or
//	                              the request             the request
//	list     and of the scopes    or of the scopes of     what p does not
//	                              those that allow        show
//
// A member of Any that is about the request alone, such as IsAdmin, allows all objects and
// shows the whole list if it allows the request. So Any(IsAdmin, Owner(...)) lets
// administrators touch every book, and others their own. But beside a rule about objects, a
// member that only narrows lists opens no object, and beside a scope, a member that only
// judges objects shows nothing of a list: Any(IsAdmin, Owner(...), ListScope(...)) shows
// others what the scope says, and lets them touch what is theirs.
//
// Before the object is known, a rule about objects answers "maybe" to a request that it allows.
// A maybe lets the request go on, and the object decides. That is the same below Not: with
// Not(Owner(...)), any request goes on and owners are refused when the object is loaded. But
// Not(Any(IsAdmin, Owner(...))) refuses administrators at once, for whom nothing is open.
//
// A rule about objects of another type is not part of the question: Any(Owner of books,
// Owner of authors) judges an author by the second only. The same goes for scopes.
//
// # Which refusal
//
// Members are asked in their order, and no more of them than are needed. All refuses with
// the first refusal, Any with the last one, and Not with the usual sentence; [WithMessage]
// and [WithBody] replace them. Nothing is kept from one request to the next.
//
// # Errors that are no refusals
//
// Only an error that answers 401 or 403 is a refusal. Anything else, such as a database that
// cannot be reached or a 404 to hide what is there, ends the question and is passed on as it
// is: neither Any nor Not makes it an allowance.
package permission
