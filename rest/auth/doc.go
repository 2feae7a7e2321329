// Package auth has authenticators: API keys, bearer tokens, user names with passwords, and
// sessions. Tokens that carry who they are for are in packages jwt and oidc below it.
//
//	rest.Auth(auth.Bearer(store.UserByToken), auth.APIKeyQuery("key", store.UserByKey))
//
// # Lookups
//
// A function of the program, the lookup, finds the principal of a key or token:
//
//	func (s *Store) UserByKey(ctx context.Context, key string) (*User, error)
//
// A nil or zero principal says that the key is wrong, and so does an error that is
// [rest.ErrBadCredentials]; a typed nil pointer counts as nil. Any other error, of a database
// for example, ends the request: it never lets somebody in, and never turns into a 401. A
// lookup is not called when there is nothing to look up, and when what was sent cannot be a
// key: when it is there twice, malformed, or longer than [MaxLength].
//
// A program that keeps hashes of its keys compares hashes in its database; with a few fixed
// keys, [Keys] is a lookup that takes the same time for all that is wrong.
//
// # Cookies
//
// A browser sends cookies also with requests that other sites make it send. So
// authenticators that read cookies refuse requests that a browser says come from another
// origin, with 403 and the code "cross_origin", unless the method is GET, HEAD or OPTIONS, or
// the origin is one of [TrustOrigins]. This needs no token in forms; see
// [http.CrossOriginProtection] for how it works.
package auth
