// Package permission has permissions: rules that decide whether a request may go on, which
// objects it may access and which rows of a list it may see.
//
//	rest.Permit(permission.IsAuthenticated, permission.Any(
//		permission.IsAdmin,
//		permission.Owner(func(b *Book) string { return b.OwnerID }),
//	))
//
// # What a permission checks
//
// Every permission checks the request. An [Object] or [Owner] also checks the object that a
// handler loads (rest.CheckObjectPermission, rest.GetOrNotFound). A [ListScope] narrows lists.
// [All], [Any] and [Not] combine all three kinds:
//
//	         All                  Any                     Not(p)
//	request  every member allows  one member allows       p refuses
//	object   every member allows  one allows both it and  p refuses it, or
//	                              the request             the request
//	list     and of the scopes    or of the scopes of     what p does not
//	                              those that allow        show
//
// A member of Any that checks only the request, such as IsAdmin, allows all objects and the
// whole list if it allows the request. So Any(IsAdmin, Owner(...)) allows administrators every
// book, and others their own.
//
// If Any has a rule about objects, a member that only narrows lists allows no object. If Any
// has a scope, a member that only checks objects shows no rows. So Any(IsAdmin, Owner(...),
// ListScope(...)) shows other callers the rows of the scope and allows them their own objects.
//
// Before the object is known, a rule about objects answers "maybe" to a request that it
// allows. A maybe lets the request go on, and the object decides. This holds below Not too:
// with Not(Owner(...)), every request goes on, and owners are refused when the object is
// loaded. Not(Any(IsAdmin, Owner(...))) refuses administrators at once, because the rule would
// refuse them every object.
//
// A rule about objects of another type is ignored: for an author, Any(Owner of books, Owner of
// authors) asks only the second rule. The same holds for scopes.
//
// # Which refusal
//
// The members are asked in order, and only until the result is known. All refuses with the
// first refusal, Any with the last one, and Not with the default sentence; [WithMessage] and
// [WithBody] replace the refusal. Nothing is cached between requests.
//
// # Errors that are not refusals
//
// Only an error with the status 401 or 403 is a refusal. Any other error, such as a database
// that cannot be reached, or a 404 that hides an object, ends the check and is returned as it
// is. Neither Any nor Not turns it into an allowance.
package permission
