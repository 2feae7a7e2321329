package rest

import "reflect"

// SchemaNames sets the component names of types in the document. It is for types whose own
// name is not clear enough, and for types without a name because reflection made them.
func SchemaNames(names map[reflect.Type]string) APIOption {
	return apiOption(func(c *apiConfig) { c.schemaNames = names })
}
