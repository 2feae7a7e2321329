package rest

import "reflect"

// SchemaNames sets the component names of types in the document. It is for types whose own
// name is not clear enough, and for types without a name because reflection made them.
func SchemaNames(names map[reflect.Type]string) APIOption {
	return apiOption(func(c *apiConfig) { c.schemaNames = names })
}

// NameSchemas sets the function that chooses the component names of the document. It gets the
// name that a component has without the function, and its type. The type is nil for a component
// without a Go type, such as a page of a list. For a type whose requests and answers differ,
// the function is called twice, with "Book" and with "BookInput". An empty result keeps the
// name. [SchemaNames] takes precedence.
//
// Registering a controller panics if the function returns the name of another component, or a
// name that has other characters than letters, digits, '.', '-' and '_'.
func NameSchemas(choose func(name string, t reflect.Type) string) APIOption {
	return apiOption(func(c *apiConfig) { c.nameSchemas = choose })
}
