package rest

import "reflect"

// SchemaNames names the components of types in the document, where their own names say too little beside
// all the others, and of types that have none because reflection made them.
func SchemaNames(names map[reflect.Type]string) APIOption {
	return apiOption(func(c *apiConfig) { c.schemaNames = names })
}
