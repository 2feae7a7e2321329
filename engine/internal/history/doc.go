// Package history makes what a model is asked with: it turns the messages of an agent into a prompt
// that has room in the model's window.
//
// It knows how large a prompt may get ([Limits]), estimates how large one is ([Meter]), divides the
// messages into those that a summary stands for and those that stay ([Recall.Plan]), and has a long
// text summarised in parts ([Summariser]).
//
// The package is pure: it reads a view, asks a model only by the function that it is given, and
// writes nothing. It imports the root package, engine/internal/record and
// engine/internal/toolresult. It is not called context, because each file that uses it needs the
// standard library's context as well.
package history
