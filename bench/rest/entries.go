package main

import "net/http"

// entry is an implementation.
type entry struct {
	name    string
	handler http.Handler
}

// base is the implementation with which all others are compared.
const base = "net/http"

// entries returns the implementations, the base first.
func entries(c *catalog) []*entry {
	return []*entry{
		{base, newBare(c)},
		{nameRest, newRest(c)},
		{nameRestGoccy, newRestGoccy(c)},
		{"net/http, Encoder", newBareEncoder(c)},
		{"chi + validator", newChi(c)},
		{"gin", newGin(c)},
		{"echo", newEcho(c)},
		{"huma", newHuma(c)},
		{"huma nolink", newHumaNoLink(c)},
		{"huma nolink, goccy", newHumaGoccy(c)},
	}
}
