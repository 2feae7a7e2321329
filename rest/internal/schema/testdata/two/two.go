// Package two has a type whose name another package uses too.
package two

// Book is the other of two.
type Book struct {
	Pages int `json:"pages"`
}
