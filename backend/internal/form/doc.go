// Package form has the forms in which the databases store the same things.
// What is stored once must stay readable, so a change here needs a migration of each database.
package form
