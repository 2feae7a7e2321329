// Package option seals the options of routes and lists. An option is a value of rest or of
// one of the packages below it; programs combine options, they do not write new ones.
package option

// Seal is a type that only the packages of rest can name.
type Seal struct{}

// Route is what a route may be given: options of rest itself, a paginator of page, a
// filter, ordering or search of query.
type Route interface{ RestRoute(seal Seal) }
