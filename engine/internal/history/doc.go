// Package history turns the messages of an agent into a prompt that fits into the model's window.
//
// It computes how large a prompt may be ([Limits]) and estimates how large a prompt is ([Meter]). It
// divides the messages into a part that a summary replaces and a part that stays ([Recall.Plan]), and
// summarises a long text in parts ([Summariser]).
//
// The package is pure: it reads a view, asks a model only through a given function, and writes nothing.
// It imports the root package, engine/option, engine/internal/record and engine/internal/toolresult. It
// is not named context, because its files also need the standard library's context package.
package history
