// Package one has a type whose name another package uses too.
package one

// Book is one of two.
type Book struct {
	Title string `json:"title"`
}
