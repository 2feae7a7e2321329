//go:build !spool_next_schema

package sqlite

// nextStep is empty: see the other file.
const nextStep = ""
