// Package auth has authenticators: API keys, bearer tokens, user names with passwords, and
// sessions. Tokens that contain the identity of the caller are in the packages auth/jwt and
// auth/oidc.
//
//	rest.Auth(auth.Bearer(store.UserByToken), auth.APIKeyQuery("key", store.UserByKey))
//
// # Lookups
//
// A function of the program, the lookup, finds the principal of a key or token:
//
//	func (s *Store) UserByKey(ctx context.Context, key string) (*User, error)
//
// A key is wrong if the lookup returns a nil or zero principal, a typed nil pointer, or an
// error that is [rest.ErrBadCredentials]. Any other error, for example of a database, ends the
// request: it never lets a caller in and never becomes a 401. The lookup is not called if
// there is no key, or if the key cannot be right: it is sent twice, malformed, or longer than
// [MaxLength].
//
// A program that stores hashes of its keys compares the hashes in its database. For a few
// fixed keys, use [Keys], whose lookup takes the same time for every wrong key.
//
// # Cookies
//
// A browser adds cookies to requests that other sites make it send. So authenticators that
// read cookies refuse a request from another origin with 403 and the code "cross_origin",
// unless the method is GET, HEAD or OPTIONS, or the origin is one of [TrustOrigins]. Forms
// need no token for this. See [http.CrossOriginProtection] for how it works.
package auth
