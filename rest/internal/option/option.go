// Package option seals the options of routes and lists. An option is a value of rest or of one of the
// packages below it. Programs combine options; they cannot write new ones.
package option

// Seal is a type that only packages of rest can name.
type Seal struct{}

// Route is an option of a route: one of rest itself, a paginator of page, or a filter, ordering or search of
// query.
type Route interface{ RestRoute(seal Seal) }
