// Package history turns the messages of an agent into a prompt that fits into the model's window.
//
// It knows how large a prompt may get ([Limits]) and estimates how large one is ([Meter]). It
// divides the messages into those that a summary replaces and those that stay ([Recall.Plan]), and
// summarises a long text in parts ([Summariser]).
//
// The package is pure: it reads a view, asks a model only through a given function, and writes
// nothing. It imports the root package, engine/config, engine/internal/record and
// engine/internal/toolresult. Its name is not context, because its files need the standard
// library's package too.
package history
