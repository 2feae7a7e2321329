//go:build !spool_next_schema

package postgres

// nextStep is empty: see the other file.
const nextStep = ""
