// Package form has what the databases have in common: the form in which they store the same things, and the rules
// that follow from it. Each function is pure. The statements stay with the databases, whose planners differ.
//
// What is stored once must stay readable, so a change of a form needs a migration of each database.
package form
